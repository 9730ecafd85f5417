import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { RequestOf, ResultOf } from '../../../../src/operations/table.ts';
import { ApiError, call } from '../../api.ts';
import { formatCount, plural } from '../../format.ts';
import { Banner } from '../../parts/banner.tsx';
import { Button, Spinner } from '../../parts/button.tsx';
import { Select } from '../../parts/choice.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Progress } from '../../parts/progress.tsx';
import { refetchTopics, useCall } from '../../queries.ts';

/** An act that is about to be confirmed. */
export interface PlannedAct extends ActRequest {
  readonly title: string;
}

const WORDS = {
  retry: {
    text: 'Recipients that wait for their next attempt are tried at once. A lane that rests or is paused still holds them.',
    confirm: 'Retry now',
    done: 'will be tried again now.',
  },
  cancel: {
    text: 'They will not be sent. What is under way finishes its attempt. Cancelled messages can be retried one by one while their content is kept.',
    confirm: 'Cancel them',
    done: 'cancelled.',
  },
  reroute: {
    text: 'They go another way. What is under way, and mail of test keys, stays where it is.',
    confirm: 'Reroute',
    done: 'rerouted.',
  },
};

/** Asks before acting on what waits: says first how much it is, then how far it got. */
export function ActDialog({
  planned,
  onClose,
}: {
  readonly planned: PlannedAct;
  readonly onClose: () => void;
}) {
  const { act, title } = planned;
  const [toRelay, setToRelay] = useState<string | null>(planned.toRelay);
  const request: ActRequest = { act, selection: planned.selection, toRelay };
  const count = useQuery({
    queryKey: ['countFor', request],
    queryFn: ({ signal }) => countFor(request, (part) => call('actOnQueue', part, signal), signal),
    staleTime: 0,
    gcTime: 0,
  });
  const { run, progress, isRunning, isDone, error } = useRun(request);
  const words = WORDS[act];
  const unit = unitOf(act);
  const matched = count.data?.matched ?? 0;
  return (
    <Dialog
      open
      onClose={onClose}
      title={isDone ? 'What was done' : title}
      size="small"
      footer={
        isDone ? (
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{isRunning ? 'Stop' : 'Keep as it is'}</Button>
            <Button
              look={act === 'cancel' ? 'danger' : 'primary'}
              busy={isRunning}
              disabled={count.isPending || matched === 0}
              onClick={() => void run()}
            >
              {words.confirm}
            </Button>
          </>
        )
      }
    >
      <div className="space-y-4">
        {isDone ? (
          <p role="status">
            {plural(progress.acted, unit)} {words.done}
            {progress.acted < progress.matched &&
              ` ${plural(progress.matched - progress.acted, unit)} had changed meanwhile and were left alone.`}
          </p>
        ) : (
          <>
            {act === 'reroute' && planned.toRelay === null && (
              <Target value={toRelay} onChange={setToRelay} disabled={isRunning} />
            )}
            <CountLine count={count} unit={unit} />
            <p>{words.text}</p>
            {isRunning && (
              <Progress
                label="Done so far"
                value={count.data?.more ? null : progress.matched / Math.max(1, matched)}
              />
            )}
          </>
        )}
        {error !== null && (
          <Banner level="critical">
            {error}
            {progress.acted > 0 && ` ${plural(progress.acted, unit)} ${words.done}`}
          </Banner>
        )}
      </div>
    </Dialog>
  );
}

function CountLine({
  count,
  unit,
}: {
  readonly count: {
    readonly data: { readonly matched: number; readonly more: boolean } | undefined;
    readonly error: Error | null;
  };
  readonly unit: string;
}) {
  if (count.error) return <Banner level="critical">{count.error.message}</Banner>;
  if (count.data === undefined)
    return (
      <p role="status" className="flex items-center gap-2 text-soft">
        <Spinner /> Counting what is meant
      </p>
    );
  const { matched, more } = count.data;
  return (
    <p role="status" className="text-lg font-semibold">
      {matched === 0
        ? 'Nothing that it could be done to'
        : `${more ? `More than ${formatCount(matched)} ${unit}s` : plural(matched, unit)}`}
    </p>
  );
}

/** Where mail is to go: by the routing table, or to a relay. */
function Target({
  value,
  onChange,
  disabled,
}: {
  readonly value: string | null;
  readonly onChange: (relay: string | null) => void;
  readonly disabled: boolean;
}) {
  const relays = useCall('relays', {}, { topics: ['relays'] });
  const names = (relays.data ?? []).filter((relay) => !relay.disabled).map(({ name }) => name);
  return (
    <Select
      label="Where to"
      disabled={disabled}
      value={value ?? ''}
      onChange={(name) => onChange(name === '' ? null : name)}
      choices={[
        { value: '', label: 'As the routes say now' },
        ...names.map((name) => ({ value: name, label: name })),
      ]}
    />
  );
}

function useRun(request: ActRequest) {
  const client = useQueryClient();
  const [progress, setProgress] = useState<ActProgress>({ matched: 0, acted: 0 });
  const [state, setState] = useState<'ready' | 'running' | 'done'>('ready');
  const [error, setError] = useState<string | null>(null);
  const stop = useRef<AbortController>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const run = async () => {
    const controller = new AbortController();
    stop.current = controller;
    setError(null);
    setState('running');
    try {
      // A part that has begun is let finish, so that its result is known.
      await actOnAll(request, (part) => call('actOnQueue', part), setProgress, controller.signal);
      setState('done');
    } catch (failure) {
      setError(failure instanceof ApiError ? failure.message : String(failure));
      setState('ready');
    }
    refetchTopics(client, new Set(['queue', 'messages', 'relays']));
  };
  return { run, progress, isRunning: state === 'running', isDone: state === 'done', error };
}

/** What is done to the mail of a selection. */
export type QueueAct = RequestOf<'actOnQueue'>['act'];
/** Which mail is meant. */
export type Selection = RequestOf<'actOnQueue'>['selection'];

/** How far an act, or its dry run, is. */
export interface ActProgress {
  readonly matched: number;
  readonly acted: number;
}

/** A dry run counts no further than this: what it is asked for is whether it is few or many. */
export const MAX_COUNTED = 10_000;

const NOTHING: Selection = {
  lane: null,
  relay: null,
  statuses: [],
  tag: null,
  to: null,
  from: null,
  olderThanSeconds: null,
  all: false,
};

/** All mail of a lane. */
export function ofLane(lane: string): Selection {
  return { ...NOTHING, lane };
}

/** All mail of a relay, whatever its lanes. */
export function ofRelay(relay: string): Selection {
  return { ...NOTHING, relay };
}

/** All that waits. */
export const EVERYTHING: Selection = { ...NOTHING, all: true };

/** What is asked for, but for where it goes on. */
export type ActRequest = Pick<RequestOf<'actOnQueue'>, 'act' | 'selection' | 'toRelay'>;

type Ask = (request: RequestOf<'actOnQueue'>, signal: AbortSignal) => Promise<ResultOf<'actOnQueue'>>;

/** Acts on all that a selection names, a bounded part at a time. Stops between parts when `signal` is aborted. */
export async function actOnAll(
  request: ActRequest,
  ask: Ask,
  onPart: (progress: ActProgress) => void,
  signal: AbortSignal,
): Promise<ActProgress> {
  let done: ActProgress = { matched: 0, acted: 0 };
  for (let cursor: string | null = null; !signal.aborted; ) {
    const part = await ask({ ...request, dryRun: false, cursor }, signal);
    done = { matched: done.matched + part.matched, acted: done.acted + part.acted };
    onPart(done);
    cursor = part.next;
    if (cursor === null) break;
  }
  return done;
}

/** Counts what an act would be done to; `more`: at least so much. Changes nothing. */
export async function countFor(
  request: ActRequest,
  ask: Ask,
  signal: AbortSignal,
): Promise<{ readonly matched: number; readonly more: boolean }> {
  let matched = 0;
  let cursor: string | null = null;
  do {
    const part: ResultOf<'actOnQueue'> = await ask({ ...request, dryRun: true, cursor }, signal);
    matched += part.matched;
    cursor = part.next;
  } while (cursor !== null && matched < MAX_COUNTED && !signal.aborted);
  return { matched, more: cursor !== null };
}

/** What is counted for an act: recipients where each takes a way of its own. */
function unitOf(act: QueueAct): string {
  return act === 'reroute' ? 'recipient' : 'message';
}
