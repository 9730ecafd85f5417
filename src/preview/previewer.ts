import type { Clock } from '../lib/clock.ts';
import { GuardedThread, NoAnswer } from '../lib/guarded-thread.ts';
import { type ParsedMessage, PreviewError } from './parsed.ts';

/** Larger messages are not previewed. */
const MAX_PREVIEW_BYTES = 32 * 1024 * 1024;
/** Messages that may wait; further ones are refused. */
const MAX_WAITING = 64;
/** How long one message may take; no genuine one does. */
const TIME_LIMIT_MS = 10_000;
const MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

type FromWorker = { readonly message: ParsedMessage } | { readonly fault: string };

/** Limits, for tests that go past them. */
export interface PreviewerLimits {
  readonly maxBytes?: number;
  readonly maxWaiting?: number;
  readonly timeLimitMs?: number;
}

const REFUSALS: Readonly<Record<NoAnswer['why'], readonly [PreviewError['code'], string]>> = {
  busy: ['busy', 'Too many messages are being read; try again.'],
  too_slow: ['too_slow', 'Reading the message takes too long; download it.'],
  died: ['unreadable', 'The message cannot be read within the memory a preview may have.'],
};

/** Reads messages for people, away from the loop. */
export class Previewer {
  readonly #maxBytes: number;
  readonly #thread: GuardedThread<Uint8Array, FromWorker>;

  constructor(clock: Clock, limits: PreviewerLimits = {}) {
    this.#maxBytes = limits.maxBytes ?? MAX_PREVIEW_BYTES;
    this.#thread = new GuardedThread(new URL('./preview-worker', import.meta.url), clock, {
      maxWaiting: limits.maxWaiting ?? MAX_WAITING,
      timeLimitMs: limits.timeLimitMs ?? TIME_LIMIT_MS,
      memory: MEMORY,
    });
  }

  /**
   * Reads a message of this size, whose bytes are loaded when its turn has come: what waits is not in memory. Throws
   * {@link PreviewError}, and whatever loading throws.
   */
  async read(sizeBytes: number, load: () => Promise<Uint8Array>): Promise<ParsedMessage> {
    if (sizeBytes > this.#maxBytes)
      throw new PreviewError(
        'too_large',
        `Messages over ${this.#maxBytes} bytes are not read for a preview; download it.`,
      );
    const told = await this.#thread.ask(load).catch((error: unknown) => {
      throw error instanceof NoAnswer ? new PreviewError(...REFUSALS[error.why]) : error;
    });
    if ('fault' in told) throw new PreviewError('unreadable', told.fault);
    return told.message;
  }

  /** Ends the thread, and what it reads. */
  close(): Promise<void> {
    return this.#thread.close();
  }
}
