import type { LogPlace } from '../../domain/log-place.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Applying } from '../applying.ts';
import { around, VIEWS } from '../forwarding.ts';
import type { Registry } from '../registry.ts';
import { StoreError } from '../store.ts';
import type { Views } from '../views.ts';
import type { SureRoom } from './room.ts';

/** What of a log is not in the database yet is written there when so many facts have gathered, */
const MANY_FACTS = 1_200;
/** or so many characters of them, */
const MANY_CHARACTERS = 2 * 1024 * 1024;
/** or after so many ms. */
const SOON_MS = 150;
/** After a failure it is tried again after so many ms. */
const RETRY_MS = 1_000;

/** When facts are written into the database without anybody asking for it. */
export interface BehindTerms {
  readonly facts?: number;
  readonly ms?: number;
}

/** The facts of one flush. */
interface Chunk {
  readonly facts: readonly string[];
  readonly characters: number;
  readonly end: LogPlace;
}

/** What writing behind needs. */
interface BehindDeps {
  readonly applying: Applying;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly room: SureRoom;
  /** Told of what has been written: everything up to there. */
  readonly applied: (end: LogPlace) => void;
}

/**
 * Writes the facts of the log into the database, in order, some hundred messages in one transaction. Who asks the
 * database something awaits `write` first.
 */
export class WrittenBehind {
  readonly #deps: BehindDeps;
  readonly #manyFacts: number;
  readonly #soonMs: number;
  readonly #stop = new AbortController();
  /** What the database has not answered for, the oldest first; so many of them were sent. */
  readonly #chunks: Chunk[] = [];
  #sent = 0;
  #facts = 0;
  #characters = 0;
  /** Counts the failures: what was sent before one is sent again. */
  #era = 0;
  #end: LogPlace;
  /** Up to where has been sent. */
  #sentEnd: LogPlace;
  /** Up to where the database has said that it is applied. */
  #appliedEnd: LogPlace;
  #last: Promise<void> = Promise.resolve();
  #waits = false;
  /** What failed last has not been sent again. */
  #failed = false;
  #isIll = false;

  /** `end`: everything before it has been applied. */
  constructor(deps: BehindDeps, end: LogPlace, { facts = MANY_FACTS, ms = SOON_MS }: BehindTerms) {
    this.#deps = deps;
    this.#end = end;
    this.#sentEnd = end;
    this.#appliedEnd = end;
    this.#manyFacts = facts;
    this.#soonMs = ms;
  }

  /** Characters that are in the log and not in the database. */
  get characters(): number {
    return this.#characters;
  }

  /** The last answer was that it could not be written. */
  get isIll(): boolean {
    return this.#isIll;
  }

  /** Facts that are durable now. */
  logged(facts: readonly string[], end: LogPlace): void {
    const characters = facts.reduce((sum, text) => sum + text.length, 0);
    this.#chunks.push({ facts, characters, end });
    this.#facts += facts.length;
    this.#characters += characters;
    this.#end = end;
    if (this.#isMuch && this.#sent === 0) void this.write();
    else this.#writeIn(this.#soonMs);
  }

  /**
   * Sends what is in the log to the database. Resolves when all of it is there; rejects with `StoreError`, and it will be sent
   * again.
   */
  write(): Promise<void> {
    if (this.#sent < this.#chunks.length || this.#failed) this.#send();
    return this.#last;
  }

  /** Asks how much of the queue is used, behind all that is in the log. */
  ask(): void {
    this.#send();
  }

  /** Writes what is left, and then no more. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.write();
  }

  get #isMuch(): boolean {
    return this.#facts >= this.#manyFacts || this.#characters >= MANY_CHARACTERS;
  }

  #send(): void {
    const { applying, room } = this.#deps;
    const facts = this.#chunks.slice(this.#sent).flatMap((chunk) => chunk.facts);
    const count = this.#chunks.length - this.#sent;
    const era = this.#era;
    const from = this.#sentEnd;
    const end = this.#end;
    this.#sent = this.#chunks.length;
    this.#sentEnd = end;
    this.#failed = false;
    const learn = room.asking();
    this.#last = applying.apply(facts, from, end, room.keysToAsk()).then(
      (use) => {
        if (era !== this.#era) return;
        learn(use);
        this.#written(count, end);
      },
      (error: unknown) => {
        this.#failedIn(era);
        throw error;
      },
    );
    this.#last.catch(() => {});
  }

  #written(count: number, end: LogPlace): void {
    for (const { facts, characters } of this.#chunks.splice(0, count)) {
      this.#facts -= facts.length;
      this.#characters -= characters;
    }
    this.#sent -= count;
    this.#isIll = false;
    this.#appliedEnd = end;
    this.#deps.applied(end);
    if (this.#isMuch && this.#sent === 0) void this.write();
  }

  #failedIn(era: number): void {
    if (era !== this.#era) return;
    this.#era++;
    this.#sent = 0;
    this.#sentEnd = this.#appliedEnd;
    this.#failed = true;
    this.#isIll = true;
    this.#writeIn(RETRY_MS);
  }

  #writeIn(ms: number): void {
    if (this.#waits || !Number.isFinite(ms)) return;
    this.#waits = true;
    void this.#deps.clock.sleep(ms, this.#stop.signal).then(() => {
      this.#waits = false;
      if (!this.#stop.signal.aborted) void this.write();
    });
  }
}

/** Resolves when everything that was answered is in the database. */
type Written = () => Promise<void>;

/**
 * Views that show whatever was answered before they were asked. While the disk has no room for it, what is told of many messages
 * is what the database has; of one that may be missing there nothing is told, for it would be said not to exist.
 */
export function viewsBehind(written: Written, views: Views): Views {
  const after = async <T>(look: () => Promise<T>): Promise<T> => {
    await written();
    return await look();
  };
  const roughly = async <T>(look: () => Promise<T>): Promise<T> => {
    await written().catch((error: unknown) => {
      if (!(error instanceof StoreError) || error.code !== 'store_full') throw error;
    });
    return await look();
  };
  const looking = around<Omit<Views, 'close'>>(VIEWS, views, (view, look) =>
    view === 'message' || view === 'attempts' ? after(look) : roughly(look),
  );
  return { ...looking, close: () => views.close() };
}

/** A registry that knows of all mail when it is asked to remove a relay. */
export function registryBehind(written: Written, registry: Registry): Registry {
  return {
    ...registry,
    removeRelay: async (...args) => {
      await written();
      return await registry.removeRelay(...args);
    },
  };
}
