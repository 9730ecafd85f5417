import { type BounceType, type Feedback, NO_FACTS, NO_MESSAGE } from '../../src/domain/feedback.ts';
import type { FeedbackReport } from '../../src/engine/contract.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { createIdSource } from '../../src/lib/id.ts';
import type { Random } from '../../src/lib/random.ts';
import { StoreError } from '../../src/store/store.ts';
import type { SuppressionList } from '../../src/store/suppressions.ts';
import { type Aftermaths, isBounce, type TellingKnown, type Tidings } from './aftermath.ts';
import { globally, madeByHand } from './listed.ts';
import { isPerson, type Mailboxes } from './mailboxes.ts';
import type { Seen } from './seen.ts';
import type { VirtualTime } from './virtual-clock.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** So long it is waited for an answer, in ms. */
const PATIENCE_MS = 30 * SECOND;
/** What is told at once comes before the attempt is recorded, more often than not. */
const AT_ONCE_MS = 200;

/** What receivers are made of. */
export interface ReceiversParts {
  readonly time: VirtualTime;
  /** No others' dice. */
  readonly dice: Random;
  readonly seen: Seen;
  readonly mailboxes: Mailboxes;
  readonly aftermaths: Aftermaths;
  readonly suppressions: SuppressionList;
  /** Any node that runs, or ought to. */
  readonly anyEngine: () => Engine | undefined;
  /** Wall ms, by a clock that is right. */
  readonly wall: () => number;
  readonly spawn: (actor: Promise<void>) => void;
}

/** How the message is named. */
type Way = 'token' | 'provider' | 'message_id';

/** A copy that the world took. */
export interface Copy {
  readonly token: string;
  readonly address: string;
  readonly relay: string;
  /** What the hop calls it. */
  readonly queueId: string;
}

/**
 * Those who got mail, and the hops that took it for them: they bounce it, confirm it, complain of it and want no more,
 * and tell so until they are heard. People look at the suppression list, too.
 */
export class Receivers {
  readonly #parts: ReceiversParts;
  readonly #decided = new Set<string>();
  readonly #nextId: () => string;
  #told = 0;
  #waiting = 0;
  #quietSince = 0;

  constructor(parts: ReceiversParts) {
    this.#parts = parts;
    this.#nextId = createIdSource({ wall: parts.wall }, parts.dice, 'sup_');
  }

  /** Everything was told and heard, and that a while ago. */
  get isQuiet(): boolean {
    return this.#waiting === 0 && this.#parts.time.now - this.#quietSince > MINUTE;
  }

  /** A hop took a copy just now: its receiver decides what to make of it. */
  took(copy: Copy): void {
    const { mailboxes, dice, seen, spawn } = this.#parts;
    const name = nameOf(copy);
    if (!mailboxes.has(copy.address) || this.#decided.has(name)) return;
    this.#decided.add(name);
    let lastMs = 0;
    for (const tidings of this.#decide()) {
      const isAtOnce = dice.next() < 0.3;
      const ms = dice.next() * (isAtOnce ? AT_ONCE_MS : 6 * MINUTE);
      if (ms < lastMs) seen.note('told out of order');
      lastMs = ms;
      this.#waiting++;
      spawn(this.#tell(copy, tidings, ms));
    }
  }

  /** The receiver of a copy calls it spam, after so long in ms. */
  complains(copy: Copy, afterMs: number): void {
    this.#waiting++;
    this.#parts.spawn(this.#tell(copy, 'complaint', afterMs, 'token'));
  }

  /** People take entries off the list, and put some on it, until `end`, in ms of world time. */
  async lookAtTheList(end: number): Promise<void> {
    const { time, dice, aftermaths, mailboxes } = this.#parts;
    while (time.now < end) {
      await time.sleep(dice.next() * 2 * MINUTE);
      const listed = aftermaths.listed.addresses();
      // Who never was told to bounce must get mail again soon, or nobody would.
      const innocent = listed.find((address) => !mailboxes.has(address) && !isPerson(address));
      const address = innocent ?? listed[Math.floor(dice.next() * listed.length)];
      if (dice.next() < 0.7 && address !== undefined) await this.#remove(address);
      else await this.#add(dice.next() < 0.2 ? '*@example.org' : mailboxes.any());
    }
    await this.#remove('*@example.org');
  }

  #decide(): Tidings[] {
    const { dice } = this.#parts;
    const roll = dice.next();
    const found = TIDINGS.find(({ below }) => roll < below);
    return [...(found?.tidings ?? [])];
  }

  async #tell(copy: Copy, tidings: Tidings, afterMs: number, by?: Way): Promise<void> {
    const { time, dice, aftermaths, seen, anyEngine } = this.#parts;
    await time.sleep(afterMs);
    const place = aftermaths.find(nameOf(copy));
    // A report, or another world's.
    if (place === null) return this.#ends();
    const way = by ?? (dice.next() < 0.4 ? 'token' : dice.next() < 0.5 ? 'provider' : 'message_id');
    const report = reportOf(copy, tidings, way, place, `e${++this.#told}`);
    const telling = aftermaths.begins(nameOf(copy), tidings, way === 'provider');
    seen.note(telling.isInTime ? 'told of a recipient' : 'told too early');
    for (;;) {
      const engine = anyEngine();
      if (engine !== undefined && (await this.#isHeard(engine, report, nameOf(copy), telling))) {
        // Some tell it again, although they were heard.
        if (dice.next() < 0.8) return this.#ends();
      }
      seen.note('told again');
      await time.sleep(dice.next() * MINUTE);
    }
  }

  #ends(): void {
    this.#waiting--;
    this.#quietSince = this.#parts.time.now;
  }

  async #isHeard(
    engine: Engine,
    report: FeedbackReport,
    name: string,
    telling: TellingKnown,
  ): Promise<boolean> {
    const { time, aftermaths } = this.#parts;
    const coming = aftermaths.tries(name, telling);
    const heard = engine.feedback.tell(report).then(
      () => {
        aftermaths.answered(name, telling, coming);
        return true;
      },
      (error: unknown) => {
        if (!(error instanceof StoreError)) throw error;
        return false;
      },
    );
    return await Promise.race([heard, time.sleep(PATIENCE_MS).then(() => false)]);
  }

  async #remove(address: string): Promise<void> {
    const { time, suppressions, aftermaths, seen, wall } = this.#parts;
    seen.note('suppression removed');
    await time.outside(async () => {
      const entries = await suppressions.suppressionsUnder([address]);
      const ids = entries.map(({ id }) => id);
      await suppressions.removeSuppressions(ids, true, wall());
      aftermaths.listed.removed(address);
    });
  }

  async #add(address: string): Promise<void> {
    const { time, suppressions, aftermaths, seen, wall } = this.#parts;
    const now = wall();
    seen.note('suppression added');
    const entry = madeByHand(address, this.#nextId(), now);
    await time.outside(async () => {
      await suppressions.addSuppressions([entry], { max: 1_000_000, by: 'hand', now });
      aftermaths.listed.is(globally(address));
    });
  }
}

/** What becomes of a copy, by a roll of the dice. */
const TIDINGS: readonly { readonly below: number; readonly tidings: readonly Tidings[] }[] = [
  { below: 0.08, tidings: ['hard'] },
  { below: 0.2, tidings: ['soft'] },
  { below: 0.24, tidings: ['block'] },
  { below: 0.26, tidings: ['provider'] },
  { below: 0.36, tidings: ['confirmation'] },
  { below: 0.4, tidings: ['confirmation', 'complaint'] },
  { below: 0.44, tidings: ['unsubscribe'] },
  { below: 0.47, tidings: ['hard', 'confirmation'] },
  { below: 0.48, tidings: ['complaint', 'unsubscribe'] },
];

const FACTS = {
  hard: { type: null, code: 550, enhancedCode: '5.1.1', text: 'no such user' },
  soft: { type: null, code: 552, enhancedCode: '5.2.2', text: 'mailbox full' },
  block: { type: null, code: 550, enhancedCode: '5.7.1', text: 'refused by policy' },
  provider: { type: 'provider_suppressed' satisfies BounceType, code: null, enhancedCode: null, text: '' },
} as const;

function nameOf({ token, address }: Copy): string {
  return `${token} ${address}`;
}

function reportOf(
  { token, address, relay, queueId }: Copy,
  tidings: Tidings,
  way: Way,
  { id, index }: { readonly id: string; readonly index: number },
  onceId: string,
): FeedbackReport {
  const message = {
    token: { ...NO_MESSAGE, token: { id, recipient: index } },
    provider: { ...NO_MESSAGE, providerMessageId: queueId },
    message_id: { ...NO_MESSAGE, messageId: `<${token}@example.com>` },
  }[way];
  const source = way === 'provider' ? (`webhook:${relay}` as const) : 'dsn';
  const feedback: Feedback = {
    kind: isBounce(tidings) ? 'bounce' : tidings,
    source,
    message,
    recipient: way === 'token' ? null : address,
    bounce: isBounce(tidings) ? FACTS[tidings] : NO_FACTS,
    at: null,
  };
  const isHook = way === 'provider';
  return {
    source,
    items: [{ feedback, onceId: isHook ? onceId : null }],
    evidence: null,
    mayBeEarly: isHook,
  };
}
