import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { Event, Events } from '../observe/events.ts';
import { type Spool, SpoolError } from '../spool/spool.ts';
import type { ExpiringMessage, Stamp, Store } from '../store/store.ts';
import type { OwnBounces } from '../store/telling.ts';
import type { Expiry } from '../store/upkeep.ts';
import type { Collection, Compaction, UpkeepRecord } from './compaction.ts';
import { type EngineSettings, LANE_LEASE_MS } from './contract.ts';
import type { Dispatch } from './dispatch.ts';
import type { FeedbackRoom } from './feedback.ts';
import type { Leases } from './leases.ts';
import type { Membership } from './membership.ts';
import type { Wait } from './persist.ts';
import type { Gate, QueueRoom } from './queue-room.ts';
import { owedByExpiry } from './report-policy.ts';
import type { Reports, WrittenReport } from './reports.ts';

/** A lease that ends later than this from now on was granted before the clock was set back, in ms: clocks differ a little. */
const LONGEST_LEASE_MS = 2 * LANE_LEASE_MS;
/** Most deliveries or messages in one transaction of the sweep: none may hold the store for long. */
const BATCH = 500;

interface SweepDeps {
  readonly store: Store;
  readonly spool: Spool;
  readonly clock: Clock;
  readonly random: Random;
  readonly node: string;
  readonly events: Events;
  readonly settings: () => EngineSettings;
  readonly fault: (code: string, error: unknown) => void;
}

/** The rest of the engine, as the sweep sees it. */
interface SweepPeers {
  readonly dispatch: Dispatch;
  readonly leases: Leases;
  readonly gate: Gate;
  readonly room: QueueRoom;
  readonly reports: Reports;
  readonly feedback: FeedbackRoom;
  readonly collection: Collection;
  readonly compaction: Compaction;
  readonly record: UpkeepRecord;
  readonly membership: Membership;
}

/** A chore and how often it is done, in ms. */
interface Chore {
  readonly everyMs: number;
  readonly code: string;
  readonly work: () => Promise<void>;
}

/** Periodic work: lapsed leases, expiry, retention, free disk space. */
export class Sweep {
  readonly #deps: SweepDeps;
  readonly #dispatch: Dispatch;
  readonly #leases: Leases;
  readonly #gate: Gate;
  readonly #room: QueueRoom;
  readonly #reports: Reports;
  readonly #feedback: FeedbackRoom;
  readonly #collection: Collection;
  readonly #compaction: Compaction;
  readonly #record: UpkeepRecord;
  readonly #membership: Membership;
  readonly #indexing: Indexing;
  readonly #stopping = new AbortController();

  constructor(deps: SweepDeps, peers: SweepPeers) {
    const { dispatch, leases, gate, room, reports } = peers;
    this.#collection = peers.collection;
    this.#compaction = peers.compaction;
    this.#record = peers.record;
    this.#membership = peers.membership;
    this.#deps = deps;
    this.#indexing = new Indexing(deps);
    this.#room = room;
    this.#reports = reports;
    this.#feedback = peers.feedback;
    this.#dispatch = dispatch;
    this.#leases = leases;
    this.#gate = gate;
  }

  /** Runs every chore in turn until stopped. Resolves when stopped. */
  async run(): Promise<void> {
    const chores: readonly Chore[] = [
      { everyMs: 1_000, code: 'disk_check_failed', work: () => this.checkDisk() },
      { everyMs: 1_000, code: 'queue_check_failed', work: () => this.#room.lookIfFull() },
      { everyMs: 5_000, code: 'reclaim_failed', work: () => this.reclaim(false) },
      { everyMs: 1_000, code: 'indexing_failed', work: () => this.#indexing.catchUp(this.#stopping.signal) },
      // One node is enough for these. Two at once, while a duty passes from one to the other, do no harm.
      { everyMs: 5_000, code: 'expiry_failed', work: () => this.#ifFirst(() => this.expire()) },
      { everyMs: 1_000, code: 'feedback_failed', work: () => this.#feedback.retell(this.#stopping.signal) },
      { everyMs: 5_000, code: 'retention_failed', work: () => this.#ifFirst(() => this.purge()) },
      { everyMs: 60_000, code: 'collection_failed', work: () => this.collect() },
      { everyMs: 60_000, code: 'compaction_failed', work: () => this.compact() },
      { everyMs: 60_000, code: 'journal_failed', work: () => this.#record.write() },
    ];
    await Promise.all(chores.map((chore) => this.#repeat(chore)));
    await this.#record.write(true).catch((error) => this.#deps.fault('journal_failed', error));
  }

  /** Stops after the current chore. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Reclaims what lapsed leases have left; with `seize`, what any earlier process left. */
  async reclaim(seize: boolean): Promise<void> {
    const { store, random, events, settings } = this.#deps;
    // After a clock jump or a long pause our own leases come first: they are alive, only late.
    if (!seize) await this.#leases.renew();
    let first = seize;
    let any = false;
    for (;;) {
      const { retry: policy } = settings();
      const options = {
        seize: first,
        policy,
        dice: random.next(),
        limit: BATCH,
        longestLeaseMs: LONGEST_LEASE_MS,
      };
      const { released, unknown, more } = await store.reclaim(options, this.#stamp());
      first = false;
      any ||= released + unknown > 0;
      if (released + unknown > 0) events.emit({ type: 'reclaimed', released, unknown });
      if (!more || this.#stopping.signal.aborted) break;
    }
    if (any) this.#dispatch.stirAll();
  }

  /** Fails deliveries that have expired, and reports on them. */
  async expire(): Promise<void> {
    const { store, events } = this.#deps;
    for (;;) {
      const found = await store.expiring(BATCH, this.#stamp());
      if (found.length === 0 || this.#stopping.signal.aborted) return;
      const { any, waits } = await expireAndReport(found, {
        store,
        reports: this.#reports,
        own: (message) => this.#feedback.ofExpiry(message),
        events,
        at: () => this.#stamp(),
      });
      for (const { lane, dueAt } of waits) {
        this.#leases.want(lane);
        this.#dispatch.expect(lane, dueAt);
      }
      // Deliveries leased meanwhile are looked at in the next round.
      if (!any) return;
    }
  }

  /** Removes what is past its retention. Runs often, so that a retention of zero takes effect within seconds. */
  async purge(): Promise<void> {
    const { store, settings } = this.#deps;
    let more = true;
    while (more && !this.#stopping.signal.aborted) {
      const answer = await store.purge(settings().retention, BATCH, this.#stamp());
      ({ more } = answer);
      this.#record.add('retention', { contents: answer.contents, records: answer.records });
    }
  }

  /** Removes segments that nothing refers to. */
  async collect(): Promise<void> {
    await this.#collection.run(() => this.#unlinkDead());
  }

  /** Empties segments with few live contents. */
  async compact(): Promise<void> {
    try {
      await this.#compaction.round(this.#stopping.signal);
    } catch (error) {
      // It continues when there is room again.
      if (!(error instanceof SpoolError && error.code === 'spool_full')) throw error;
    }
  }

  async #ifFirst(work: () => Promise<void>): Promise<void> {
    if (this.#membership.isFirst) await work();
  }

  async #unlinkDead(): Promise<void> {
    const { store, spool } = this.#deps;
    // The order matters: a segment that is idle now has no undecided append, so the store's later answer is final.
    const candidates = await spool.idle();
    const live = await store.liveSegments(candidates);
    const dead = candidates.filter(
      (segment) => (live.get(segment) ?? 0) === 0 && !this.#compaction.mustStay(segment),
    );
    if (dead.length === 0) return;
    await spool.unlink(dead);
    await store.forgetSegments(dead);
  }

  /** Suspends intake while the disk is critically full, and resumes it. */
  async checkDisk(): Promise<void> {
    const space = await this.#deps.spool.space();
    this.#gate.set('disk_full', space !== null && space.freeBytes < this.#deps.settings().diskCriticalBytes);
  }

  async #repeat(chore: Chore): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        await chore.work();
      } catch (error) {
        this.#deps.fault(chore.code, error);
      }
      await this.#deps.clock.sleep(chore.everyMs, this.#stopping.signal);
    }
  }

  #stamp() {
    return { node: this.#deps.node, now: this.#deps.clock.wall() };
  }
}

/** Most reports in memory at the same time. */
const AT_ONCE = 16;

/** A message about to expire, and the report owed to its sender. */
interface Ready {
  readonly message: ExpiringMessage;
  readonly report: WrittenReport | null;
}

interface ExpiryDeps {
  readonly store: Store;
  readonly reports: Reports;
  /** What the expiry of a message may mean for the suppression list. */
  readonly own: (message: ExpiringMessage) => OwnBounces | undefined;
  readonly events: Pick<Events, 'emit'>;
  readonly at: () => Stamp;
}

/** The result: whether anything expired, and the reports that now wait. */
interface Expired {
  readonly any: boolean;
  readonly waits: readonly Wait[];
}

/**
 * Fails expired deliveries, each message with the report owed to its sender. A message whose report finds no room waits
 * for another round, which loses nothing. Rejects with the store's error.
 */
async function expireAndReport(
  found: readonly ExpiringMessage[],
  { store, reports, own, events, at }: ExpiryDeps,
): Promise<Expired> {
  const ready: Ready[] = [];
  let answers: readonly boolean[] = [];
  try {
    for (let start = 0; start < found.length; start += AT_ONCE) {
      const slice = found.slice(start, start + AT_ONCE);
      await Promise.all(slice.map((message) => prepare(message, reports, ready)));
    }
    const expiries = ready.map(({ message, report }) => expiryOf(message, report, own(message)));
    answers = await store.expire(expiries, at());
  } finally {
    for (const [place, { report }] of ready.entries()) reports.decided(report, answers[place] === true);
  }
  const ended = ready.filter((_, place) => answers[place] === true);
  for (const { message } of ended) events.emit(expiredEvent(message));
  const waits = ended.flatMap(({ report }) => (report === null ? [] : reports.announce(report)));
  return { any: answers.includes(true), waits };
}

function expiredEvent({ messageId, keyId, tags, deliveries }: ExpiringMessage): Event {
  const recipients = deliveries.map(({ recipient: { address }, relay }) => ({ address, relay }));
  return { type: 'expired', messageId, keyId, tags, recipients };
}

async function prepare(message: ExpiringMessage, reports: Reports, ready: Ready[]): Promise<void> {
  const owed = owedByExpiry(message);
  try {
    ready.push({ message, report: owed && (await reports.write(message, owed)) });
  } catch (error) {
    if (!(error instanceof SpoolError)) throw error;
  }
}

function expiryOf(
  { messageId, deliveries }: ExpiringMessage,
  report: WrittenReport | null,
  own: OwnBounces | undefined,
): Expiry {
  const indexes = deliveries.map(({ index }) => index);
  return { messageId, indexes, report: report?.record ?? null, ...(own && { own }) };
}

/** Messages whose words one transaction indexes: a few milliseconds of the store. */
const INDEX_BATCH = 100;
/**
 * The pause between two batches, as a multiple of the last batch's time: nine tenths of the store stay free for others.
 */
const REST = 9;
/** The shortest such pause, in ms. */
const MIN_REST_MS = 5;

interface IndexingDeps {
  readonly store: Pick<Store, 'index'>;
  readonly clock: Pick<Clock, 'mono' | 'sleep'>;
  readonly events: Pick<Events, 'on'>;
}

/** Indexes the words of messages for search. */
export class Indexing {
  readonly #deps: IndexingDeps;
  /** There may be words to index: from before the start, or accepted since the last look. */
  #isBehind = true;

  constructor(deps: IndexingDeps) {
    this.#deps = deps;
    deps.events.on((event) => {
      if (event.type === 'accepted') this.#isBehind = true;
    });
  }

  /**
   * Indexes until nothing is left; asks nothing of the store if nothing was accepted. On a busy store a batch waits
   * long, and so does the next one: accepting and delivering mail comes first.
   */
  async catchUp(signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#deps;
    while (this.#isBehind && !signal.aborted) {
      const start = clock.mono();
      // Mail accepted from here on may miss this batch. It waits for the next round, to save a commit for each.
      this.#isBehind = false;
      const { more } = await store.index(INDEX_BATCH).catch((error: unknown) => {
        this.#isBehind = true;
        throw error;
      });
      if (!more) return;
      this.#isBehind = true;
      await clock.sleep(Math.max(MIN_REST_MS, REST * (clock.mono() - start)), signal);
    }
  }
}
