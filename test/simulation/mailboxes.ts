import type { Random } from '../../src/lib/random.ts';
import type { SmtpReply } from '../../src/smtp/reply.ts';

/** What a hop says of a mailbox that is gone, and of a full one. */
export const GONE_TEXT = 'simulated: no such user';
export const FULL_TEXT = 'simulated: mailbox full';

/** Mailboxes that may bounce, or whose owners may complain. */
const COUNT = 30;
const DOMAINS: readonly string[] = ['example.net', 'example.com', 'example.org'];
/** Of so many mailboxes, one is gone, and one is often full. */
const TURNS = 6;
const FULL_SHARE = 0.8;

/** What customers write to such a mailbox. */
export interface Writing {
  readonly addresses: readonly string[];
  readonly from: string;
  readonly stream: string | null;
  readonly reportable: boolean;
}

/** Mailboxes with a will of their own. All others of the world take whatever comes. */
export class Mailboxes {
  readonly #dice: Random;

  /** These dice are no others', so that the rest of a history goes on as it would without them. */
  constructor(dice: Random) {
    this.#dice = dice;
  }

  /** To whom, and how, a customer writes to so many; null: to others. */
  write(count: number): Writing | null {
    const dice = this.#dice;
    if (dice.next() < 0.5) return null;
    const first = Math.floor(dice.next() * COUNT);
    const letter = dice.next() < 0.2 ? 'P' : 'p';
    return {
      addresses: Array.from({ length: count }, (_, place) => nameOf((first + 7 * place) % COUNT, letter)),
      from: dice.next() < 0.7 ? 'a@example.com' : 'b@example.org',
      stream: dice.next() < 0.5 ? 'news' : null,
      reportable: dice.next() < 0.5,
    };
  }

  /** Whether an address is one of these. */
  has(address: string): boolean {
    return /^p\d+@/i.test(address);
  }

  /** Any of these. */
  any(): string {
    return nameOf(Math.floor(this.#dice.next() * COUNT));
  }

  /** What the hop says to a recipient whatever else it does; null: nothing. */
  refusal(address: string): SmtpReply | null {
    const [, number] = /^p(\d+)@/i.exec(address) ?? [];
    if (number === undefined) return null;
    const turn = Number(number) % TURNS;
    if (turn === 2) return replyOf(550, '5.1.1', GONE_TEXT);
    return turn === 4 && this.#dice.next() < FULL_SHARE ? replyOf(552, '5.2.2', FULL_TEXT) : null;
  }
}

/** Whether an address is of somebody who will be erased (`erasers.ts`). */
export function isPerson(address: string): boolean {
  return /^q\d+@/.test(address);
}

function nameOf(number: number, letter = 'p'): string {
  return `${letter}${number}@${DOMAINS[Math.floor(number / TURNS) % DOMAINS.length]}`;
}

function replyOf(code: number, enhanced: string, text: string): SmtpReply {
  return { code, enhanced, lines: [text], text };
}
