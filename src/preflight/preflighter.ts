import type { Clock } from '../lib/clock.ts';
import { GuardedThread, NoAnswer } from '../lib/guarded-thread.ts';
import { checkMail } from './check.ts';
import { type Finding, type MailDraft, NO_WAY, OPERATORS, type Preflight, type Way } from './contract.ts';
import type { Mail } from './mail.ts';
import type { Found, Rule } from './rule.ts';
import { WAY_RULES } from './way-rules.ts';

/** Larger messages are not checked. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Messages that may wait; further ones are not checked. */
const MAX_WAITING = 64;
/** Of these, from one asker: a key's hostile messages must not keep others waiting. */
const MAX_OF_ONE = 4;
/** How long one message may take; no genuine one does. The thread may have to be started within it. */
const TIME_LIMIT_MS = 3_000;
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
  readonly maxOfOne?: number;
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
      maxOfOne: limits.maxOfOne ?? MAX_OF_ONE,
      timeLimitMs: limits.timeLimitMs ?? TIME_LIMIT_MS,
      memory: MEMORY,
    });
  }

  async message(
    sizeBytes: number,
    load: () => Uint8Array | Promise<Uint8Array>,
    way: Way,
    asker: string,
  ): Promise<readonly Finding[]> {
    if (sizeBytes > this.#maxBytes) return unchecked(`it has over ${this.#maxBytes} bytes`, sizeBytes, way);
    return await this.#ask(async () => ({ subject: { bytes: await load() }, way }), sizeBytes, way, asker);
  }

  async draft(draft: MailDraft): Promise<readonly Finding[]> {
    return await this.#ask(() => ({ subject: { draft }, way: NO_WAY }), null, NO_WAY, OPERATORS);
  }

  /** Ends the thread, and what it checks. */
  close(): Promise<void> {
    return this.#thread.close();
  }

  async #ask(
    load: () => Question | Promise<Question>,
    sizeBytes: number | null,
    way: Way,
    asker: string,
  ): Promise<readonly Finding[]> {
    try {
      const answer = await this.#thread.ask(load, asker);
      return 'findings' in answer ? answer.findings : unchecked(answer.fault, sizeBytes, way);
    } catch (error) {
      if (error instanceof NoAnswer) return unchecked(REASONS[error.why], sizeBytes, way);
      throw error;
    }
  }
}

/** What is found where no rule can look; it has a page, too. */
export const UNCHECKED: Omit<Rule, 'find'> = {
  code: 'unchecked',
  severity: 'warning',
  looksAt: 'the message',
  finds: 'one that is too large, or takes too long to check',
};

const REASONS: Readonly<Record<NoAnswer['why'], string>> = {
  busy: 'too many messages of this sender, or of all, are waiting to be checked; try again in a moment',
  too_slow: 'that takes too long',
  died: 'that needs too much memory',
};

/** What is found where a message cannot be checked, and what is known of its way all the same. */
function unchecked(why: string, sizeBytes: number | null, way: Way): Finding[] {
  const mail: Mail = {
    headers: [],
    subject: '',
    text: null,
    html: null,
    htmlBytes: 0,
    files: [],
    sizeBytes,
  };
  return checkMail(mail, way, [...WAY_RULES, { ...UNCHECKED, find: () => [uncheckedBecause(why)] }]);
}

function uncheckedBecause(why: string): Found {
  return {
    where: '',
    detail: `The content was not checked: ${why}.`,
    fix: 'Make it smaller and simpler, and check it again.',
  };
}
