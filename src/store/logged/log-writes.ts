import { type ContentRef, isLarge } from '../../domain/message.ts';
import { type FactLog, type SpoolEntry, SpoolError } from '../../spool/spool.ts';
import { StoreError } from '../store.ts';

/**
 * Writes to the log that are under way, and how they fail. What comes after the log waits for those that are in its
 * order: facts of small mail from the call on, facts of large mail once its contents are on the disk. Until then they
 * are undecided, like those of a call that is yet to come.
 */
export class LogWrites {
  readonly #log: Pick<FactLog, 'log'>;
  /** Those that are in the order of the log. */
  readonly #ordered = new Set<Promise<void>>();
  /** Those of large contents that are on their way to the disk. */
  readonly #large = new Set<Promise<void>>();
  #failure: StoreError | null = null;

  constructor(log: Pick<FactLog, 'log'>) {
    this.#log = log;
  }

  /**
   * Throws if the log can no longer be written: how much of its last flush is on disk is unknown, and nothing may
   * contradict it.
   */
  check(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  /** Large contents are being written, whose facts are not in the order of the log yet. */
  get hasLarge(): boolean {
    return this.#large.size > 0;
  }

  /** Resolves when the writes in the order of the log are done, or have failed. */
  async logged(): Promise<void> {
    if (this.#ordered.size > 0) await Promise.all(this.#ordered);
  }

  /** Resolves when all writes under way are done, or have failed. */
  async done(): Promise<void> {
    await Promise.all([...this.#ordered, ...this.#large]);
  }

  /** Writes as {@link FactLog.log} does. Rejects with `StoreError`; with `SpoolError` if there were contents. */
  async write(
    contents: readonly SpoolEntry[],
    facts: (refs: readonly ContentRef[]) => string | null,
  ): Promise<boolean> {
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const hasLarge = contents.some(({ content }) => isLarge(content.sizeBytes));
    (hasLarge ? this.#large : this.#ordered).add(end);
    try {
      return await this.#log.log(contents, (refs) => {
        if (this.#large.delete(end)) this.#ordered.add(end);
        return facts(refs);
      });
    } catch (error) {
      if (!(error instanceof SpoolError)) throw error;
      const failure = storeErrorOf(error);
      if (failure.code === 'store_failed') this.#failure = failure;
      throw contents.length === 0 ? failure : error;
    } finally {
      this.#ordered.delete(end);
      this.#large.delete(end);
      resolve();
    }
  }
}

/** The store error for a spool error of the log. */
function storeErrorOf(error: SpoolError): StoreError {
  switch (error.code) {
    case 'spool_full':
      return new StoreError('store_full', 'the log has no room', { cause: error });
    case 'spool_closed':
      return new StoreError('store_closed', 'the log is closed', { cause: error });
    default:
      return new StoreError('store_failed', 'the log can no longer be written', { cause: error });
  }
}
