import { type KeyboardEvent, useRef, useState } from 'react';
import { useAddress } from '../../address.ts';
import { faultsOf } from '../../faults.ts';
import { plural } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import type { Place } from '../../parts/findings-words.ts';
import { Fold } from '../../parts/fold.tsx';
import { FormError } from '../../parts/form.tsx';
import { Banner, Fetched } from '../../parts/states.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { UnsavedBar } from '../../parts/unsaved.tsx';
import { plainText, Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { useMay, useSession } from '../../session.tsx';
import { curlOf } from '../message/curl.ts';
import { ChecksCard } from './checks-card.tsx';
import { CodeField, type CodeHandle, type LineNote } from './code-field.tsx';
import { TemplateDifferences } from './differences-view.tsx';
import { readSample, type Template, type Values, withNames } from './draft.ts';
import type { TemplateInHand } from './in-hand.ts';
import { PreviewCard } from './preview-card.tsx';
import { useRendered } from './rendered.ts';

const NOT_SAVED = 'It is not saved. First correct what is marked above.';

/** The parts of a template that have a code field each. */
const PARTS = ['html', 'text', 'sample'] as const;
type Part = (typeof PARTS)[number];

/** What does not change of their fields. */
const CODE_FIELDS: Readonly<
  Record<Part, { readonly label: string; readonly placeholder?: string; readonly hint?: string }>
> = {
  html: { label: 'HTML', placeholder: '<p>Hello {{name}},</p>' },
  text: {
    label: 'Text',
    hint: 'For clients that do not show HTML. If you leave it empty, it is made from the HTML.',
  },
  sample: {
    label: 'Sample',
    hint: 'Values for the preview and for tests, as JSON. Applications send their own.',
  },
};

/** The texts of a template, and beside them what they look like and what is wrong with them. */
export function EditTab({ template, hand }: { readonly template: Template; readonly hand: TemplateInHand }) {
  const mayWrite = useMay('operator');
  const [{ part = 'html' }, put] = useAddress();
  const { draft } = hand;
  const rendered = useRendered(draft);
  const sample = readSample(draft.sample);
  const handles = {
    html: useRef<CodeHandle>(null),
    text: useRef<CodeHandle>(null),
    sample: useRef<CodeHandle>(null),
  };
  const subject = useRef<HTMLDivElement>(null);
  const refused = faultsOf(hand.isBehind ? null : hand.error, ['name', 'subject', ...PARTS]);
  const faultsIn = (part: string) => rendered.faults.filter(({ field }) => field === part);
  const notes: Readonly<Record<Part, readonly LineNote[]>> = {
    html: notesOf(faultsIn('html'), refused.fields['html']),
    text: notesOf(faultsIn('text'), refused.fields['text']),
    sample: notesOf(sample.fault === null ? [] : [sample.fault], refused.fields['sample']),
  };
  const subjectFaults = faultsIn('subject').map(({ detail }) => detail);
  const goTo = ({ part: of, line }: Place) => {
    if (of === '/subject') subject.current?.querySelector('input')?.focus();
    const wanted = PARTS.find((name) => `/${name}` === of);
    if (wanted === undefined) return;
    put({ part: wanted });
    // Once its field is there.
    requestAnimationFrame(() => handles[wanted].current?.goTo(line ?? 1));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 's' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (mayWrite && hand.isDirty && !hand.isBehind) hand.save();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a key of the fields in it, beside the button that does the same
    <div onKeyDown={onKeyDown} className="space-y-4">
      <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,5fr)_minmax(0,6fr)]">
        <div className="min-w-0 space-y-4 xl:sticky xl:top-4">
          <div className="grid gap-4 sm:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]">
            <TextField
              label="Name"
              value={draft.name}
              onChange={(name) => hand.put({ name })}
              error={refused.fields['name']}
              readOnly={!mayWrite}
              autoComplete="off"
            />
            <div ref={subject}>
              <TextField
                label="Subject"
                value={draft.subject}
                onChange={(text) => hand.put({ subject: text })}
                error={[...subjectFaults, refused.fields['subject']].filter(Boolean).join(' ')}
                readOnly={!mayWrite}
                autoComplete="off"
              />
            </div>
          </div>
          <Tabs
            label="Parts of the template"
            keep
            value={part}
            onChange={(next) => put({ part: next })}
            tabs={PARTS.map((name) => {
              const { label, ...field } = CODE_FIELDS[name];
              return {
                value: name,
                label: <Faulty label={label} count={notes[name].length} />,
                content: (
                  <CodeField
                    label={label}
                    value={draft[name]}
                    onChange={(text) => hand.put({ [name]: text })}
                    notes={notes[name]}
                    readOnly={!mayWrite}
                    handle={handles[name]}
                    {...field}
                  />
                ),
              };
            })}
          />
          <SendExample alias={template.alias} variables={sample.values ?? template.sample} />
        </div>
        <div className="min-w-0 space-y-5">
          <PreviewCard
            rendered={rendered}
            onAddNames={
              mayWrite && sample.values !== null
                ? (names) => hand.put({ sample: withNames(sample.values, names) })
                : null
            }
            onGo={goTo}
          />
          <ChecksCard rendered={rendered} draft={draft} onGo={goTo} />
        </div>
      </div>
      <div className="sticky bottom-0 z-20 space-y-2 pb-1">
        {hand.isBehind && <ConflictBanner template={template} hand={hand} />}
        <FormError>{hand.isBehind || hand.error === null ? null : (refused.rest ?? NOT_SAVED)}</FormError>
        {hand.isDirty && mayWrite && !hand.isBehind && (
          <UnsavedBar
            save={hand.isSaving ? 'Saving' : `Save as version ${template.version + 1}`}
            disabled={hand.isSaving || sample.values === null || draft.name.trim() === ''}
            onSave={hand.save}
            onDiscard={hand.discard}
          >
            <label className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <span>Changed since version {hand.basedOn}.</span>
              <input
                value={hand.note}
                onChange={({ target }) => hand.setNote(target.value)}
                maxLength={500}
                placeholder="What changed, for the history"
                aria-label="What changed, for the history"
                className="h-7.5 min-w-0 flex-1 basis-44 rounded-md border border-edge bg-surface px-2.5 text-sm"
              />
            </label>
          </UnsavedBar>
        )}
      </div>
    </div>
  );
}

/** How an application sends it, with the values of the sample. */
function SendExample({ alias, variables }: { readonly alias: string; readonly variables: Values }) {
  const { apiUrl } = useSession();
  if (apiUrl === null) return null;
  const message = { from: 'you@example.com', to: 'someone@example.net', template: alias, variables };
  return (
    <Fold title="Send it from an application" note="by its alias, with values">
      <CodeBlock label="command" code={curlOf(message, apiUrl)} wrap />
    </Fold>
  );
}

/** Without faults of a part, what saving it was refused for. */
function notesOf(faults: readonly LineNote[], refusal: string | undefined): readonly LineNote[] {
  return refusal === undefined || faults.length > 0 ? faults : [{ line: null, detail: refusal }];
}

function Faulty({ label, count }: { readonly label: string; readonly count: number }) {
  if (count === 0) return label;
  return (
    <>
      {label} <span className="text-sm text-failed">{plural(count, 'fault')}</span>
    </>
  );
}

/** Somebody saved a version while another one is being edited: what they changed, and whose goes on. */
function ConflictBanner({ template, hand }: { readonly template: Template; readonly hand: TemplateInHand }) {
  const [isShown, setShown] = useState(false);
  const { version, versions, updatedAt } = template;
  const by = plainText(versions[0]?.by ?? '') || 'Somebody';
  return (
    <>
      <Banner
        level="warning"
        title={`${by} saved version ${version} while you were editing version ${hand.basedOn}`}
        actions={
          <>
            <Button small label="See what changed" onClick={() => setShown(true)} />
            <Button small label="Take theirs" onClick={hand.discard} />
            <Button small label="Keep mine" onClick={hand.keepMine} />
          </>
        }
      >
        It was saved <Time at={updatedAt} />. If you keep yours, you can save it as version {version + 1}, and
        theirs stays in the history. If you take theirs, your changes are lost.
      </Banner>
      {isShown && (
        <Dialog
          kind="drawer"
          size="large"
          onClose={() => setShown(false)}
          title={`From version ${hand.basedOn} to ${version}`}
        >
          <Since version={hand.basedOn} template={template} />
        </Dialog>
      )}
    </>
  );
}

function Since({ version, template }: { readonly version: number; readonly template: Template }) {
  const older = useCall('template', { alias: template.alias, version });
  return (
    <Fetched query={older}>{(before) => <TemplateDifferences older={before} newer={template} />}</Fetched>
  );
}
