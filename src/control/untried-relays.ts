import type { Relay } from '../domain/relay.ts';
import type { LaneFigures } from '../engine/contract.ts';
import { dayOf, KEEP_DAYS } from '../store/counting.ts';
import type { JournalEntry } from '../store/journal.ts';
import type { LocalDeps } from './deps.ts';

/** What records whether a relay was tried. */
type HistoryDeps = Pick<LocalDeps, 'views' | 'journal' | 'clock'>;

/** Most relays whose counters are read; further ones are judged by their lanes. */
const MAX_ASKED = 100;
/** Most tests to examine, the newest first. */
const MAX_TESTS = 500;
/** How long {@link rememberedUntried} believes what the store said. */
const REMEMBERED_MS = 5_000;

/**
 * Names of the relays, the inbox apart, that were never tried: no attempt, no probe and no test, as far as the running
 * nodes, the counters and the activity in the store know.
 */
export async function untriedRelays(
  relays: readonly Relay[],
  lanes: readonly LaneFigures[],
  deps: HistoryDeps,
): Promise<ReadonlySet<string>> {
  return await untriedOf(unheardOf(relays, lanes), deps);
}

/** Makes {@link untriedRelays} for a page that asks often: the store is asked again only after some seconds. */
export function rememberedUntried(
  deps: HistoryDeps,
): (relays: readonly Relay[], lanes: readonly LaneFigures[]) => Promise<ReadonlySet<string>> {
  let last: { readonly names: string; readonly at: number; readonly untried: ReadonlySet<string> } | null =
    null;
  return async (relays, lanes) => {
    const unheard = unheardOf(relays, lanes);
    const names = unheard.join(' ');
    const at = deps.clock.mono();
    if (last === null || last.names !== names || last.at + REMEMBERED_MS <= at)
      last = { names, at, untried: await untriedOf(unheard, deps) };
    return last.untried;
  };
}

/** Those of which no running node knows that they were tried. */
function unheardOf(relays: readonly Relay[], lanes: readonly LaneFigures[]): string[] {
  const heard = new Set(lanes.filter(wasTried).map(({ relay }) => relay));
  return relays.flatMap(({ name, origin }) => (origin === 'builtin' || heard.has(name) ? [] : [name]));
}

async function untriedOf(
  unheard: readonly string[],
  { views, journal, clock }: HistoryDeps,
): Promise<ReadonlySet<string>> {
  if (unheard.length === 0) return new Set();
  const query = { actor: null, action: 'testRelay', subject: null, limit: MAX_TESTS, before: null };
  const tested = new Set(
    (await journal.entries(query)).entries.filter(wasTest).map(({ subject }) => subject),
  );
  const asked = unheard.filter((name) => !tested.has(name)).slice(0, MAX_ASKED);
  const from = dayOf(clock.wall()) - KEEP_DAYS + 1;
  const ended = await Promise.all(
    asked.map((relay) => views.counts({ period: 'day', from, count: KEEP_DAYS, relay })),
  );
  return new Set(asked.filter((_, place) => ended[place]?.size === 0));
}

/** Its hop has replied, has an attempt under way, or was found failing. */
function wasTried({ lastReply, inFlight, state }: LaneFigures): boolean {
  return lastReply !== null || inFlight > 0 || state !== 'closed';
}

/** Whether the test was of the stored relay, not of another definition under its name. */
function wasTest({ after }: JournalEntry): boolean {
  const asked: unknown = after === null ? null : JSON.parse(after);
  return typeof asked === 'object' && asked !== null && 'unsaved' in asked && asked.unsaved === null;
}
