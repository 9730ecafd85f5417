import type { Clock } from '../lib/clock.ts';
import type { QueueLimits } from '../store/store.ts';
import type { Suspension } from './intake.ts';
import type { EngineSettings } from './settings.ts';

/** How long a full queue is believed to be full without asking the store again, in ms. */
const REMEMBER_MS = 1_000;
/** How many keys with full queues are remembered; of more, the store tells each time. */
const MAX_KEYS = 1_000;

const FULL: Readonly<Record<'all' | 'key', Suspension>> = {
  all: {
    code: 'queue_limit',
    detail:
      'The queue of this server is full: too many bytes of mail wait to be delivered. Try again later, or have limits.max_queued_bytes raised.',
    retryAfterSeconds: 30,
  },
  key: {
    code: 'queue_limit',
    detail:
      'The queue of this API key is full: too many of its messages wait to be delivered. Try again later, or have limits.max_queued_per_key raised.',
    retryAfterSeconds: 30,
  },
};

/**
 * The limits of the queue, and for a moment whose queue was found full, so that a flood is refused before its
 * bodies are read.
 */
export class QueueRoom {
  readonly #clock: Clock;
  readonly #settings: () => EngineSettings;
  #defaultBytes = Number.MAX_SAFE_INTEGER;
  #allUntil = Number.NEGATIVE_INFINITY;
  /** By key, until when (monotonic ms) it is believed to be full; the longest known first. */
  readonly #keysUntil = new Map<string, number>();

  constructor(clock: Clock, settings: () => EngineSettings) {
    this.#clock = clock;
    this.#settings = settings;
  }

  /** Sets what holds without a configured size: half of what is free when the queue is empty. */
  measure(freeBytes: number, queuedBytes: number): void {
    this.#defaultBytes = Math.floor((freeBytes + queuedBytes) / 2);
  }

  /** How much may wait. */
  limits(): QueueLimits {
    const { maxBytes, maxMessagesPerKey } = this.#settings().queue;
    return { maxBytes: maxBytes ?? this.#defaultBytes, maxMessagesPerKey };
  }

  /** Remembers whose queue is full; returns what its sender is told. */
  noteFull(whose: 'all' | 'key', keyId: string | null): Suspension {
    const until = this.#clock.mono() + REMEMBER_MS;
    if (whose === 'all') this.#allUntil = until;
    else if (keyId !== null) this.#remember(keyId, until);
    return FULL[whose];
  }

  /** What a sender is told without asking the store; null when there may be room. */
  suspension(keyId: string | null): Suspension | null {
    const now = this.#clock.mono();
    if (now < this.#allUntil) return FULL.all;
    const until = keyId === null ? undefined : this.#keysUntil.get(keyId);
    return until !== undefined && now < until ? FULL.key : null;
  }

  #remember(keyId: string, until: number): void {
    this.#keysUntil.delete(keyId);
    this.#keysUntil.set(keyId, until);
    const [oldest] = this.#keysUntil.keys();
    if (this.#keysUntil.size > MAX_KEYS && oldest !== undefined) this.#keysUntil.delete(oldest);
  }
}
