import type { Clock } from '../lib/clock.ts';
import { GuardedThread, NoAnswer } from '../lib/guarded-thread.ts';
import { type Finding, type MailDraft, NO_WAY, type Preflight, type Way } from './contract.ts';

/** Larger messages are not checked. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Messages that may wait; further ones are not checked. */
const MAX_WAITING = 64;
/** How long one message may take; no genuine one does. */
const TIME_LIMIT_MS = 5_000;
const MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

/** What the thread is asked. */
export interface Question {
  readonly subject: { readonly bytes: Uint8Array } | { readonly draft: MailDraft };
  readonly way: Way;
}

/** What it answers. */
export type Answer = { readonly findings: readonly Finding[] } | { readonly fault: string };

/** Limits, for tests that go past them. */
export interface PreflighterLimits {
  readonly maxBytes?: number;
  readonly maxWaiting?: number;
  readonly timeLimitMs?: number;
}

/** Checks messages before they are sent, away from the loop: none can cost others anything but a wait. */
export class Preflighter implements Preflight {
  readonly #maxBytes: number;
  readonly #thread: GuardedThread<Question, Answer>;

  constructor(clock: Clock, limits: PreflighterLimits = {}) {
    this.#maxBytes = limits.maxBytes ?? MAX_BYTES;
    this.#thread = new GuardedThread(new URL('./preflight-worker', import.meta.url), clock, {
      maxWaiting: limits.maxWaiting ?? MAX_WAITING,
      timeLimitMs: limits.timeLimitMs ?? TIME_LIMIT_MS,
      memory: MEMORY,
    });
  }

  async message(
    sizeBytes: number,
    load: () => Uint8Array | Promise<Uint8Array>,
    way: Way,
  ): Promise<readonly Finding[]> {
    if (sizeBytes > this.#maxBytes) return [unchecked(`it has over ${this.#maxBytes} bytes`)];
    return await this.#ask(async () => ({ subject: { bytes: await load() }, way }));
  }

  async draft(draft: MailDraft): Promise<readonly Finding[]> {
    return await this.#ask(() => ({ subject: { draft }, way: NO_WAY }));
  }

  /** Ends the thread, and what it checks. */
  close(): Promise<void> {
    return this.#thread.close();
  }

  async #ask(load: () => Question | Promise<Question>): Promise<readonly Finding[]> {
    try {
      const answer = await this.#thread.ask(load);
      return 'findings' in answer ? answer.findings : [unchecked(answer.fault)];
    } catch (error) {
      if (error instanceof NoAnswer) return [unchecked(REASONS[error.why])];
      throw error;
    }
  }
}

const REASONS: Readonly<Record<NoAnswer['why'], string>> = {
  busy: 'too many others are being checked; try again',
  too_slow: 'that takes too long',
  died: 'that needs too much memory',
};

function unchecked(why: string): Finding {
  return {
    code: 'unchecked',
    severity: 'warning',
    where: '',
    detail: `What the message says was not checked: ${why}.`,
    fix: 'Make it smaller and plainer, and check it again.',
  };
}
