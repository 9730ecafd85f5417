import type { Random } from '../../src/lib/random.ts';
import type { OpeningVerb } from '../../src/smtp/opening.ts';
import type { SmtpReply } from '../../src/smtp/reply.ts';
import type { SenderVerb } from '../../src/smtp/verdict.ts';
import { TIMEOUTS } from '../../src/transport/smtp/deadline.ts';
import type { Kind } from './seen.ts';

/** How ill the mail world is: chances in [0, 1], of every time that it could happen. */
export interface HopFaults {
  readonly refuseConnection: number;
  /** Nobody answers the connection. */
  readonly ignoreConnection: number;
  readonly refuseGreeting: number;
  readonly deferHello: number;
  readonly rejectHello: number;
  readonly deferSender: number;
  readonly rejectSender: number;
  /** Of each recipient. */
  readonly defer: number;
  readonly reject: number;
  readonly deferData: number;
  readonly rejectData: number;
  readonly deferAfterDot: number;
  readonly rejectAfterDot: number;
  /** 421 to anything. */
  readonly close: number;
  /** Lost before the final dot: proven not taken. */
  readonly dropBeforeDot: number;
  /** Lost after the final dot: taken or not, nobody tells us. */
  readonly dropAfterDot: number;
  /** An answer takes up to minutes, and may come after its time-out. */
  readonly dawdle: number;
}

/** A world without trouble. */
export const HEALTHY: HopFaults = {
  refuseConnection: 0,
  ignoreConnection: 0,
  refuseGreeting: 0,
  deferHello: 0,
  rejectHello: 0,
  deferSender: 0,
  rejectSender: 0,
  defer: 0,
  reject: 0,
  deferData: 0,
  rejectData: 0,
  deferAfterDot: 0,
  rejectAfterDot: 0,
  close: 0,
  dropBeforeDot: 0,
  dropAfterDot: 0,
  dawdle: 0,
};

/** A relay that nobody can connect to. */
export const DEAD: HopFaults = { ...HEALTHY, refuseConnection: 1 };

/** What a session's server does next: after a while it answers, or (null) is gone. */
export interface Answer {
  readonly afterMs: number;
  readonly reply: SmtpReply | null;
}

/** What comes of connecting. */
export interface Connecting {
  readonly afterMs: number;
  readonly kind: 'open' | 'refused' | 'ignored';
}

/** What a session needs of its world. */
export interface HopWorld {
  /** How ill it is at this moment. */
  readonly faults: () => HopFaults;
  readonly dice: Random;
  readonly note: (kind: Kind) => void;
  /** The message was taken for these; called so many ms after the final dot, whatever its sender does meanwhile. */
  readonly takeLater: (ms: number, recipients: readonly string[]) => void;
  /** It has refused this recipient for good; null: all of the message. */
  readonly refused?: (recipient: string | null) => void;
  /** What it answers to a recipient whatever else it does; absent, or null: nothing. */
  readonly refusal?: (recipient: string) => SmtpReply | null;
  /** It promises TLS for the rest of the way (REQUIRETLS). */
  readonly promisesTls?: boolean;
  /** What it calls the message that it takes; absent: nothing. */
  readonly queueId?: string;
}

const USUAL_MS = 120;
const CONNECT_MS = 60;
/** The longest that a server dawdles, of what its client waits: some answers come too late. */
const DAWDLING = 1.3;
const CAPABILITIES = ['hop.example', 'PIPELINING', 'SIZE 1000000', '8BITMIME', 'ENHANCEDSTATUSCODES'];

/** The verbs of a session that is open, and how each may be refused. */
const REFUSALS = {
  mail: { defer: 'deferSender', reject: 'rejectSender', name: 'MAIL' },
  rcpt: { defer: 'defer', reject: 'reject', name: 'RCPT' },
  data: { defer: 'deferData', reject: 'rejectData', name: 'DATA' },
  dot: { defer: 'deferAfterDot', reject: 'rejectAfterDot', name: 'dot' },
} as const;

/** One SMTP session of a next hop, the server's side: answers what it is asked, or misbehaves by the dice. */
export class HopSession {
  readonly #world: HopWorld;
  readonly #pipelining: boolean;
  #isMailGood = false;
  /** It has offered REQUIRETLS. */
  hasPromisedTls = false;
  /** To whom RCPT was answered with 250. */
  readonly #taken: string[] = [];
  #refused = 0;

  constructor(world: HopWorld) {
    this.#world = world;
    this.#pipelining = world.dice.next() < 0.7;
  }

  /** Those whom it has agreed to take the message for. */
  get recipients(): readonly string[] {
    return this.#taken;
  }

  /** A client connects. */
  connect(): Connecting {
    const { note } = this.#world;
    const afterMs = 1 + this.#world.dice.next() * CONNECT_MS;
    if (this.#happens('refuseConnection')) {
      note('connection refused');
      return { afterMs, kind: 'refused' };
    }
    if (!this.#happens('ignoreConnection')) return { afterMs, kind: 'open' };
    note('connection timed out');
    return { afterMs: Number.POSITIVE_INFINITY, kind: 'ignored' };
  }

  /** The client waits for the answer to `verb`; of RCPT, to that for `recipient`. */
  answer(verb: OpeningVerb | SenderVerb, recipient: string | null): Answer {
    const { note } = this.#world;
    const afterMs = this.#delay(verb);
    if (verb === 'dot') return this.#onDot(afterMs);
    if (this.#happens('dropBeforeDot')) {
      note('lost before the dot');
      return { afterMs, reply: null };
    }
    if (this.#happens('close')) {
      note('421 to any command');
      return { afterMs, reply: replyOf(421) };
    }
    return { afterMs, reply: this.#replyTo(verb, recipient) };
  }

  #replyTo(verb: OpeningVerb | SenderVerb, recipient: string | null): SmtpReply {
    switch (verb) {
      case 'greeting':
        return replyOf(this.#noted('refuseGreeting', 'greeting 4xx or 5xx') ? this.#either(450, 554) : 220);
      case 'ehlo':
        if (this.#noted('deferHello', 'EHLO 4xx')) return replyOf(451);
        if (this.#noted('rejectHello', 'EHLO 5xx')) return replyOf(502);
        this.hasPromisedTls = this.#world.promisesTls === true;
        return replyOf(250, [
          ...(this.#pipelining ? CAPABILITIES : CAPABILITIES.slice(0, 1)),
          ...(this.hasPromisedTls ? ['REQUIRETLS'] : []),
        ]);
      case 'mail': {
        const code = this.#refusal('mail');
        this.#says(code, null);
        this.#isMailGood = code === null;
        return replyOf(code ?? 250);
      }
      case 'rcpt':
        return this.#onRecipient(recipient ?? '');
      case 'data':
        return replyOf(this.#onData());
      default:
        return replyOf(250);
    }
  }

  #onRecipient(recipient: string): SmtpReply {
    if (!this.#isMailGood) {
      this.#says(503, recipient);
      return replyOf(503);
    }
    const refusal = this.#world.refusal?.(recipient) ?? null;
    if (refusal !== null) this.#world.note('mailbox gone or full');
    const code = refusal === null ? this.#refusal('rcpt') : null;
    this.#says(refusal?.code ?? code, recipient);
    if (refusal === null && code === null) this.#taken.push(recipient);
    else this.#refused++;
    return refusal ?? replyOf(code ?? 250);
  }

  #onData(): number {
    if (this.#taken.length === 0) return 503;
    if (this.#refused > 0) this.#world.note('some recipients refused');
    const code = this.#refusal('data');
    this.#says(code, null);
    return code ?? 354;
  }

  /** From here on it may have the message whatever its client learns, or whether that still lives. */
  #onDot(afterMs: number): Answer {
    const { dice, note, takeLater } = this.#world;
    const takes = () => takeLater(afterMs * dice.next(), this.#taken);
    if (this.#happens('dropAfterDot')) {
      const isTaken = dice.next() < 0.5;
      note(isTaken ? 'lost after the dot, taken' : 'lost after the dot, not taken');
      if (isTaken) takes();
      return { afterMs, reply: null };
    }
    if (this.#happens('close')) {
      note('421 to any command');
      return { afterMs, reply: replyOf(421) };
    }
    const code = this.#refusal('dot');
    this.#says(code, null);
    if (code !== null) return { afterMs, reply: replyOf(code) };
    takes();
    const { queueId } = this.#world;
    return { afterMs, reply: replyOf(250, queueId === undefined ? undefined : [`queued as ${queueId}`]) };
  }

  #says(code: number | null, recipient: string | null): void {
    if (code !== null && code >= 500) this.#world.refused?.(recipient);
  }

  #refusal(verb: keyof typeof REFUSALS): number | null {
    const { defer, reject, name } = REFUSALS[verb];
    if (this.#noted(reject, `${name} 5xx`)) return 550;
    return this.#noted(defer, `${name} 4xx`) ? 451 : null;
  }

  #delay(verb: OpeningVerb | SenderVerb): number {
    const { dice, note } = this.#world;
    if (!this.#happens('dawdle')) return 1 + dice.next() * USUAL_MS;
    note('slow answer');
    return 1_000 + dice.next() ** 2 * TIMEOUTS[verb] * DAWDLING;
  }

  #either(one: number, other: number): number {
    return this.#world.dice.next() < 0.5 ? one : other;
  }

  #noted(fault: keyof HopFaults, kind: Kind): boolean {
    const happens = this.#happens(fault);
    if (happens) this.#world.note(kind);
    return happens;
  }

  /** No dice are rolled for what cannot happen. */
  #happens(fault: keyof HopFaults): boolean {
    const chance = this.#world.faults()[fault];
    return chance > 0 && this.#world.dice.next() < chance;
  }
}

function replyOf(code: number, lines: readonly string[] = [`simulated ${code}`]): SmtpReply {
  return { code, enhanced: null, lines, text: lines.join(' ') };
}
