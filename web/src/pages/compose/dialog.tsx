import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { faultsOf } from '../../faults.ts';
import { formatBytes, plural } from '../../format.ts';
import { ConfirmDialog } from '../../parts/ask.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Findings } from '../../parts/findings.tsx';
import { FormError, fieldsOf } from '../../parts/form.tsx';
import { Banner, Fetched } from '../../parts/states.tsx';
import { Said } from '../../parts/values.tsx';
import { useAct, useCall } from '../../queries.ts';
import { type Draft, draftOf, EMPTY_DRAFT, messageOf } from './draft.ts';
import { ComposeForm } from './form.tsx';

/** Writes a message; with `from` it begins as another one, to be edited and sent anew. */
export function ComposeDialog({
  from,
  onClose,
}: {
  readonly from?: { readonly id: string };
  readonly onClose: () => void;
}) {
  return from === undefined ? (
    <Composer title="Write a message" draft={EMPTY_DRAFT} notes={[]} onClose={onClose} />
  ) : (
    <Resender id={from.id} onClose={onClose} />
  );
}

function Resender({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const draft = useCall('messageDraft', { id });
  if (draft.data)
    return (
      <Composer
        title="Edit and send again"
        draft={draftOf(draft.data.message)}
        notes={draft.data.notes}
        onClose={onClose}
      />
    );
  return (
    <Dialog kind="drawer" size="large" onClose={onClose} title="Edit and send again">
      <Fetched query={draft} lines={8} />
    </Dialog>
  );
}

const FIELDS = Object.keys(EMPTY_DRAFT);

function Composer({
  title,
  draft: begun,
  notes,
  onClose,
}: {
  readonly title: string;
  readonly draft: Draft;
  readonly notes: readonly string[];
  readonly onClose: () => void;
}) {
  // What it began with stays the same, however often its message is looked at.
  const [first] = useState(begun);
  const [draft, setDraft] = useState(first);
  const [isLeaving, setLeaving] = useState(false);
  const navigate = useNavigate();
  const check = useAct('checkMessage', { quiet: true });
  const send = useAct('submit', {
    quiet: true,
    done: ({ message }) => message,
    onDone: ({ id }) => {
      onClose();
      void navigate({ to: '/messages/$id', params: { id } });
    },
  });
  const { fields: faults, rest } = faultsOf(send.error ?? check.error, FIELDS);
  const put = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const isBusy = check.isPending || send.isPending;
  const submit = (act: typeof check | typeof send) => {
    check.reset();
    send.reset();
    act.mutate({ message: messageOf(draft) });
  };
  const close = () => (draft === first ? onClose() : setLeaving(true));
  return (
    <>
      <Dialog
        kind="drawer"
        size="large"
        onClose={close}
        title={title}
        description="A new message, with an id of its own. Routes decide where it goes."
        footer={
          <>
            <Button label="Discard" onClick={close} />
            <Button label="Check" busy={check.isPending} disabled={isBusy} onClick={() => submit(check)} />
            <Button
              look="primary"
              label="Send"
              busy={send.isPending}
              disabled={isBusy}
              onClick={() => submit(send)}
            />
          </>
        }
      >
        <div className="space-y-4">
          {notes.length > 0 && (
            <Banner level="warning" title="Not everything of the original is in it">
              {notes.map((note) => (
                <p key={note}>{note}</p>
              ))}
            </Banner>
          )}
          <ComposeForm values={draft} faults={faults} field={fieldsOf(draft, faults, put)} />
          <FormError>{rest}</FormError>
          {check.data && <VerdictNote verdict={check.data} />}
          {check.data && <Findings findings={check.data.findings} />}
        </div>
      </Dialog>
      <ConfirmDialog
        open={isLeaving}
        onClose={() => setLeaving(false)}
        onConfirm={onClose}
        title="Discard what you have written?"
        confirm="Discard"
        danger
      >
        <p>It is kept nowhere.</p>
      </ConfirmDialog>
    </>
  );
}

/** Recipients whose way is shown. */
const MAX_SHOWN = 20;

function VerdictNote({ verdict }: { readonly verdict: ResultOf<'checkMessage'> }) {
  const { recipients, captured, sizeBytes } = verdict;
  return (
    <Banner level="info" title={captured ? 'Valid; it would be captured, not sent' : 'Valid'}>
      <p className="text-sm">
        {formatBytes(sizeBytes)}, {plural(recipients.length, 'recipient')}. Nothing has been sent yet.
      </p>
      <ul className="mt-1.5 space-y-0.5 text-sm">
        {recipients.slice(0, MAX_SHOWN).map(({ address, relay, rule }) => (
          <li key={address} className="flex min-w-0 flex-wrap gap-x-2">
            <Said text={address} className="max-w-full" />
            <span className="text-soft">
              {relay === null ? 'no route' : `by ${relay}`}
              {rule !== null && `, rule ${rule}`}
            </span>
          </li>
        ))}
        {recipients.length > MAX_SHOWN && <li>and {recipients.length - MAX_SHOWN} more</li>}
      </ul>
    </Banner>
  );
}
