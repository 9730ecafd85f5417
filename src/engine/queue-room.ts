import type { Submission } from '../domain/message.ts';
import type { Clock } from '../lib/clock.ts';
import { NewestMap } from '../lib/newest-map.ts';
import {
  type AcceptAnswer,
  type AcceptWish,
  type Foresight,
  firstRefusal,
  type QueueLimits,
} from '../store/accepting.ts';
import type { Store } from '../store/store.ts';
import type { EngineSettings, Suspension } from './contract.ts';

/** How long a key's queue is believed to be full without asking the store again, in ms. */
const REMEMBER_MS = 1_000;
/** How many keys with full queues are remembered; for any other key the store is asked. */
const MAX_KEYS = 1_000;
/** A queue with less room than this, in bytes, counts as full: hardly any message is smaller. */
const SMALLEST_BYTES = 1_024;

const FULL: Readonly<Record<'all' | 'key' | 'tooLarge', Suspension>> = {
  all: {
    code: 'queue_limit',
    detail:
      'The queue of this server is full: too many bytes of mail wait to be delivered. Try again later, or ask the operator to raise limits.max_queued_bytes.',
    retryAfterSeconds: 30,
  },
  key: {
    code: 'queue_limit',
    detail:
      'This sender has too many messages waiting to be delivered. Try again later, or ask the operator to raise limits.max_queued_per_key.',
    retryAfterSeconds: 30,
  },
  tooLarge: {
    code: 'queue_limit',
    detail:
      'The message, or all messages of the request together, would be larger than this server’s whole queue may be. Send less at once, or ask the operator to raise limits.max_queued_bytes.',
    retryAfterSeconds: 3_600,
  },
};

interface QueueRoomDeps {
  readonly store: Pick<Store, 'foresee'>;
  readonly clock: Clock;
  readonly node: string;
  readonly settings: () => EngineSettings;
}

/** The answer to a submission before its contents are written; `fits`: they may be. */
export type Admission = Foresight['answer'];

/** A caller that waits for the store's foresight. */
interface Asking {
  readonly wishes: readonly AcceptWish[];
  /** All of them are admitted, or none. */
  readonly together: boolean;
  readonly answer: PromiseWithResolvers<readonly Admission[]>;
}

/** A queue that the store found full. */
export type QueueFull = Extract<AcceptAnswer, { readonly kind: 'queue_full' }>;

/**
 * The limits of the queue. Room is reserved before contents are written, so that a refused message leaves nothing on
 * the disk. A full queue is remembered for a moment, so that a flood is refused before its bodies are read. The store
 * decides in the end, and rarely refuses what room was foreseen for.
 */
export class QueueRoom {
  readonly #deps: QueueRoomDeps;
  readonly #budget = new Budget();
  /** Admitted, and not counted by the store yet. */
  readonly #admitted = new Set<AcceptWish>();
  readonly #asking: Asking[] = [];
  #busy = false;
  #defaultBytes = Number.MAX_SAFE_INTEGER;
  /** No message fits, whoever sends it. Holds until there is room. */
  #full = false;
  /** Until when (monotonic ms) a key's queue is believed to be full; the oldest entry first. */
  readonly #keysUntil = new NewestMap<string, number>(MAX_KEYS);

  constructor(deps: QueueRoomDeps) {
    this.#deps = deps;
  }

  /** Sets the default limit without a configured size: half of what is free when the queue is empty. */
  measure(freeBytes: number, queuedBytes: number): void {
    this.#defaultBytes = Math.floor((freeBytes + queuedBytes) / 2);
  }

  limits(): QueueLimits {
    const { maxBytes, maxMessagesPerKey } = this.#deps.settings().queue;
    return { maxBytes: maxBytes ?? this.#defaultBytes, maxMessagesPerKey };
  }

  /**
   * Reserves room for each of these, in order; synchronously if there surely is room. Room is held for each that fits
   * until {@link settled}. `together`: for all or none; if one is refused, all get its refusal. Rejects with
   * `StoreError`.
   */
  admit(
    wishes: readonly AcceptWish[],
    together = false,
  ): readonly Admission[] | Promise<readonly Admission[]> {
    if (wishes.length === 0) return [];
    // Spending while others wait for an answer could spend what they are being promised.
    if (!this.#busy && this.#budget.spend(wishes, this.limits())) {
      for (const wish of wishes) this.#admitted.add(wish);
      return wishes.map(() => FITS);
    }
    return this.#ask(wishes, together);
  }

  /** From here on the store counts these itself, or they were given up. */
  settled(wishes: readonly AcceptWish[]): void {
    for (const wish of wishes) this.#admitted.delete(wish);
  }

  /** Remembers whose queue is full; returns what the sender is told. */
  noteFull({ whose, tooLarge }: QueueFull, keyId: string | null): Suspension {
    if (tooLarge) return FULL.tooLarge;
    if (whose === 'key' && keyId !== null) this.#keysUntil.set(keyId, this.#deps.clock.mono() + REMEMBER_MS);
    return FULL[whose];
  }

  /** The store refused what was foreseen to fit: another submission was faster. */
  surprised(): void {
    this.#budget.distrust();
  }

  /** What a sender is told without asking the store; null if there may be room. */
  suspension(keyId: string | null): Suspension | null {
    if (this.#full) return FULL.all;
    const until = keyId === null ? undefined : this.#keysUntil.get(keyId);
    return until !== undefined && this.#deps.clock.mono() < until ? FULL.key : null;
  }

  /** Checks whether there is any room: at the start, and now and then while there is none. */
  async look(): Promise<void> {
    await this.#ask([NOTHING], false);
    this.settled([NOTHING]);
  }

  /** Checks again while nobody has room. */
  async lookIfFull(): Promise<void> {
    if (this.#full) await this.look();
  }

  #ask(wishes: readonly AcceptWish[], together: boolean): Promise<readonly Admission[]> {
    const answer = Promise.withResolvers<readonly Admission[]>();
    this.#asking.push({ wishes, together, answer });
    if (!this.#busy) void this.#answerAll();
    return answer.promise;
  }

  /** One question at a time, for all callers that arrived meanwhile. */
  async #answerAll(): Promise<void> {
    this.#busy = true;
    while (this.#asking.length > 0) {
      const asking = this.#nextAsking();
      const together = asking.some((one) => one.together);
      try {
        const all = asking.flatMap(({ wishes }) => wishes);
        const admissions = await this.#foresee(all, together);
        let place = 0;
        for (const { wishes, answer } of asking) {
          answer.resolve(admissions.slice(place, place + wishes.length));
          place += wishes.length;
        }
      } catch (error) {
        for (const { answer } of asking) answer.reject(error);
      }
    }
    this.#busy = false;
  }

  /** Those in front who ask for each of their wishes; or one who asks for all of its own. */
  #nextAsking(): Asking[] {
    const first = this.#asking.findIndex(({ together }) => together);
    return this.#asking.splice(0, first < 0 ? this.#asking.length : Math.max(1, first));
  }

  /** The store does not know yet of earlier admissions: they are foreseen once more, ahead of these. */
  async #foresee(wishes: readonly AcceptWish[], together: boolean): Promise<readonly Admission[]> {
    const { store, clock, node } = this.#deps;
    const limits = this.limits();
    const all = [...this.#admitted, ...wishes];
    const foresights = await store.foresee(all, { node, now: clock.wall() }, limits);
    const answers = foresights.slice(-wishes.length).map(({ answer }) => answer);
    const refusal = together ? firstRefusal(wishes, answers, limits) : null;
    if (refusal !== null) {
      // The room that the others would have taken stays free: what is left is asked anew.
      await this.#foresee([NOTHING], false);
      this.settled([NOTHING]);
      return answers.map(() => refusal);
    }
    this.#budget.learn(all, foresights, limits);
    const left = foresights.at(-1)?.bytesLeft ?? 0;
    this.#full = left < Math.min(SMALLEST_BYTES, limits.maxBytes);
    for (const [place, wish] of wishes.entries())
      if (answers[place]?.kind === 'fits') this.#admitted.add(wish);
    return answers;
  }
}

const FITS: Admission = { kind: 'fits' };

/** Asks how much room there is. */
const NOTHING: AcceptWish = { keyId: null, sizeBytes: 0, idempotency: null };

/** The room that a submission needs. */
export function wishOf({ keyId, content, idempotency }: Submission): AcceptWish {
  return { keyId, sizeBytes: content.sizeBytes, idempotency };
}

/** How many keys' budgets are remembered; for any other key the store is asked. */
const MAX_BUDGET_KEYS = 1_000;

/**
 * What the store last said there is room for, less what was admitted since: while it lasts, no question is needed. It
 * misses messages that end meanwhile, which errs on the safe side, and other nodes' mail, so the store still decides.
 */
class Budget {
  #limits: QueueLimits | null = null;
  #bytes = 0;
  /** Messages by key; the oldest entry first. */
  readonly #messages = new NewestMap<string, number>(MAX_BUDGET_KEYS);

  /** Spends what these need; false, with nothing spent, if it does not suffice or the limits have changed. */
  spend(wishes: readonly AcceptWish[], limits: QueueLimits): boolean {
    if (!this.#isUnder(limits)) return false;
    const needed = new Map<string, number>();
    let bytes = 0;
    for (const { keyId, sizeBytes } of wishes) {
      bytes += sizeBytes;
      if (keyId !== null) needed.set(keyId, (needed.get(keyId) ?? 0) + 1);
    }
    if (bytes > this.#bytes) return false;
    for (const [keyId, messages] of needed) if (messages > (this.#messages.get(keyId) ?? 0)) return false;
    this.#bytes -= bytes;
    for (const [keyId, messages] of needed)
      this.#messages.set(keyId, (this.#messages.get(keyId) ?? 0) - messages);
    return true;
  }

  /** Records what the store foresees under these limits, after all that it was asked for. */
  learn(wishes: readonly AcceptWish[], foresights: readonly Foresight[], limits: QueueLimits): void {
    if (!this.#isUnder(limits)) this.#messages.clear();
    this.#limits = limits;
    for (const [place, { bytesLeft, messagesLeft }] of foresights.entries()) {
      this.#bytes = bytesLeft;
      const keyId = wishes[place]?.keyId ?? null;
      if (keyId !== null) this.#messages.set(keyId, messagesLeft);
    }
  }

  /** The store refused what this had room for: it is asked before anything more is admitted. */
  distrust(): void {
    this.#limits = null;
  }

  #isUnder({ maxBytes, maxMessagesPerKey }: QueueLimits): boolean {
    return this.#limits?.maxBytes === maxBytes && this.#limits.maxMessagesPerKey === maxMessagesPerKey;
  }
}

const SUSPENSIONS = {
  shutting_down: { code: 'shutting_down', detail: 'The server is shutting down.', retryAfterSeconds: 10 },
  store_unavailable: {
    code: 'store_unavailable',
    detail: 'The server cannot store messages at the moment.',
    retryAfterSeconds: 5,
  },
  disk_full: {
    code: 'disk_full',
    detail: 'The server has no room for more messages at the moment.',
    retryAfterSeconds: 30,
  },
} as const satisfies Record<string, Suspension>;

/** A reason to suspend intake. */
type SuspensionReason = keyof typeof SUSPENSIONS;

/** Whether mail is accepted: yes, unless there is a reason against it. */
export class Gate {
  readonly #reasons = new Set<SuspensionReason>();

  /** Adds or removes a reason against accepting mail. */
  set(reason: SuspensionReason, holds: boolean): void {
    if (holds) this.#reasons.add(reason);
    else this.#reasons.delete(reason);
  }

  /** The weightiest reason; null if mail is accepted. */
  suspension(): Suspension | null {
    for (const reason of Object.keys(SUSPENSIONS) as SuspensionReason[])
      if (this.#reasons.has(reason)) return SUSPENSIONS[reason];
    return null;
  }

  /** What a submission is told that met this reason, whether or not it still holds. */
  static because(reason: SuspensionReason): Suspension {
    return SUSPENSIONS[reason];
  }
}
