import { type BreakerState, type HopNews, refusesUs } from '../domain/breaker.ts';
import { relayOfLane } from '../domain/lane.ts';
import { localReply, type Reply } from '../domain/outcome.ts';
import { saidTooMuch } from '../domain/window.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { Events } from '../observe/events.ts';
import type { AttemptEnd } from './attempt.ts';
import type { Claims } from './claims.ts';
import type { Lane } from './lanes.ts';
import type { RelayAtWork, Relays } from './relays.ts';

/** Most time that a probe may take, in ms. */
const PROBE_LIMIT_MS = 60_000;

/** What minding hops needs. */
export interface HopsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Events;
  /** Called when a lane's hop was found unhealthy: mail that waits there may have a better way. */
  readonly fellIll: (lane: string) => void;
  /** Called when connecting to a lane's hop failed repeatedly: another node may reach it. */
  readonly outOfReach: (lane: string) => void;
  /**
   * Called when a hop is healthy again, or a relay's health changed: mail that waits elsewhere may have a better way.
   */
  readonly gotWell: () => void;
}

/** Watches the health of next hops: takes the results of attempts, lets unhealthy hops rest, and probes them. */
export class Hops {
  readonly #deps: HopsDeps;
  readonly #claims: Claims;
  readonly #relays: Relays;
  readonly #stopping: AbortSignal;

  constructor(deps: HopsDeps, claims: Claims, relays: Relays, stopping: AbortSignal) {
    this.#deps = deps;
    this.#claims = claims;
    this.#relays = relays;
    this.#stopping = stopping;
  }

  /** An attempt has ended. */
  tried(lane: Lane, relay: RelayAtWork, end: AttemptEnd): void {
    const { clock, random } = this.#deps;
    const now = clock.mono();
    lane.rate.add(now);
    if (!end.tried) return;
    const first = end.outcomes[0]?.reply;
    if (first) this.#note(lane, first);
    // A replaced relay says nothing about its successor.
    if (end.brokenOff || this.#relays.get(relay.relay.name) !== relay) return;
    const before = relay.breakerState(now);
    const news = newsOf(end, lane);
    relay.heard(news, now, random.next());
    // This breaker covers all destinations, so each of the relay's lanes is concerned.
    const reply = first ?? UNKNOWN;
    if (relay.breakerState(now) !== before) {
      this.#tell(relay.relay.name, before, relay.breakerState(now), null, reply);
      this.#deps.gotWell();
    }
    if (end.restMs !== null) this.#rest(lane, end.restMs, reply);
    this.#hear(lane, reply, () => lane.heard(news, now, random.next()));
  }

  #note(lane: Lane, { code, enhanced, text }: Reply): void {
    lane.lastReply = { code, enhanced, text, at: this.#deps.clock.wall() };
  }

  /** An unhealthy hop has rested: probes it, if that is possible without mail. */
  async findOut(lane: Lane): Promise<void> {
    const { clock } = this.#deps;
    const transport = this.#relays.ofLane(lane.name)?.transport;
    if (lane.breakerState(clock.mono()) !== 'half_open' || lane.probing || this.#stopping.aborted) return;
    if (transport?.probe === undefined || lane.inHand > 0) {
      this.#claims.stir(lane);
      return;
    }
    lane.probing = true;
    const limit = new AbortController();
    const end = () => limit.abort();
    this.#stopping.addEventListener('abort', end);
    void clock.sleep(PROBE_LIMIT_MS, limit.signal).then(end);
    try {
      const { host, trouble } = await transport.probe(limit.signal);
      // A replaced relay says nothing about its successor.
      const isItsHop = this.#relays.ofLane(lane.name)?.transport === transport;
      if (!this.#stopping.aborted && !lane.retired && isItsHop) this.#probed(lane, host, trouble);
    } finally {
      lane.probing = false;
      end();
      this.#stopping.removeEventListener('abort', end);
    }
    this.#claims.stir(lane);
  }

  #probed(lane: Lane, host: string, trouble: Reply | null): void {
    const { clock, random, events } = this.#deps;
    if (trouble !== null) this.#note(lane, trouble);
    const news = trouble === null ? 'well' : refusesUs(trouble) ? 'refuses_us' : 'ill';
    let pauseMs = 0;
    this.#hear(lane, trouble ?? UNKNOWN, () => {
      pauseMs = lane.probed(news, clock.mono(), random.next());
      return pauseMs;
    });
    const nextProbeAt = trouble === null ? null : clock.wall() + pauseMs;
    events.emit({ type: 'probed', relay: relayOfLane(lane.name), host, trouble, nextProbeAt });
  }

  /** Tells when a relay stops getting mail, and when it gets it again; not of what is only tried in between. */
  #tell(
    relay: string,
    before: BreakerState,
    after: BreakerState,
    pauseMs: number | null,
    reply: Reply,
  ): void {
    const { events } = this.#deps;
    if (before === 'closed' && after !== 'closed')
      events.emit({ type: 'relay_rests', relay, pauseMs, reply });
    if (before !== 'closed' && after === 'closed') events.emit({ type: 'relay_recovered', relay });
  }

  /** The lane rests from now on, for what this reply says. */
  #restsFor(lane: Lane, reply: Reply): void {
    const at = this.#deps.clock.wall();
    lane.restReply = { ...reply, at };
    lane.illSince ??= at;
  }

  /** The hop asked for no mail: its own word needs no breaker. */
  #rest(lane: Lane, restMs: number, reply: Reply): void {
    const { clock, events, fellIll } = this.#deps;
    const now = clock.mono();
    const before = lane.restsUntil(now) ?? now;
    if (now + restMs <= before) return;
    lane.restUntil(now + restMs);
    this.#restsFor(lane, reply);
    this.#claims.rest(lane, now + restMs);
    events.emit({ type: 'lane_paused', lane: lane.name, pauseMs: restMs, reply, again: before > now });
    fellIll(lane.name);
  }

  /** Applies news to the lane, and tells the others what follows. `take` returns for how long it newly rests. */
  #hear(lane: Lane, reply: Reply, take: () => number): void {
    const { clock, events, fellIll, gotWell, outOfReach } = this.#deps;
    const now = clock.mono();
    const before = lane.breakerState(now);
    const pauseMs = take();
    if (pauseMs > 0) {
      this.#restsFor(lane, reply);
      this.#claims.rest(lane, now + pauseMs);
      const again = before !== 'closed';
      events.emit({ type: 'lane_paused', lane: lane.name, pauseMs, reply, again });
      fellIll(lane.name);
      if (lane.isOutOfReach) outOfReach(lane.name);
    }
    const after = lane.breakerState(now);
    // Its only lane: of a relay with many, the breaker of all of them counts.
    if (lane.name === relayOfLane(lane.name)) this.#tell(lane.name, before, after, pauseMs, reply);
    if (after === 'closed' && before !== 'closed') {
      lane.restReply = null;
      lane.illSince = null;
      events.emit({ type: 'lane_resumed', lane: lane.name });
      this.#claims.stir(lane);
      gotWell();
    }
  }
}

const UNKNOWN = localReply('unknown', '4.0.0', 'Nothing was said');

/** What an attempt says about its hop. */
function newsOf({ hopFailed, restMs, outcomes }: AttemptEnd, lane: Lane): HopNews {
  // The hop said that there were too many at once; sending less is the answer, not a rest.
  const isCrowded = restMs === null && saidTooMuch(outcomes) && lane.inflight > 0;
  if (hopFailed && outcomes.some(({ reply }) => refusesUs(reply))) return 'refuses_us';
  if (hopFailed) return isCrowded ? 'of_no_use' : 'ill';
  return outcomes.some(({ kind }) => kind === 'delivered' || kind === 'rejected') ? 'well' : 'of_no_use';
}
