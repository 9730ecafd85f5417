import type { RequestOf, ResultOf } from '../../../../src/operations/table.ts';

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
export function unitOf(act: QueueAct): string {
  return act === 'reroute' ? 'recipient' : 'message';
}
