import type { Clock } from '../lib/clock.ts';
import { type Spool, SpoolError, type SpoolRecord } from '../spool/spool.ts';
import type { Journal } from '../store/journal.ts';
import type { Store } from '../store/store.ts';
import type { Relocation } from '../store/upkeep.ts';
import type { EngineSettings } from './contract.ts';
import { isAmbiguous } from './persist.ts';

interface CompactionDeps {
  readonly store: Store;
  readonly spool: Spool;
  readonly clock: Clock;
  readonly node: string;
  readonly settings: () => Pick<EngineSettings, 'compactBelowPercent'>;
  readonly collection: Collection;
  readonly record: UpkeepRecord;
}

/** Records looked at in one step, and bytes copied in one; a larger message is copied alone. */
const STEP_RECORDS = 200;
const STEP_BYTES = 1024 * 1024;
/** Free disk space that must remain besides the copies. */
const MARGIN_BYTES = 64 * 1024 * 1024;
/** The pause after each step, which limits copying to 4 MiB a second and leaves the disk to others. */
const PAUSE_MS = 250;
/** How long a reference that was read before it moved may still be followed. */
const STAY_MS = 5 * 60_000;
/** When a segment is tried again of which something could not be moved, because it was leased or damaged. */
const AGAIN_MS = 60 * 60_000;

interface Total {
  contents: number;
  bytes: number;
}

/**
 * Empties segments with few live contents: copies them to where new mail is written, then moves the references, and
 * leaves the rest to the collector. Until a reference has moved, the old bytes are valid; from then on, the new ones. A
 * crash leaves copies that nothing refers to.
 */
export class Compaction {
  readonly #deps: CompactionDeps;
  /** Until when (monotonic ms) a segment must stay although nothing refers to it. */
  readonly #stay = new Map<number, number>();
  /** When (monotonic ms) a segment that still exists was last processed. */
  readonly #tried = new Map<number, number>();

  constructor(deps: CompactionDeps) {
    this.#deps = deps;
  }

  /** Whether a segment that nothing refers to may still be read. */
  mustStay(segment: number): boolean {
    const until = this.#stay.get(segment);
    if (until === undefined) return false;
    if (this.#deps.clock.mono() < until) return true;
    this.#stay.delete(segment);
    return false;
  }

  /** Processes every segment that is worth it, at a pace that disturbs nobody, until told to stop. */
  async round(signal: AbortSignal): Promise<void> {
    for (const { segment, bytes } of await this.#candidates()) {
      if (signal.aborted) return;
      if ((await this.#hasRoomFor(bytes)) && !(await this.#compact(segment, signal))) return;
    }
  }

  /** Empties these segments, however much is live in them; what cannot be moved now stays. */
  async empty(segments: readonly number[], signal: AbortSignal): Promise<void> {
    const { store, spool } = this.#deps;
    const idle = new Set(await spool.idle());
    const use = await store.segmentUse(segments);
    for (const segment of segments) {
      if (signal.aborted) return;
      const { live, bytes } = use.get(segment) ?? { live: 0, bytes: 0 };
      if (!idle.has(segment) || live === 0 || !(await this.#hasRoomFor(bytes))) continue;
      if (!(await this.#compact(segment, signal))) return;
    }
  }

  /**
   * Room for that many bytes of copies, while the originals still exist: compaction must not fill the disk that it is
   * to free.
   */
  async #hasRoomFor(bytes: number): Promise<boolean> {
    const space = await this.#deps.spool.space();
    return space === null || space.freeBytes - bytes >= MARGIN_BYTES;
  }

  /** Segments with the least to copy come first: they free most for their cost. */
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

  /** False: interrupted, because the spool is held or we are stopping. */
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

  /** False: interrupted. */
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

  /** Copies contents and makes their messages refer to the copies. Returns those that moved. */
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
      // Before the references move: a reader that already has one needs the old place.
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

  /** A record's contents; null if they are damaged, which moving must not hide. */
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

/** Serializes what removes or moves bytes in the spool, and pauses it while a copy of the spool is made. */
export class Collection {
  #holders = 0;
  #steps: Promise<unknown> = Promise.resolve();

  /** Runs a step after the earlier ones. False: not run, because the spool is held. */
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

  /** Holds the spool as it is, except for appends, until the returned function is called. */
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

/** What upkeep does on its own, as the journal names it. */
type UpkeepAction = 'retention' | 'compaction';

/** What was done, by name, such as `contents`. */
type Counts = Readonly<Record<string, number>>;

/** Upkeep works in many small steps; the journal has one entry per hour for them. */
const EVERY_MS = 3_600_000;

/** Sums up upkeep and journals it: one entry per hour and action, if there was anything. */
export class UpkeepRecord {
  readonly #journal: Pick<Journal, 'record'> | null;
  readonly #clock: Clock;
  readonly #sums = new Map<UpkeepAction, { readonly since: number; readonly counts: Map<string, number> }>();

  constructor(journal: Pick<Journal, 'record'> | null, clock: Clock) {
    this.#journal = journal;
    this.#clock = clock;
  }

  add(action: UpkeepAction, counts: Counts): void {
    if (Object.values(counts).every((count) => count === 0)) return;
    const sum = this.#sums.get(action) ?? { since: this.#clock.mono(), counts: new Map<string, number>() };
    this.#sums.set(action, sum);
    for (const [name, count] of Object.entries(counts))
      sum.counts.set(name, (sum.counts.get(name) ?? 0) + count);
  }

  /** Writes what is an hour old, or everything with `all`. What cannot be written is kept for the next time. */
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
        // Put back, along with what may have been added meanwhile.
        this.add(action, Object.fromEntries(counts));
        throw error;
      }
    }
  }
}
