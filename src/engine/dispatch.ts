import { isLarge, type Priority } from '../domain/message.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import { Stop } from '../lib/stop.ts';
import type { Events } from '../observe/events.ts';
import { type AttemptDeps, type AttemptTerms, attempt } from './attempt.ts';
import { Claims } from './claims.ts';
import type { EngineSettings } from './contract.ts';
import type { FeedbackRoom } from './feedback.ts';
import { Hops } from './hops.ts';
import type { Lane } from './lanes.ts';
import { type QuotaTaken, takeQuota } from './quota.ts';
import type { Job } from './ready.ts';
import type { RelayAtWork, Relays } from './relays.ts';
import type { Reports } from './reports.ts';
import { Aftermath, Recorder } from './settle.ts';
import { slotsFor, type Throttle } from './throttle.ts';

/** Most units given back in one call: no transaction may hold the store for long. */
const RELEASE_BATCH = 500;
const NOTHING_GIVEN: readonly Promise<void>[] = [];

/** What an attempt takes, and gives back at its end. */
interface Start {
  readonly throttles: readonly Throttle[];
  readonly quota: QuotaTaken;
  /** When it began (monotonic ms). */
  readonly mono: number;
}

/** What dispatching needs. */
export interface DispatchDeps extends AttemptDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Events;
  readonly reports: Reports;
  /** What failures mean for the suppression list. */
  readonly own: FeedbackRoom['own'];
  readonly settings: () => EngineSettings;
  /** Called with lanes that have waiting mail and may not be ours. */
  readonly want: (lane: string) => void;
  /** Called when a lane's hop was found unhealthy: mail that waits there may have a better way. */
  readonly fellIll: (lane: string) => void;
  /** Called when connecting to a lane's hop failed repeatedly: another node may reach it. */
  readonly outOfReach: (lane: string) => void;
  /** Called when mail may have a better way: a hop is healthy again, or a relay's quota is used up. */
  readonly gotWell: () => void;
}

/**
 * Starts leased work in free slots. Work arrives in two ways that are one path after the lease: handed over by `accept`
 * (the short way), or claimed for lanes that have room.
 */
export class Dispatch {
  readonly #deps: DispatchDeps;
  readonly #lanes: ReadonlyMap<string, Lane>;
  readonly #relays: Relays;
  readonly #claims: Claims;
  readonly #hops: Hops;
  readonly #work = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  /** The same, for attempts. */
  readonly #ending = new Stop();
  readonly #giveUp = new AbortController();
  readonly #terms: AttemptTerms;
  readonly #aftermath: Aftermath;
  #shortWayBytes = 0;

  constructor(deps: DispatchDeps, lanes: ReadonlyMap<string, Lane>, relays: Relays) {
    this.#deps = deps;
    this.#terms = { ...deps, stopping: this.#ending };
    this.#lanes = lanes;
    this.#relays = relays;
    this.#aftermath = new Aftermath(deps, new Recorder(deps, relays, this.#giveUp.signal), {
      expect: (lane, dueAt) => this.expect(lane, dueAt),
      retire: (lane) => this.retire(lane),
      givenUp: this.#giveUp.signal,
    });
    this.#claims = new Claims(deps, lanes, relays, {
      pump: (lane) => this.#pump(lane),
      rested: (lane) => void this.#track(this.#hops.findOut(lane)),
      retire: (lane) => this.retire(lane),
    });
    this.#hops = new Hops(deps, this.#claims, relays, this.#stopping.signal);
  }

  /**
   * Promises room for one fresh unit of `sizeBytes` on a lane. Null if it must queue: it is large, the lane is not ours,
   * is resting or has older mail waiting, or the memory for the short way is used up.
   */
  reserve(name: string, sizeBytes: number, priority: Priority): Lane | null {
    const lane = this.#lanes.get(name);
    const relay = this.#relays.ofLane(name);
    if (!lane || !relay || this.#stopping.signal.aborted) return null;
    // It would take the memory from many others, and is read piece by piece when its turn comes.
    if (isLarge(sizeBytes)) return null;
    if (this.#shortWayBytes + sizeBytes > this.#deps.settings().shortWayBytes) return null;
    if (!lane.takesFresh(this.#deps.clock.mono(), relay.perLaneOf(lane), priority)) return null;
    if ((priority === 'high' ? relay.leftForHigh : relay.left) - lane.inHand < 1) return null;
    lane.reserved++;
    this.#shortWayBytes += sizeBytes;
    return lane;
  }

  /** Takes back a promise of {@link reserve}. */
  unreserve(lane: Lane, sizeBytes: number): void {
    lane.reserved--;
    this.#shortWayBytes -= sizeBytes;
  }

  /** Fulfils a promise of {@link reserve}: the message's units on the lane are leased and on disk. */
  handOver(lane: Lane, jobs: readonly Job[]): void {
    lane.reserved--;
    for (const { unit } of jobs.slice(1)) this.#shortWayBytes += unit.sizeBytes;
    for (const job of jobs) lane.ready.push(job);
    if (this.#lanes.get(lane.name) === lane) this.#pump(lane);
    else this.drop(lane);
  }

  /** A delivery waits in the store, due at `dueAt` (wall ms), for a lane that we may hold. */
  expect(name: string, dueAt: number): void {
    const lane = this.#lanes.get(name);
    if (!lane) return;
    // A lane known to be waiting is asked as soon as it has room anyway.
    if (lane.waiting) return;
    if (dueAt > this.#deps.clock.wall()) {
      this.#claims.expect(lane, dueAt);
      return;
    }
    lane.waiting = true;
    this.#claims.stir(lane);
  }

  /** Whether a lane can send: its relay exists, and neither is held. */
  canSend(lane: string): boolean {
    return this.#relays.ofLane(lane) !== undefined;
  }

  /** Something changed that may mean work for a lane: it was acquired, or its relay came back. */
  stir(lane: Lane): void {
    this.#claims.stir(lane);
  }

  /** The same, for all lanes. */
  stirAll(): void {
    for (const lane of this.#lanes.values()) this.#claims.stir(lane);
  }

  /** CLAIM: claims work until stopped. Resolves when stopped. */
  run(): Promise<void> {
    return this.#claims.run(this.#stopping.signal);
  }

  /** Forgets a lane whose lease is lost: the work in hand belongs to another node now. */
  drop(lane: Lane): void {
    lane.trustedUntil = Number.NEGATIVE_INFINITY;
    // What a pending claim still returns is given back.
    lane.retired = true;
    lane.abort.abort();
    for (const relay of this.#relays.all()) for (const throttle of relay.throttles()) throttle.forget(lane);
    this.#forget(lane, lane.ready.takeAll());
  }

  /** Gives back the jobs of a cancelled message that have not begun. Resolves when that is recorded. */
  async withdraw(messageId: string): Promise<void> {
    const given: Promise<void>[] = [];
    for (const lane of this.#lanes.values()) {
      given.push(...this.#giveBack(lane, lane.ready.takeOf(messageId)));
    }
    await Promise.all(given);
  }

  /** Starts nothing more on a lane whose leases are uncertain. */
  retire(lane: Lane): void {
    lane.retired = true;
    void this.#giveBack(lane);
  }

  /** Leaves a lane to other nodes: nothing new starts, and what has not begun is given back. */
  leave(lane: Lane): void {
    lane.leavingSince ??= this.#deps.clock.mono();
    void this.#giveBack(lane);
  }

  /**
   * Interrupts what is under way on a lane whose lease another node may soon hold: before the final dot, if possible.
   */
  breakOff(lane: Lane): void {
    this.retire(lane);
    lane.abort.abort();
  }

  /**
   * Stops claiming, gives back what no peer can have taken (interrupting it if it has begun), and waits for the other
   * replies until `deadline` aborts.
   */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#stopping.abort();
    this.#ending.abort();
    this.#claims.wake();
    for (const lane of this.#lanes.values()) void this.#giveBack(lane);
    const abortAll = () => {
      for (const lane of this.#lanes.values()) lane.abort.abort();
      this.#giveUp.abort();
    };
    if (deadline.aborted) abortAll();
    deadline.addEventListener('abort', abortAll, { once: true });
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  /** Starts what a lane has in hand, as far as its window and its relay's slots allow. */
  #pump(lane: Lane): void {
    const relay = this.#relays.ofLane(lane.name);
    const mono = this.#deps.clock.mono();
    const resting = lane.isEnding || lane.restsUntil(mono) !== null || lane.isStill(mono);
    if (!relay || this.#stopping.signal.aborted || resting) {
      void this.#giveBack(lane);
      return;
    }
    this.#startAll(lane, relay, mono);
  }

  #startAll(lane: Lane, relay: RelayAtWork, mono: number): void {
    const pace = lane.pace(mono, relay.perLaneOf(lane));
    const throttles = relay.throttlesOf(lane);
    let full: Throttle | undefined;
    const may = ({ unit: { priority } }: Job): boolean => {
      if (lane.inflight >= slotsFor(priority, pace) || lane.isStill(mono)) return false;
      const fuller = throttles.find((throttle) => !throttle.hasRoom(priority, mono));
      full ??= fuller;
      return fuller === undefined;
    };
    const unaffordable: Job[] = [];
    for (let job = lane.ready.next(may); job !== undefined; job = lane.ready.next(may)) {
      lane.ready.take(job);
      const quota = takeQuota(job.unit, relay, this.#deps);
      if (quota === null) unaffordable.push(job);
      else this.#start(job, lane, relay, { throttles, quota, mono });
    }
    if (unaffordable.length > 0) {
      // They wait in the store for another day, another relay, or a smaller claim.
      lane.waiting = true;
      void this.#giveBack(lane, unaffordable);
      this.#deps.gotWell();
    }
    if (full !== undefined) {
      // It stays in hand until its turn, even on a silent hop.
      full.wait(lane);
      this.#feedInTime(full, mono);
    } else if (lane.isSilent(mono)) {
      // Holds no work for a hop that does not respond; a turn that no job could use is over, too.
      if (lane.ready.length > 0) lane.startedAt = mono;
      void this.#giveBack(lane);
    }
  }

  async #feedAfter(throttle: Throttle, ms: number): Promise<void> {
    throttle.timed = true;
    await this.#deps.clock.sleep(ms, this.#stopping.signal);
    throttle.timed = false;
    // When stopping, a lane would not wait any more but try again at once.
    if (!this.#stopping.signal.aborted) this.#feed(throttle);
  }

  /** A freed slot serves the waiting lanes; a rate limit needs a timer for the next start. */
  #feedInTime(throttle: Throttle, mono: number): void {
    const waitMs = throttle.waitMs(mono);
    if (throttle.isWaitedFor && waitMs > 0 && !throttle.timed)
      void this.#track(this.#feedAfter(throttle, waitMs));
  }

  /** There is room again: each waiting lane gets its turn. */
  #feed(throttle: Throttle): void {
    const mono = () => this.#deps.clock.mono();
    for (const lane of throttle.turns(mono)) this.#pump(lane);
    this.#feedInTime(throttle, mono());
  }

  #start(job: Job, lane: Lane, relay: RelayAtWork, start: Start): void {
    const { throttles, mono } = start;
    if (lane.inflight === 0) lane.heardAt = mono;
    lane.inflight++;
    lane.busyAt = mono;
    lane.startedAt = mono;
    for (const throttle of throttles) throttle.begin(mono);
    void this.#track(this.#attemptAndSettle(job, lane, relay, start));
  }

  #track(work: Promise<void>): Promise<void> {
    const tracked = work.then(
      () => void this.#work.delete(tracked),
      (error: unknown) => {
        this.#work.delete(tracked);
        this.#deps.fault('dispatch_bug', error);
      },
    );
    this.#work.add(tracked);
    return tracked;
  }

  async #attemptAndSettle(job: Job, lane: Lane, relay: RelayAtWork, start: Start): Promise<void> {
    let isFree = false;
    const free = () => {
      if (isFree) return;
      isFree = true;
      lane.inflight--;
      lane.reserved++;
      for (const throttle of start.throttles) throttle.end();
    };
    // Starts only what can begin at once: otherwise it would be marked as begun for nothing. A hop with a known window
    // gets no more before it has replied.
    const sent = () => {
      if (lane.window !== null || lane.isEnding || !lane.ready.isNextInMemory) return;
      free();
      try {
        for (const throttle of start.throttles) this.#feed(throttle);
        this.#pump(lane);
      } catch (error) {
        // The message is sent and must settle as sent, even if starting others fails.
        this.#deps.fault('dispatch_bug', error);
      }
    };
    const end = await attempt(this.#terms, job, lane, relay, start.quota, sent);
    // The hop is free again, and we record the result. The job counts as in hand until it is recorded.
    this.#relays.hops.spokeTo(lane, relay, end.evidence.host);
    if (end.tried) lane.paced(end.outcomes, relay.perLaneOf(lane), start.mono, this.#deps.clock.mono());
    free();
    lane.heardAt = this.#deps.clock.mono();
    this.#forgetContent(job);
    try {
      this.#hops.tried(lane, relay, end);
      for (const throttle of start.throttles) this.#feed(throttle);
      this.#pump(lane);
      await this.#aftermath.record(job, lane, relay, end);
    } catch (error) {
      // The result is not written: the job returns when the lane is released and acquired again.
      this.retire(lane);
      throw error;
    } finally {
      lane.reserved--;
      lane.busyAt = this.#deps.clock.mono();
      this.#tookBack(lane, [job]);
      if (lane.waiting) this.#claims.stir(lane);
      else this.#claims.roomMade();
    }
  }

  /**
   * Gives back jobs that have not begun; without `jobs`, all that the lane has in hand. Resolves when that is recorded.
   */
  #giveBack(lane: Lane, jobs: readonly Job[] = lane.ready.takeAll()): readonly Promise<void>[] {
    if (jobs.length === 0) return NOTHING_GIVEN;
    this.#forget(lane, jobs);
    const given: Promise<void>[] = [];
    for (let start = 0; start < jobs.length; start += RELEASE_BATCH) {
      const part = jobs.slice(start, start + RELEASE_BATCH);
      given.push(this.#track(this.#aftermath.giveBack(lane, part, null)));
    }
    return given;
  }

  /** These jobs are no longer in hand. */
  #forget(lane: Lane, jobs: readonly Job[]): void {
    this.#tookBack(lane, jobs);
    for (const job of jobs) this.#forgetContent(job);
  }

  /**
   * Only claimed jobs count towards what a relay may claim: fresh mail, which carries its contents, has its own limit.
   */
  #tookBack(lane: Lane, jobs: readonly Job[]): void {
    this.#relays.took(lane, -jobs.filter(({ content }) => content === null).length);
  }

  #forgetContent(job: Job): void {
    if (job.content) this.#shortWayBytes -= job.unit.sizeBytes;
  }
}
