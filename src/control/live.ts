import { ANY_MAIL } from '../domain/query.ts';
import type { Live, LiveOperations, LiveRelay } from '../operations/live.ts';
import type { OverviewRelay } from '../operations/search.ts';
import type { CountedEvent } from '../store/counting.ts';
import { AnswerShare } from './answer-share.ts';
import type { LocalDeps } from './deps.ts';
import { foundMessages } from './found-mail.ts';
import { seriesAt } from './overview.ts';

/** What happens now, for the live mode of the overview. */

const MINUTE_MS = 60_000;
/** Pages that ask within so long get one answer. */
const SHARED_MS = 250;
/** For how long an answer on relays stands: what they did is counted by the minute. */
const RELAYS_MS = 1_000;
/** Messages and relays that are told of. */
const MAX_MESSAGES = 12;
const MAX_RELAYS = 8;
/** Minutes of a relay that are told of, this one included. */
const MINUTES = 30;

/** What it needs. */
export type LiveDeps = Parameters<typeof foundMessages>[1] & Pick<LocalDeps, 'views' | 'clock'>;

/** What it needs of the overview. */
interface LiveSources {
  readonly relays: () => Promise<readonly OverviewRelay[]>;
}

type Figures = Pick<Live, 'relays' | 'moreRelays'>;

/** See {@link LiveOperations}. */
export function liveOperations(deps: LiveDeps, { relays }: LiveSources): LiveOperations {
  const answers = new AnswerShare<Live>(deps.clock, SHARED_MS);
  let known: { readonly at: number; readonly figures: Figures } | null = null;
  const figures = async (now: number): Promise<Figures> => {
    const at = deps.clock.mono();
    if (known !== null && at - known.at < RELAYS_MS) return known.figures;
    const fresh = await busiestOf(await relays(), now, deps);
    known = { at, figures: fresh };
    return fresh;
  };
  const look = async (): Promise<Live> => {
    const { views, clock } = deps;
    const now = clock.wall();
    const [found, { spool }, pace, busiest] = await Promise.all([
      views.search({ query: ANY_MAIL, after: null, before: null, limit: MAX_MESSAGES }),
      views.figures(now),
      paceAt(now, deps),
      figures(now),
    ]);
    const { incoming: waiting, processing } = spool;
    return { messages: await foundMessages(found.messages, deps), pace, waiting, processing, ...busiest };
  };
  return { live: () => answers.ask('', look) };
}

/** Messages within the last sixty seconds, as far as counts by the minute tell. */
async function paceAt(now: number, { views }: Pick<LocalDeps, 'views'>): Promise<Live['pace']> {
  const minute = Math.floor(now / MINUTE_MS);
  const counted = await views.counts({ period: 'minute', from: minute - 1, count: 2, relay: null });
  // Of the minute before, the part that is within them.
  const part = 1 - (now % MINUTE_MS) / MINUTE_MS;
  const of = (event: CountedEvent) => {
    const [before = 0, current = 0] = counted.get(event) ?? [];
    return Math.round(before * part + current);
  };
  const captured = of('captured');
  return {
    received: of('received'),
    delivered: Math.max(0, of('delivered') - captured),
    captured,
    failed: of('failed'),
  };
}

async function busiestOf(
  all: readonly OverviewRelay[],
  now: number,
  { views }: Pick<LocalDeps, 'views'>,
): Promise<Figures> {
  const work = (relay: OverviewRelay) =>
    relay.inFlight + relay.waiting + relay.deliveredToday + relay.failedToday;
  const busiest = all.toSorted((one, other) => work(other) - work(one)).slice(0, MAX_RELAYS);
  const relays = await Promise.all(
    busiest.map(async ({ name, type, state, waiting, inFlight }): Promise<LiveRelay> => {
      const { counts } = await seriesAt(now, { step: 'minute', count: MINUTES, relay: name }, { views });
      const { delivered = [], failed = [] } = counts;
      return { name, type, state, waiting, inFlight, delivered, failed };
    }),
  );
  return { relays, moreRelays: all.length - relays.length };
}
