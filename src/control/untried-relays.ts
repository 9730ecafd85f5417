import type { Relay } from '../domain/relay.ts';
import type { LaneFigures } from '../engine/contract.ts';
import { dayOf, KEEP_DAYS } from '../store/counting.ts';
import type { JournalEntry } from '../store/journal.ts';
import type { LocalDeps } from './local-deps.ts';

/** What remembers whether a relay was tried. */
export type HistoryDeps = Pick<LocalDeps, 'views' | 'journal' | 'clock'>;

/** Relays whose counters are looked at; more are called what they look like. */
const MAX_ASKED = 100;
/** Tests that are looked at, the newest first. */
const MAX_TESTS = 500;

/**
 * Names of the stored relays that were never tried: no attempt, no probe and no test, as far as the nodes that run know, and
 * the counters and the activity in the store.
 */
export async function untriedRelays(
  relays: readonly Relay[],
  lanes: readonly LaneFigures[],
  { views, journal, clock }: HistoryDeps,
): Promise<ReadonlySet<string>> {
  const heard = new Set(lanes.filter(wasTried).map(({ relay }) => relay));
  const unheard = relays.filter(({ name, origin }) => origin === 'stored' && !heard.has(name));
  if (unheard.length === 0) return new Set();
  const query = { actor: null, action: 'testRelay', subject: null, limit: MAX_TESTS, before: null };
  const tested = new Set(
    (await journal.entries(query)).entries.filter(wasTest).map(({ subject }) => subject),
  );
  const asked = unheard.filter(({ name }) => !tested.has(name)).slice(0, MAX_ASKED);
  const from = dayOf(clock.wall()) - KEEP_DAYS + 1;
  const ended = await Promise.all(
    asked.map(({ name }) => views.counts({ period: 'day', from, count: KEEP_DAYS, relay: name })),
  );
  return new Set(asked.flatMap(({ name }, place) => (ended[place]?.size === 0 ? [name] : [])));
}

/** Its hop has said something, is being spoken to, or was found ill. */
function wasTried({ lastReply, inFlight, state }: LaneFigures): boolean {
  return lastReply !== null || inFlight > 0 || state !== 'closed';
}

/** Whether it was the stored relay that was tested, and no other definition in its place. */
function wasTest({ after }: JournalEntry): boolean {
  const asked: unknown = after === null ? null : JSON.parse(after);
  return typeof asked === 'object' && asked !== null && 'unsaved' in asked && asked.unsaved === null;
}
