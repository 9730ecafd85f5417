import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { Events } from '../observe/events.ts';
import { type Spool, SpoolError } from '../spool/spool.ts';
import type { ExpiringMessage, Stamp, Store } from '../store/store.ts';
import type { Collection, Compaction, UpkeepRecord } from './compaction.ts';
import type { EngineSettings } from './contract.ts';
import type { Dispatch } from './dispatch.ts';
import type { Leases } from './leases.ts';
import type { Membership } from './membership.ts';
import type { Wait } from './persist.ts';
import type { Gate, QueueRoom } from './queue-room.ts';
import { owedByExpiry } from './report-policy.ts';
import type { Reports, WrittenReport } from './reports.ts';

/** How many deliveries or messages one transaction of the sweep may touch: none may hold the store for long. */
const BATCH = 500;

/** What the sweep needs. */
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

/** What must happen without being asked: leases that ended, expiry, retention, room on the disk. */
export class Sweep {
  readonly #deps: SweepDeps;
  readonly #dispatch: Dispatch;
  readonly #leases: Leases;
  readonly #gate: Gate;
  readonly #room: QueueRoom;
  readonly #reports: Reports;
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
    this.#dispatch = dispatch;
    this.#leases = leases;
    this.#gate = gate;
  }

  /** Does every chore in its turn until stopped. Resolves when stopped. */
  async run(): Promise<void> {
    const chores: readonly Chore[] = [
      { everyMs: 1_000, code: 'disk_check_failed', work: () => this.checkDisk() },
      { everyMs: 1_000, code: 'queue_check_failed', work: () => this.#room.lookIfFull() },
      { everyMs: 5_000, code: 'reclaim_failed', work: () => this.reclaim(false) },
      { everyMs: 1_000, code: 'indexing_failed', work: () => this.#indexing.catchUp(this.#stopping.signal) },
      // One node is enough for these. Two at a time, as one leaves its duties to another, do no harm.
      { everyMs: 5_000, code: 'expiry_failed', work: () => this.#ifFirst(() => this.expire()) },
      { everyMs: 5_000, code: 'retention_failed', work: () => this.#ifFirst(() => this.purge()) },
      { everyMs: 60_000, code: 'collection_failed', work: () => this.collect() },
      { everyMs: 60_000, code: 'compaction_failed', work: () => this.compact() },
      { everyMs: 60_000, code: 'journal_failed', work: () => this.#record.write() },
    ];
    await Promise.all(chores.map((chore) => this.#repeat(chore)));
    await this.#record.write(true).catch((error) => this.#deps.fault('journal_failed', error));
  }

  /** Stops after the chore under way. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Takes back what leases that ended have left; with `seize`, what any earlier process left. */
  async reclaim(seize: boolean): Promise<void> {
    const { store, random, events, settings } = this.#deps;
    // After a clock that jumped or a long pause our own leases come first: they are alive, only late.
    if (!seize) await this.#leases.renew();
    let first = seize;
    let any = false;
    for (;;) {
      const options = { seize: first, policy: settings().retry, dice: random.next(), limit: BATCH };
      const { released, unknown, more } = await store.reclaim(options, this.#stamp());
      first = false;
      any ||= released + unknown > 0;
      if (released + unknown > 0) events.emit({ type: 'reclaimed', released, unknown });
      if (!more || this.#stopping.signal.aborted) break;
    }
    if (any) this.#dispatch.stirAll();
  }

  /** Fails what waited beyond its time, and reports on it. */
  async expire(): Promise<void> {
    const { store } = this.#deps;
    for (;;) {
      const found = await store.expiring(BATCH, this.#stamp());
      if (found.length === 0 || this.#stopping.signal.aborted) return;
      const { any, waits } = await expireAndReport(found, {
        store,
        reports: this.#reports,
        at: () => this.#stamp(),
      });
      for (const { lane, dueAt } of waits) {
        this.#leases.want(lane);
        this.#dispatch.expect(lane, dueAt);
      }
      // What another took meanwhile is looked at in the next turn.
      if (!any) return;
    }
  }

  /** Removes what retention no longer keeps. Often, so that what is to be kept for no time goes within seconds. */
  async purge(): Promise<void> {
    const { store, settings } = this.#deps;
    let more = true;
    while (more && !this.#stopping.signal.aborted) {
      const answer = await store.purge(settings().retention, BATCH, this.#stamp());
      ({ more } = answer);
      this.#record.add('retention', { contents: answer.contents, records: answer.records });
    }
  }

  /** Removes the segments nothing refers to. */
  async collect(): Promise<void> {
    await this.#collection.run(() => this.#unlinkDead());
  }

  /** Empties segments of which little is referred to. */
  async compact(): Promise<void> {
    try {
      await this.#compaction.round(this.#stopping.signal);
    } catch (error) {
      // It goes on when there is room again.
      if (!(error instanceof SpoolError && error.code === 'spool_full')) throw error;
    }
  }

  async #ifFirst(work: () => Promise<void>): Promise<void> {
    if (this.#membership.isFirst) await work();
  }

  async #unlinkDead(): Promise<void> {
    const { store, spool } = this.#deps;
    // The order matters: what is idle now has no append undecided, so the store's later answer is final.
    const candidates = await spool.idle();
    const live = await store.liveSegments(candidates);
    const dead = candidates.filter(
      (segment) => (live.get(segment) ?? 0) === 0 && !this.#compaction.mustStay(segment),
    );
    if (dead.length === 0) return;
    await spool.unlink(dead);
    await store.forgetSegments(dead);
  }

  /** Suspends intake while the disk is critically full, and opens it again. */
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

/** Reports that are in memory at the same time. */
const AT_ONCE = 16;

/** A message that is to expire, and the report that its sender is owed. */
interface Ready {
  readonly message: ExpiringMessage;
  readonly report: WrittenReport | null;
}

/** What came of it: whether anything expired, and the reports that wait now. */
interface Expired {
  readonly any: boolean;
  readonly waits: readonly Wait[];
}

/**
 * Fails what waited beyond its time, each message with the report that its sender is owed. What there is no room to
 * report on waits for another turn: nothing is lost by that. Rejects with the store's error.
 */
async function expireAndReport(
  found: readonly ExpiringMessage[],
  { store, reports, at }: { readonly store: Store; readonly reports: Reports; readonly at: () => Stamp },
): Promise<Expired> {
  const ready: Ready[] = [];
  let answers: readonly boolean[] = [];
  try {
    for (let start = 0; start < found.length; start += AT_ONCE) {
      const slice = found.slice(start, start + AT_ONCE);
      await Promise.all(slice.map((message) => prepare(message, reports, ready)));
    }
    answers = await store.expire(ready.map(expiryOf), at());
  } finally {
    for (const [place, { report }] of ready.entries()) reports.decided(report, answers[place] === true);
  }
  const waits = ready.flatMap(({ report }, place) =>
    report !== null && answers[place] === true ? reports.announce(report) : [],
  );
  return { any: answers.includes(true), waits };
}

async function prepare(message: ExpiringMessage, reports: Reports, ready: Ready[]): Promise<void> {
  const owed = owedByExpiry(message);
  try {
    ready.push({ message, report: owed && (await reports.write(message, owed)) });
  } catch (error) {
    if (!(error instanceof SpoolError)) throw error;
  }
}

function expiryOf({ message: { messageId, deliveries }, report }: Ready) {
  return { messageId, indexes: deliveries.map(({ index }) => index), report: report?.record ?? null };
}

/** Messages whose words are entered by one transaction: a few milliseconds of the store. */
const INDEX_BATCH = 100;
/** Between two batches, so many times as long as the last one took: whoever else waits for the store has nine tenths of it. */
const REST = 9;
/** At least so long, in ms. */
const MIN_REST_MS = 5;

/** What entering words takes. */
interface IndexingDeps {
  readonly store: Pick<Store, 'index'>;
  readonly clock: Pick<Clock, 'mono' | 'sleep'>;
  readonly events: Pick<Events, 'on'>;
}

/** Enters the words of messages, so that they are found by them. */
export class Indexing {
  readonly #deps: IndexingDeps;
  /** Something may be left to enter: from before the start, or accepted since the last look. */
  #isBehind = true;

  constructor(deps: IndexingDeps) {
    this.#deps = deps;
    deps.events.on((event) => {
      if (event.type === 'accepted') this.#isBehind = true;
    });
  }

  /**
   * Enters words until there are none left to enter; asks nothing of the store when nothing has come. Where the store has
   * much to do a batch waits long for its turn, and so the next one comes late: mail is accepted and delivered first, and
   * found by words when there is time.
   */
  async catchUp(signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#deps;
    while (this.#isBehind && !signal.aborted) {
      const start = clock.mono();
      // What is accepted from here on may come too late for this batch. It waits for the next turn, not to cost a commit each.
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
