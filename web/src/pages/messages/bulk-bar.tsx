import { Link } from '@tanstack/react-router';
import { Ban, RotateCw, X } from 'lucide-react';
import { useRef, useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { call } from '../../api.ts';
import { formatCount, plural } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { Progress } from '../../parts/progress.tsx';
import { RunDialog, useRun } from '../../parts/run.tsx';
import { Said } from '../../parts/values.tsx';
import { refetchShown } from '../../queries.ts';
import { AllFound, type ShownPart } from './all-found.tsx';

type Act = 'retry' | 'cancel';

/** What can be done to the messages that are ticked; at the foot of the window, over the list. */
export function BulkBar({
  selected,
  part,
  onSelect,
  onDone,
}: {
  readonly selected: ReadonlySet<string>;
  /** All that is shown is ticked, and more was found. */
  readonly part: ShownPart | null;
  readonly onSelect: (selected: ReadonlySet<string>) => void;
  /** The selection is no longer wanted. */
  readonly onDone: () => void;
}) {
  // What the dialog is about stays as it was when it opened.
  const [begun, setBegun] = useState<{ readonly act: Act; readonly ids: readonly string[] } | null>(null);
  const toolbar = useRef<HTMLDivElement>(null);
  const begin = (act: Act) => setBegun({ act, ids: [...selected] });
  return (
    <>
      {selected.size > 0 && (
        <div className="sticky bottom-4 z-20 mt-4 flex justify-center">
          <div
            ref={toolbar}
            role="toolbar"
            aria-label="Selected messages"
            tabIndex={-1}
            className="flex flex-wrap items-center gap-2 rounded-lg border border-edge/60 bg-raised px-3 py-2 shadow-raised"
          >
            <span aria-live="polite" className="px-1 font-medium">
              {formatCount(selected.size)} selected
            </span>
            {part && (
              <AllFound
                part={part}
                onTick={(ids) => {
                  onSelect(ids);
                  // The button that was pressed is gone then.
                  toolbar.current?.focus();
                }}
              />
            )}
            <Button small icon={RotateCw} label="Retry now" onClick={() => begin('retry')} />
            <Button small icon={Ban} label="Cancel sending" onClick={() => begin('cancel')} />
            <Button small look="quiet" icon={X} label="Clear" onClick={onDone} />
          </div>
        </div>
      )}
      {begun && (
        <BulkDialog
          {...begun}
          onClose={(done) => {
            setBegun(null);
            if (done) onDone();
          }}
        />
      )}
    </>
  );
}

const WORDS = {
  retry: {
    title: (many: string) => `Retry ${many} now?`,
    text: 'Recipients that wait for their next attempt, and failed ones, are tried again at once. Delivered ones never get a second copy. Messages that cannot be retried are left alone, and listed here.',
    confirm: 'Retry now',
  },
  cancel: {
    title: (many: string) => `Cancel ${many}?`,
    text: 'Waiting recipients will not get it. Attempts in progress finish; delivered copies stay delivered. This cannot be undone, but a cancelled message can be retried while its content is kept.',
    confirm: 'Cancel sending',
  },
};

function BulkDialog({
  act,
  ids,
  onClose,
}: {
  readonly act: Act;
  readonly ids: readonly string[];
  readonly onClose: (done: boolean) => void;
}) {
  const [done, setDone] = useState(0);
  const run = useRun((signal) =>
    actInChunks(ids, (part) => call('actOnMessages', { act, ids: part }), setDone, signal).finally(() =>
      refetchShown(),
    ),
  );
  const words = WORDS[act];
  return (
    <RunDialog
      run={run}
      title={run.result ? 'What was done' : words.title(plural(ids.length, 'message'))}
      confirm={words.confirm}
      danger={act === 'cancel'}
      onClose={() => onClose(run.result !== null)}
      report={(report) => <Report act={act} report={report} />}
    >
      <p>{words.text}</p>
      {run.state === 'running' && <Progress label="Messages acted on" value={done / ids.length} />}
    </RunDialog>
  );
}

/** Messages of one reason that are named. */
const MAX_NAMED = 5;

function Report({ act, report }: { readonly act: Act; readonly report: Acted }) {
  return (
    <div className="space-y-3" role="status">
      <p>{actedSentence(act, report)}</p>
      {reasonsOf(report.refused)
        .slice(0, 10)
        .map(({ reason, ids }) => (
          <div key={reason} className="rounded-md border border-line bg-paper px-3 py-2">
            <div className="text-sm">
              <span className="font-medium">{plural(ids.length, 'message')}:</span>{' '}
              <Said text={reason} lines="several" />
            </div>
            <ul className="mt-1 space-y-0.5">
              {ids.slice(0, MAX_NAMED).map((id) => (
                <li key={id}>
                  <Link to="/messages/$id" params={{ id }} className="link block truncate font-mono text-xs">
                    {id}
                  </Link>
                </li>
              ))}
              {ids.length > MAX_NAMED && (
                <li className="text-xs text-soft">and {formatCount(ids.length - MAX_NAMED)} more</li>
              )}
            </ul>
          </div>
        ))}
    </div>
  );
}

/** Messages that one call may act on. */
export const ACT_CHUNK = 500;

/** What became of an act on several messages. */
export type Acted = ResultOf<'actOnMessages'>;

/** Acts on any number of messages, a bounded part at a time; stops early when `signal` is aborted. */
export async function actInChunks(
  ids: readonly string[],
  act: (part: string[]) => Promise<Acted>,
  onPart: (done: number) => void,
  signal: AbortSignal,
): Promise<Acted> {
  let acted = 0;
  const refused: Acted['refused'][number][] = [];
  for (let start = 0; start < ids.length && !signal.aborted; start += ACT_CHUNK) {
    const part = ids.slice(start, start + ACT_CHUNK);
    const answer = await act(part);
    acted += answer.acted;
    refused.push(...answer.refused);
    onPart(start + part.length);
  }
  return { acted, refused };
}

/** Reasons for which messages were left alone, the most frequent first. */
export function reasonsOf(
  refused: Acted['refused'],
): { readonly reason: string; readonly ids: readonly string[] }[] {
  // The same sentence about each message, but for its id.
  return [...Map.groupBy(refused, ({ id, reason }) => reason.replaceAll(id, 'it'))]
    .map(([reason, alike]) => ({ reason, ids: alike.map(({ id }) => id) }))
    .sort((one, other) => other.ids.length - one.ids.length);
}

/** What was done, in a sentence. */
export function actedSentence(act: Act, { acted, refused }: Acted): string {
  const done = act === 'retry' ? 'will be tried again now' : 'cancelled';
  const left = refused.length === 0 ? '' : ` ${plural(refused.length, 'message')} left alone.`;
  return `${plural(acted, 'message')} ${done}.${left}`;
}
