import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RequestOf, ResultOf } from '../../../../src/operations/table.ts';
import { ApiError, call } from '../../api.ts';
import { formatCount, plural } from '../../format.ts';
import { Spinner } from '../../parts/button.tsx';
import { Select } from '../../parts/choice.tsx';
import { Progress } from '../../parts/progress.tsx';
import { RunDialog, useRun } from '../../parts/run.tsx';
import { Banner } from '../../parts/states.tsx';
import { refetchShown, useCall } from '../../queries.ts';

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
    text: 'They will not be sent. Attempts in progress finish. Cancelled messages can be retried one by one while their content is kept.',
    confirm: 'Cancel them',
    done: 'cancelled.',
  },
  reroute: {
    text: 'They go to another relay. Attempts in progress, and mail of test keys, stay where they are.',
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
  const { act, title, selection } = planned;
  const [toRelay, setToRelay] = useState<string | null>(planned.toRelay);
  const [matchedSoFar, setMatchedSoFar] = useState(0);
  const request: ActRequest = { act, selection, toRelay };
  const count = useQuery({
    queryKey: ['countFor', request],
    queryFn: ({ signal }) => countFor(request, (part) => call('actOnQueue', part, signal), signal),
    staleTime: 0,
    gcTime: 0,
  });
  const words = WORDS[act];
  const unit = act === 'reroute' ? 'recipient' : 'message';
  const matched = count.data?.matched ?? 0;
  const run = useRun(async (signal) => {
    let acted = 0;
    const onPart = (progress: ActProgress) => {
      acted = progress.acted;
      setMatchedSoFar(progress.matched);
    };
    try {
      // A part that has begun is let finish, so that its result is known.
      return await actOnAll(request, (part) => call('actOnQueue', part), onPart, signal);
    } catch (failure) {
      if (acted === 0 || !(failure instanceof ApiError)) throw failure;
      throw new Error(`${failure.message} ${plural(acted, unit)} ${words.done}`);
    } finally {
      refetchShown();
    }
  });
  const isRunning = run.state === 'running';
  return (
    <RunDialog
      run={run}
      title={run.result ? 'What was done' : title}
      confirm={words.confirm}
      danger={act === 'cancel'}
      disabled={count.isPending || matched === 0}
      onClose={onClose}
      report={(result) => (
        <p role="status">
          {plural(result.acted, unit)} {words.done}
          {result.acted < result.matched &&
            ` ${plural(result.matched - result.acted, unit)} had changed meanwhile and were left alone.`}
        </p>
      )}
    >
      {act === 'reroute' && planned.toRelay === null && (
        <Target value={toRelay} onChange={setToRelay} disabled={isRunning} />
      )}
      <CountLine count={count} unit={unit} />
      <p>{words.text}</p>
      {isRunning && (
        <Progress label="Done so far" value={count.data?.more ? null : matchedSoFar / Math.max(1, matched)} />
      )}
    </RunDialog>
  );
}

function CountLine({
  count,
  unit,
}: {
  readonly count: Pick<UseQueryResult<Awaited<ReturnType<typeof countFor>>>, 'data' | 'error'>;
  readonly unit: string;
}) {
  if (count.error) return <Banner level="critical">{count.error.message}</Banner>;
  if (count.data === undefined)
    return (
      <p role="status" className="flex items-center gap-2 text-soft">
        <Spinner /> Counting the selected mail
      </p>
    );
  const { matched, more } = count.data;
  return (
    <p role="status" className="text-lg font-semibold">
      {matched === 0
        ? 'Nothing to act on'
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
      choices={[{ value: '', label: 'As the routes say now' }, ...names]}
    />
  );
}

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
