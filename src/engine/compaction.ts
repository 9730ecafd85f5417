import type { Clock } from '../lib/clock.ts';
import { type Spool, SpoolError, type SpoolRecord } from '../spool/spool.ts';
import type { Journal } from '../store/journal.ts';
import type { Store } from '../store/store.ts';
import type { Relocation } from '../store/upkeep.ts';
import type { EngineSettings } from './contract.ts';
import { isAmbiguous } from './persist.ts';

/** What compaction needs. */
interface CompactionDeps {
  readonly store: Store;
  readonly spool: Spool;
  readonly clock: Clock;
  readonly node: string;
  readonly settings: () => Pick<EngineSettings, 'compactBelowPercent'>;
  readonly collection: Collection;
  readonly record: UpkeepRecord;
}

/** Records that are looked at in one step, and the bytes that are copied in one; a larger content goes alone. */
const STEP_RECORDS = 200;
const STEP_BYTES = 1024 * 1024;
/** The disk must have so much more room than the copies take. */
const MARGIN_BYTES = 64 * 1024 * 1024;
/** After each step others have the disk: at most 4 MiB a second are copied. */
const PAUSE_MS = 250;
/** Who was told a reference before it moved has so long to follow it. */
const STAY_MS = 5 * 60_000;
/** A segment of which something could not be moved, as it was in hand or damaged, is looked at again after this. */
const AGAIN_MS = 60 * 60_000;

/** What was moved. */
interface Total {
  contents: number;
  bytes: number;
}

/**
 * Empties segments of which little is referred to: their live contents are copied to where new mail is written, then
 * the references move, and what is left is for the collector. At any point before a reference has moved the old bytes
 * hold; after it the new ones do. A crash leaves copies that nobody refers to.
 */
export class Compaction {
  readonly #deps: CompactionDeps;
  /** Until when (monotonic ms) a segment must stay although nothing refers to it. */
  readonly #stay = new Map<number, number>();
  /** When (monotonic ms) a segment that is still there was last worked through. */
  readonly #tried = new Map<number, number>();

  constructor(deps: CompactionDeps) {
    this.#deps = deps;
  }

  /** Whether somebody may still be about to read in a segment that nothing refers to. */
  mustStay(segment: number): boolean {
    const until = this.#stay.get(segment);
    if (until === undefined) return false;
    if (this.#deps.clock.mono() < until) return true;
    this.#stay.delete(segment);
    return false;
  }

  /** Works through every segment that is worth it, at a pace that disturbs nobody, until told to stop. */
  async round(signal: AbortSignal): Promise<void> {
    for (const { segment, bytes } of await this.#candidates()) {
      if (signal.aborted) return;
      if ((await this.#hasRoomFor(bytes)) && !(await this.#compact(segment, signal))) return;
    }
  }

  /** For so many bytes of copies, beside what they are of, which goes only later: what is to free the disk must not fill it. */
  async #hasRoomFor(bytes: number): Promise<boolean> {
    const space = await this.#deps.spool.space();
    return space === null || space.freeBytes - bytes >= MARGIN_BYTES;
  }

  /** Those of which least is to be copied come first: they free most for what they cost. */
  async #candidates(): Promise<{ readonly segment: number; readonly bytes: number }[]> {
    const { store, spool, clock, settings } = this.#deps;
    const percent = settings().compactBelowPercent;
    if (percent === 0) return [];
    const idle = await spool.idle();
    const [use, sizes] = await Promise.all([store.segmentUse(idle), spool.sizes(idle)]);
    for (const segment of this.#tried.keys()) if (!sizes.has(segment)) this.#tried.delete(segment);
    const found = idle.flatMap((segment) => {
      const { live, bytes } = use.get(segment) ?? { live: 0, bytes: 0 };
      const size = sizes.get(segment) ?? 0;
      const tried = this.#tried.get(segment);
      if (tried !== undefined && clock.mono() - tried < AGAIN_MS) return [];
      return live > 0 && bytes * 100 < size * percent ? [{ segment, bytes }] : [];
    });
    return found.sort((one, other) => one.bytes - other.bytes);
  }

  /** False: broken off, because somebody holds the spool as it is or we are told to stop. */
  async #compact(segment: number, signal: AbortSignal): Promise<boolean> {
    const { spool, clock, record } = this.#deps;
    const total: Total = { contents: 0, bytes: 0 };
    let found: SpoolRecord[] = [];
    try {
      for await (const one of spool.records(segment)) {
        found.push(one);
        if (found.length < STEP_RECORDS) continue;
        if (!(await this.#moveLive(found, total, signal))) return false;
        found = [];
      }
      if (!(await this.#moveLive(found, total, signal))) return false;
      this.#tried.set(segment, clock.mono());
      return true;
    } finally {
      record.add('compaction', { segments: total.contents > 0 ? 1 : 0, ...total });
    }
  }

  /** False: broken off. */
  async #moveLive(records: readonly SpoolRecord[], total: Total, signal: AbortSignal): Promise<boolean> {
    const { clock, collection } = this.#deps;
    for (const step of inSteps(await this.#live(records))) {
      const run = await collection.run(async () => {
        for (const { to } of await this.#move(step)) {
          total.contents++;
          total.bytes += to.length;
        }
      });
      if (!run) return false;
      await clock.sleep(PAUSE_MS, signal);
      if (signal.aborted) return false;
    }
    return !signal.aborted;
  }

  async #live(records: readonly SpoolRecord[]): Promise<SpoolRecord[]> {
    const live = await this.#deps.store.relocatable(records);
    return records.filter((_, place) => live[place] === true);
  }

  /** Copies contents and lets their messages refer to the copies. Gives those that moved. */
  async #move(records: readonly SpoolRecord[]): Promise<Relocation[]> {
    const { store, spool, clock, node } = this.#deps;
    const copies = (await Promise.all(records.map((record) => this.#copyOf(record)))).filter(
      (copy) => copy !== null,
    );
    const refs = await spool.append(copies);
    const batch = copies.flatMap(({ messageId, from }, place): Relocation[] => {
      const to = refs[place];
      return to === undefined ? [] : [{ messageId, content: from, to }];
    });
    let decided = true;
    try {
      // Before the references move: whoever has read one by then needs the old place.
      for (const { content } of batch) this.#stay.set(content.segment, clock.mono() + STAY_MS);
      const moved = await store.relocate(batch, { node, now: clock.wall() });
      return batch.filter((_, place) => moved[place] === true);
    } catch (error) {
      decided = !isAmbiguous(error);
      throw error;
    } finally {
      if (decided) spool.decided(refs);
    }
  }

  /** A record's contents; null where they are damaged, which moving must not hide. */
  async #copyOf({ messageId, content: from, flags }: SpoolRecord) {
    try {
      const { sizeBytes, chunks } = await this.#deps.spool.read(from);
      const pieces: Uint8Array[] = [];
      for await (const piece of chunks()) pieces.push(piece);
      return { messageId, from, content: { chunks: pieces, sizeBytes, flags } };
    } catch (error) {
      if (
        error instanceof SpoolError &&
        (error.code === 'content_damaged' || error.code === 'content_missing')
      )
        return null;
      throw error;
    }
  }
}

function* inSteps(records: readonly SpoolRecord[]): Iterable<SpoolRecord[]> {
  let step: SpoolRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    if (step.length > 0 && bytes + record.content.length > STEP_BYTES) {
      yield step;
      step = [];
      bytes = 0;
    }
    step.push(record);
    bytes += record.content.length;
  }
  if (step.length > 0) yield step;
}

/**
 * Removing bytes from the spool, and moving them about there: one step after the other, and none while somebody copies
 * what lies in the spool.
 */
export class Collection {
  #holders = 0;
  #steps: Promise<unknown> = Promise.resolve();

  /** Runs a step when those before it have ended. False: it was not run, because the spool is held as it is. */
  async run(step: () => Promise<void>): Promise<boolean> {
    const before = this.#steps;
    const turn = Promise.withResolvers<void>();
    this.#steps = turn.promise;
    try {
      await before;
      if (this.#holders > 0) return false;
      await step();
      return true;
    } finally {
      turn.resolve();
    }
  }

  /** Keeps the spool as it is, but for what is appended, until what it resolves with is called. */
  async hold(): Promise<() => void> {
    this.#holders++;
    await this.#steps;
    let held = true;
    return () => {
      if (held) this.#holders--;
      held = false;
    };
  }
}

/** What upkeep does by itself, as the journal names it. */
type UpkeepAction = 'retention' | 'compaction';

/** What was done, by name, such as `contents`. */
type Counts = Readonly<Record<string, number>>;

/** Upkeep works in many small steps; the journal has one entry an hour for them. */
const EVERY_MS = 3_600_000;

/** Sums what upkeep does and writes it into the journal: an entry an hour for each action, where there was anything. */
export class UpkeepRecord {
  readonly #journal: Pick<Journal, 'record'> | null;
  readonly #clock: Clock;
  readonly #sums = new Map<UpkeepAction, { readonly since: number; readonly counts: Map<string, number> }>();

  constructor(journal: Pick<Journal, 'record'> | null, clock: Clock) {
    this.#journal = journal;
    this.#clock = clock;
  }

  /** Adds what was done just now. */
  add(action: UpkeepAction, counts: Counts): void {
    if (Object.values(counts).every((count) => count === 0)) return;
    const sum = this.#sums.get(action) ?? { since: this.#clock.mono(), counts: new Map<string, number>() };
    this.#sums.set(action, sum);
    for (const [name, count] of Object.entries(counts))
      sum.counts.set(name, (sum.counts.get(name) ?? 0) + count);
  }

  /** Writes what is an hour old, or with `all` everything. What cannot be written is tried again the next time. */
  async write(all = false): Promise<void> {
    if (this.#journal === null) return;
    const now = this.#clock.mono();
    for (const [action, { since, counts }] of [...this.#sums]) {
      if (!all && now - since < EVERY_MS) continue;
      this.#sums.delete(action);
      try {
        await this.#journal.record([
          {
            at: this.#clock.wall(),
            actorKind: 'service',
            actor: '',
            sourceAddress: null,
            action,
            subject: '',
            before: null,
            after: JSON.stringify(Object.fromEntries(counts)),
          },
        ]);
      } catch (error) {
        // Put back, with what may have come meanwhile.
        this.add(action, Object.fromEntries(counts));
        throw error;
      }
    }
  }
}
