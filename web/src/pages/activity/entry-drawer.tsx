import { Filter } from 'lucide-react';
import { Button } from '../../parts/button.tsx';
import { KeyValue } from '../../parts/card.tsx';
import { Drawer } from '../../parts/dialog.tsx';
import { Time } from '../../parts/values.tsx';
import { changesBetween } from './changes.ts';
import type { Entry } from './page.tsx';
import { actionWords, actorWords, refusalOf } from './words.ts';

/** Everything about something that was done, with what it changed. */
export function EntryDrawer({
  entry,
  onClose,
  onFilter,
}: {
  readonly entry: Entry | null;
  readonly onClose: () => void;
  readonly onFilter: (change: { actor?: string; action?: string }) => void;
}) {
  const refusal = entry && refusalOf(entry);
  return (
    <Drawer
      open={entry !== null}
      onClose={onClose}
      size="large"
      title={entry ? `${actionWords(entry.action)}${refusal === null ? '' : ': not done'}` : ''}
      footer={
        entry && (
          <>
            {entry.actor !== '' && (
              <Button icon={Filter} onClick={() => onFilter({ actor: entry.actor })}>
                All by {entry.actor}
              </Button>
            )}
            <Button icon={Filter} onClick={() => onFilter({ action: entry.action })}>
              All of this kind
            </Button>
          </>
        )
      }
    >
      {entry && (
        <div className="space-y-6">
          <KeyValue
            rows={[
              ['When', <Time key="at" at={entry.at} exact />],
              ['Who', actorWords(entry)],
              ['From', entry.sourceAddress ?? 'this machine'],
              ['To what', entry.subject === '' ? null : entry.subject],
              [
                'Action',
                <code key="action" className="font-mono text-sm">
                  {entry.action}
                </code>,
              ],
              ['Number', entry.number],
              ...(refusal === null
                ? []
                : [
                    [
                      'Not done',
                      <code key="refusal" className="font-mono text-sm text-failed">
                        {refusal}
                      </code>,
                    ] as const,
                  ]),
            ]}
          />
          {refusal === null && <Changes before={entry.before} after={entry.after} />}
        </div>
      )}
    </Drawer>
  );
}

function Changes({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const changes = changesBetween(before, after);
  if (changes.length === 0) return null;
  return (
    <section>
      <h3 className="mb-2 font-semibold">{headingOf(before, after)}</h3>
      <ul className="space-y-2">
        {changes.map(({ path, before: old, after: fresh }) => (
          <li key={path} className="overflow-hidden rounded-md border border-line">
            {path !== '' && (
              <div className="border-b border-line bg-paper px-3 py-1 font-mono text-sm">{path}</div>
            )}
            {old !== null && <Side sign="−" word="before" text={old} className="bg-failed-soft" />}
            {fresh !== null && <Side sign="+" word="after" text={fresh} className="bg-delivered-soft" />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function headingOf(before: unknown, after: unknown): string {
  if (before === null) return 'Details';
  return after === null ? 'What it was' : 'What changed';
}

function Side({
  sign,
  word,
  text,
  className,
}: {
  readonly sign: string;
  readonly word: string;
  readonly text: string;
  readonly className: string;
}) {
  return (
    <div className={`flex gap-2 px-3 py-1 font-mono text-sm ${className}`}>
      <span aria-hidden className="select-none">
        {sign}
      </span>
      <span className="sr-only">{word}: </span>
      <span className="min-w-0 break-all whitespace-pre-wrap">{text}</span>
    </div>
  );
}
