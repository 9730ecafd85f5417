import { chooseRelay, nextWay, roundsOf } from '../domain/failover.ts';
import { laneOf } from '../domain/lane.ts';
import type { Priority } from '../domain/message.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { QuotaRefund } from '../domain/quota.ts';
import { type SettlePolicy, settle, type Transition } from '../domain/settle.ts';
import { hastened, hastenedExpiry, testOutcomeOf } from '../domain/test-outcome.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { Events } from '../observe/events.ts';
import type { Settlement, Store, Unit, UnitDelivery } from '../store/store.ts';
import type { Stopped } from '../store/telling.ts';
import { type AttemptEnd, refOf } from './attempt.ts';
import type { EngineSettings } from './contract.ts';
import type { FeedbackRoom } from './feedback.ts';
import type { Lane } from './lanes.ts';
import { persist, type Wait } from './persist.ts';
import type { Job } from './ready.ts';
import type { RelayAtWork, Relays } from './relays.ts';
import { type Owed, owedBySettling, owedByStop, settlingUntold } from './report-policy.ts';
import type { Reports, WrittenReport } from './reports.ts';

/** What decides where a delivery goes next that was not accepted. */
type Ways = Pick<Relays, 'get' | 'fitness'>;

interface SettleContext {
  readonly policy: SettlePolicy;
  readonly ways: Ways;
  /** Wall ms. */
  readonly now: number;
  readonly dice: number;
}

/**
 * SETTLE: from an attempt's outcomes to what the store will write. Siblings share the time and the random number. What
 * was proved not to have been taken goes to the group's next relay; what may have been taken stays.
 */
function settlementOf(
  unit: Unit,
  relay: string,
  end: AttemptEnd,
  context: SettleContext,
): Omit<Settlement, 'report' | 'delayReported'> {
  const transitions: Transition[] = [];
  const results: Settlement['attempt']['results'][number][] = [];
  for (const [place, delivery] of unit.deliveries.entries()) {
    const outcome = end.outcomes[place];
    if (!outcome) throw new Error(`transport ${relay} gave no outcome for recipient ${place}`);
    const isPlayed = unit.test && testOutcomeOf(delivery.recipient.address) !== null;
    const [settled, terms] = isPlayed ? sooner(delivery, context) : [delivery, context];
    transitions.push(transitionOf(settled, unit.priority, { relay, outcome }, terms));
    results.push({ index: delivery.index, outcome });
  }
  return {
    unit: refOf(unit),
    attempt: { startedAt: end.startedAt, relay, evidence: end.evidence, results },
    transitions,
    refund: refundOf(end),
  };
}

/** A recipient whose outcome is played is retried, and expires, sooner. */
function sooner(delivery: UnitDelivery, context: SettleContext): [UnitDelivery, SettleContext] {
  const { policy } = context;
  const expiresAt = hastenedExpiry(delivery.expiresAt, policy);
  return [
    { ...delivery, expiresAt },
    { ...context, policy: hastened(policy) },
  ];
}

/** What an attempt took from its relay's quota and proved not to have been taken. */
function refundOf({ quota, outcomes }: AttemptEnd): QuotaRefund | null {
  if (quota === null) return null;
  const untaken = outcomes.filter(({ kind }) => kind === 'deferred' || kind === 'rejected').length;
  return untaken === 0 ? null : { relay: quota.relay, day: quota.day, recipients: untaken };
}

function transitionOf(
  delivery: UnitDelivery,
  priority: Priority,
  { relay, outcome }: { readonly relay: string; readonly outcome: Outcome },
  { policy, ways, now, dice }: SettleContext,
): Transition {
  const { group, recipient, expiresAt } = delivery;
  // The delay grows with every round through the group, not with every relay.
  const attempts = roundsOf(delivery.attempts + 1, group.length) - 1;
  const transition = settle({ attempts, expiresAt }, outcome, policy, now, dice);
  const fitness = (name: string) => ways.fitness(name, recipient.address, priority);
  const moveTo = (
    name: string | null,
    nextAttemptAt: number | null,
    rest?: readonly string[],
  ): Transition => {
    const to = name === null ? undefined : ways.get(name)?.relay;
    if (to === undefined || to.name === relay || nextAttemptAt === null) return transition;
    const hop = { relay: to.name, lane: laneOf(to.name, to.type, recipient.address) };
    const next = rest === undefined ? hop : { ...hop, group: rest };
    return { ...transition, state: 'retrying', outcome: null, next, nextAttemptAt };
  };
  if (outcome.kind === 'rejected' && outcome.hopBound === true) {
    // This relay cannot serve this message, whatever its present health says of the others.
    const rest = group.filter((name) => name !== relay);
    const { relay: later, atOnce } = nextWay(group, relay, fitness);
    const chosen = atOnce ? later : chooseRelay(rest, fitness);
    const { reply } = outcome;
    const wait = settle({ attempts, expiresAt }, { kind: 'deferred', reply }, policy, now, dice);
    return moveTo(chosen, atOnce && now < expiresAt ? now : wait.nextAttemptAt, rest);
  }
  if (outcome.kind !== 'deferred' || transition.state !== 'retrying') return transition;
  // Each such attempt delivers to some recipients, so these attempts come to an end.
  if (outcome.nextInLine === true) return { ...transition, nextAttemptAt: now };
  if (group.length < 2) return transition;
  const way = nextWay(group, relay, fitness);
  return moveTo(way.relay, way.atOnce ? now : transition.nextAttemptAt);
}

/** Publishes what an attempt did; `cancelled`: the indexes that the store cancelled instead. */
function announce(
  events: Events,
  unit: Unit,
  settlement: Pick<Settlement, 'attempt' | 'transitions'>,
  cancelled: readonly number[],
): void {
  events.emit({
    type: 'attempted',
    messageId: unit.messageId,
    keyId: unit.keyId,
    tags: unit.tags,
    acceptedAt: unit.createdAt,
    relay: settlement.attempt.relay,
    host: settlement.attempt.evidence.host,
    durationMs: settlement.attempt.evidence.timings.totalMs,
    results: settlement.transitions.flatMap((transition, place) => {
      const delivery = unit.deliveries[place];
      const result = settlement.attempt.results[place];
      if (!delivery || !result) return [];
      const { address } = delivery.recipient;
      const { outcome } = result;
      return cancelled.includes(delivery.index)
        ? [{ address, state: 'failed', outcome, cancelled: true }]
        : [{ address, state: transition.state, outcome }];
    }),
  });
}

interface RecorderDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Events;
  readonly node: string;
  readonly reports: Reports;
  /** What failures mean for the suppression list. */
  readonly own: FeedbackRoom['own'];
  readonly settings: () => EngineSettings;
}

/**
 * The result of a write: what it left waiting, if anything; `stale` if the work was no longer ours; `refused` if the
 * store will never take it.
 */
type Recorded = { readonly waits: readonly Wait[] } | 'stale' | 'refused';

/** SETTLE: writes the results of leased work, however long the store is full or unavailable. */
export class Recorder {
  readonly #deps: RecorderDeps;
  readonly #ways: Ways;
  readonly #giveUp: AbortSignal;

  /** `giveUp` ends the retries while the store is full or unavailable. */
  constructor(deps: RecorderDeps, ways: Ways, giveUp: AbortSignal) {
    this.#deps = deps;
    this.#ways = ways;
    this.#giveUp = giveUp;
  }

  /** Writes what an attempt did, with the report that it owes, and publishes it once it is on disk. */
  settle(job: Job, relay: RelayAtWork, end: AttemptEnd): Promise<Recorded> {
    const { clock, random, settings } = this.#deps;
    const now = clock.wall();
    const { retry, reports: told } = settings();
    const context = { policy: retry, ways: this.#ways, now, dice: random.next() };
    const plain = settlementOf(job.unit, relay.relay.name, end, context);
    const own = this.#deps.own(job.unit.deliveries, plain.transitions);
    const settling = own === undefined ? plain : { ...plain, own };
    const owed = owedBySettling(job.unit, settling, { now, delayAfterMs: told.delayAfterMs });
    return owed === null && settling.refund === null
      ? this.#write(job.unit, { ...settling, report: null, delayReported: [] }, null, now)
      : this.#settleOwing(job, relay, settling, owed, context);
  }

  async #settleOwing(
    job: Job,
    relay: RelayAtWork,
    settling: Omit<Settlement, 'report' | 'delayReported'>,
    owed: Owed | null,
    context: SettleContext,
  ): Promise<Recorded> {
    const { clock, reports } = this.#deps;
    const written = owed && (await reports.writePatiently(job.unit, owed, this.#giveUp));
    const isUntold = written === 'not_now';
    const report = isUntold ? null : written;
    const later = { ...context, now: clock.wall() };
    const transitions = isUntold ? settlingUntold(job.unit, settling, later) : settling.transitions;
    let taken = false;
    try {
      const delayReported = report?.owed.delayed ?? [];
      const { own: _, ...untold } = settling;
      const settlement = {
        ...(isUntold ? untold : settling),
        transitions,
        report: report?.record ?? null,
        delayReported,
      };
      const recorded = await this.#write(job.unit, settlement, report, context.now);
      taken = recorded !== 'stale' && recorded !== 'refused';
      if (taken && settling.refund !== null) relay.quota.refunded(settling.refund, clock.wall());
      return recorded;
    } finally {
      reports.decided(report, taken);
    }
  }

  async #write(
    unit: Unit,
    settlement: Settlement,
    report: WrittenReport | null,
    now: number,
  ): Promise<Recorded> {
    const { clock, store, node, events, reports } = this.#deps;
    const answer = await persist(clock, this.#giveUp, 'harmless', () =>
      store.settle([settlement], { node, now }),
    );
    if (answer === null) return 'refused';
    if (answer[0]?.kind !== 'settled') return 'stale';
    const { cancelled } = answer[0];
    announce(events, unit, settlement, cancelled);
    const { indexes, lane } = settlement.unit;
    const waits = settlement.transitions.flatMap(({ nextAttemptAt, next }, place): Wait[] =>
      nextAttemptAt === null || cancelled.includes(indexes[place] ?? -1)
        ? []
        : [{ lane: next?.lane ?? lane, dueAt: nextAttemptAt }],
    );
    return { waits: report === null ? waits : [...waits, ...reports.announce(report)] };
  }

  /**
   * Ends the recipients of a job that the suppression list stops, with the report that they are owed, and gives back
   * the others.
   */
  async endStopped({ unit }: Job, stopped: readonly Stopped[]): Promise<Recorded> {
    const { clock, reports, store, node, events } = this.#deps;
    const now = clock.wall();
    const isStopped = ({ index }: UnitDelivery) => stopped.some((one) => one.index === index);
    const ended = { ...unit, deliveries: unit.deliveries.filter(isStopped) };
    const others = { ...unit, deliveries: unit.deliveries.filter((one) => !isStopped(one)) };
    const owed = owedByStop(ended, stopped, now);
    const written = owed && (await reports.writePatiently(unit, owed, this.#giveUp));
    // While the sender cannot be told, they wait.
    if (written === 'not_now') return await this.giveBack([jobOf(unit)], null);
    let taken = false;
    try {
      const request = { unit: refOf(ended), report: written?.record ?? null };
      const answer = await persist(clock, this.#giveUp, 'harmless', () =>
        store.suppress([request], { node, now }),
      );
      taken = answer?.[0]?.kind === 'settled';
      if (answer === null) return 'refused';
      // An entry was taken off the list meanwhile, the work is no longer ours, or a first try whose answer was lost has
      // ended them: giving both back, each by itself, shows which.
      if (!taken) return await this.giveBack([jobOf(ended), jobOf(others)], null);
    } finally {
      reports.decided(written, taken);
    }
    events.emit({
      type: 'suppressed',
      messageId: unit.messageId,
      recipients: ended.deliveries.flatMap(({ index, recipient }) => {
        const stop = stopped.find((one) => one.index === index);
        return stop === undefined ? [] : [{ address: recipient.address, reason: stop.reason }];
      }),
    });
    const waits = written === null ? [] : reports.announce(written);
    if (others.deliveries.length === 0) return { waits };
    const given = await this.giveBack([jobOf(others)], null);
    return typeof given === 'object' ? { waits: [...waits, ...given.waits] } : given;
  }

  /**
   * Gives back work that no peer can have taken. It is due at once, unless it was cancelled, which ends it. `refund`:
   * what its only job had taken from the quota.
   */
  async giveBack(jobs: readonly Job[], refund: QuotaRefund | null): Promise<Recorded> {
    const { clock, store, node } = this.#deps;
    const refs = jobs.map((job) => ({ ...refOf(job.unit), refund }));
    // Not repeated: a second try could give back work that was claimed again meanwhile, under the same fence.
    const answers = await persist(clock, this.#giveUp, 'harmful', () =>
      store.release(refs, { node, now: clock.wall() }),
    );
    if (answers === null) return 'refused';
    const waits: Wait[] = [];
    const now = clock.wall();
    for (const [place, { unit }] of jobs.entries()) {
      const answer = answers[place];
      if (answer?.kind !== 'settled') continue;
      if (answer.cancelled.length > 0) this.#announceCancelled(unit, answer.cancelled);
      if (answer.cancelled.length < unit.deliveries.length) waits.push({ lane: unit.lane, dueAt: now });
    }
    return answers.some(({ kind }) => kind === 'settled') ? { waits } : 'stale';
  }

  #announceCancelled({ messageId, deliveries }: Unit, cancelled: readonly number[]): void {
    const recipients = deliveries.flatMap(({ index, recipient }) =>
      cancelled.includes(index) ? [recipient.address] : [],
    );
    this.#deps.events.emit({ type: 'cancelled', messageId, recipients });
  }
}

/** A unit without its contents. */
function jobOf(unit: Unit): Job {
  return { unit, content: null };
}

interface AftermathDeps {
  readonly clock: Clock;
  /** Called with lanes that have waiting mail and may not be ours. */
  readonly want: (lane: string) => void;
  readonly fault: (code: string, error: unknown) => void;
}

/** Works the lanes. */
interface LaneWork {
  /** A delivery waits in the store, due at `dueAt` (wall ms). */
  expect(lane: string, dueAt: number): void;
  /** Starts nothing more on a lane whose leases are uncertain. */
  retire(lane: Lane): void;
  /** Aborts when nothing will be recorded any more. */
  readonly givenUp: AbortSignal;
}

/** The end of leased work: records it or gives it back, and tells lanes what waits then. */
export class Aftermath {
  readonly #deps: AftermathDeps;
  readonly #recorder: Recorder;
  readonly #work: LaneWork;

  constructor(deps: AftermathDeps, recorder: Recorder, work: LaneWork) {
    this.#deps = deps;
    this.#recorder = recorder;
    this.#work = work;
  }

  /** An attempt has ended: settles what it did, and gives back what it did not begin. */
  async record(job: Job, lane: Lane, relay: RelayAtWork, end: AttemptEnd): Promise<void> {
    const untouched = end.outcomes.every((outcome) => outcome.kind === 'deferred');
    if (end.stopped.length > 0) {
      this.#note(lane, await this.#recorder.endStopped(job, end.stopped));
      return;
    }
    const nothingSent = !end.begun || (untouched && end.brokenOff);
    if (!nothingSent) {
      this.#note(lane, await this.#recorder.settle(job, relay, end));
      return;
    }
    const recorded = await this.#recorder.giveBack([job], end.quota);
    const isRefunded = end.begun && typeof recorded === 'object';
    if (end.quota !== null && isRefunded) relay.quota.refunded(end.quota, this.#deps.clock.wall());
    this.#note(lane, recorded);
  }

  /** Gives back work that no peer can have taken; `refund`: what its only job had taken from the quota. */
  async giveBack(lane: Lane, jobs: readonly Job[], refund: QuotaRefund | null): Promise<void> {
    this.#note(lane, await this.#recorder.giveBack(jobs, refund));
  }

  /** What was recorded waits until it is due; the rest returns when its lane is released and acquired again. */
  #note(lane: Lane, recorded: Recorded): void {
    if (recorded === 'stale') return;
    if (recorded !== 'refused') {
      for (const { lane: where, dueAt } of recorded.waits) {
        if (where !== lane.name) this.#deps.want(where);
        this.#work.expect(where, dueAt);
      }
      return;
    }
    if (this.#work.givenUp.aborted || lane.retired) return;
    this.#deps.fault('not_recorded', new Error(`lane ${lane.name} is let go: the store refused a write`));
    this.#work.retire(lane);
  }
}
