import type { LogPlace } from '../../domain/log-place.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Applying } from '../applying.ts';
import type { Configuring } from '../configuring.ts';
import { around, VIEWS } from '../forwarding.ts';
import type { Registry } from '../registry.ts';
import { StoreError } from '../store.ts';
import type { Views } from '../views.ts';
import type { SureRoom } from './room.ts';

/** Logged facts are written into the database once this many have gathered, */
const MANY_FACTS = 1_200;
/** or this many characters, */
const MANY_CHARACTERS = 2 * 1024 * 1024;
/** or after this many ms. */
const SOON_MS = 150;
/** A failed write is retried after this many ms. */
const RETRY_MS = 1_000;

/** When facts are written into the database without being asked for. */
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
  readonly applying: Pick<Applying, 'apply'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly room: SureRoom;
  /** Called with the place up to which everything was written. */
  readonly applied: (end: LogPlace) => void;
}

/**
 * Writes the facts of the log into the database, in order, some hundred messages per transaction. Callers of the
 * database await `write` first.
 */
export class WrittenBehind {
  readonly #deps: BehindDeps;
  readonly #manyFacts: number;
  readonly #soonMs: number;
  readonly #stop = new AbortController();
  /** Chunks that the database has not acknowledged, the oldest first; `#sent` of them were sent. */
  readonly #chunks: Chunk[] = [];
  #sent = 0;
  #facts = 0;
  #characters = 0;
  /** Counts failures: what was sent before one is sent again. */
  #era = 0;
  #end: LogPlace;
  /** The place up to which facts were sent. */
  #sentEnd: LogPlace;
  /** The place up to which the database has acknowledged. */
  #appliedEnd: LogPlace;
  #last: Promise<void> = Promise.resolve();
  #waits = false;
  /** The last failure, by which everything sent behind it has failed too; null: there was none. */
  #failure: unknown = null;
  /** The last failure has not been retried yet. */
  #failed = false;
  #isIll = false;

  /** `end`: everything before it is applied. */
  constructor(deps: BehindDeps, end: LogPlace, { facts = MANY_FACTS, ms = SOON_MS }: BehindTerms) {
    this.#deps = deps;
    this.#end = end;
    this.#sentEnd = end;
    this.#appliedEnd = end;
    this.#manyFacts = facts;
    this.#soonMs = ms;
  }

  /** Characters that are in the log but not in the database. */
  get characters(): number {
    return this.#characters;
  }

  /** The last write failed. */
  get isIll(): boolean {
    return this.#isIll;
  }

  /** Adds facts that are now durable. */
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
   * Sends the log's facts to the database. Resolves when all of them are there; rejects with `StoreError`, and they
   * will be sent again.
   */
  write(): Promise<void> {
    if (this.#sent < this.#chunks.length || this.#failed) this.#send();
    return this.#last;
  }

  /** Asks how much of the queue is used, after all that is in the log. */
  ask(): void {
    this.#send();
  }

  /** Writes what is left, and then ends. */
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
        if (era !== this.#era) return this.#writtenAfterAll(end);
        learn(use);
        this.#written(count, end);
      },
      (error: unknown) => {
        if (era !== this.#era) throw isTooEarly(error) ? this.#failure : error;
        this.#failedBy(error);
        throw error;
      },
    );
    this.#last.catch(() => {});
  }

  #written(count: number, end: LogPlace): void {
    this.#drop(count, end);
    this.#isIll = false;
    if (this.#isMuch && this.#sent === 0) void this.write();
  }

  /**
   * The database took what was sent behind something that failed: that had no facts, or was there all the same. To be sent
   * again from an earlier place would be refused for ever.
   */
  #writtenAfterAll(end: LogPlace): void {
    const count = this.#chunks.findIndex((chunk) => chunk.end === end) + 1;
    if (count === 0) return;
    this.#drop(count, end);
    if (this.#sent === 0) this.#sentEnd = end;
  }

  #drop(count: number, end: LogPlace): void {
    for (const { facts, characters } of this.#chunks.splice(0, count)) {
      this.#facts -= facts.length;
      this.#characters -= characters;
    }
    this.#sent = Math.max(0, this.#sent - count);
    this.#appliedEnd = end;
    this.#deps.applied(end);
  }

  #failedBy(error: unknown): void {
    this.#failure = error;
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

/** Whether the database refused facts because those before them are not there. */
function isTooEarly(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'store_busy';
}

/** Resolves when everything that was answered is in the database. */
type Written = () => Promise<void>;

/**
 * Views that show everything answered before they were called. While the disk has no room for that, views of many
 * messages show what the database has; a view of one message that may be missing there fails, since it would claim that
 * the message does not exist.
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

/** The same, for changes that may remove relays among others. */
export function configuringBehind(written: Written, configuring: Configuring): Configuring {
  return {
    ...configuring,
    configure: async (...args) => {
      await written();
      return await configuring.configure(...args);
    },
  };
}
