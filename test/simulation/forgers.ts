import { type Feedback, type FeedbackKind, NO_FACTS, NO_MESSAGE } from '../../src/domain/feedback.ts';
import type { FeedbackReport } from '../../src/engine/contract.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { createIdSource } from '../../src/lib/id.ts';
import { StoreError } from '../../src/store/store.ts';
import type { Copy, ReceiversParts } from './receivers.ts';
import { InvariantBroken } from './statuses.ts';

const MINUTE = 60_000;
/** Copies that forgers have heard of. */
const MAX_COPIES = 50;
/** Nobody ever wrote to it, and forgers would have it suppressed. */
const VICTIM = 'victim@example.net';
const KINDS: readonly FeedbackKind[] = ['bounce', 'confirmation', 'complaint', 'unsubscribe'];
const GONE = { ...NO_FACTS, code: 550, enhancedCode: '5.1.1', text: 'forged: no such user' };

/**
 * Those who tell of mail that nobody gave them: by ids that were never given, by those of another relay, of a
 * recipient that a message does not have, of messages that are another key's. Nothing may come of it.
 */
export class Forgers {
  readonly #parts: ReceiversParts;
  /** The newest that the world took. */
  readonly #copies: Copy[] = [];
  /** Ids as ours, which nobody was given. */
  readonly #nextId: () => string;
  #forged = 0;

  constructor(parts: ReceiversParts) {
    this.#parts = parts;
    this.#nextId = createIdSource({ wall: parts.wall }, parts.dice);
  }

  /** They see mail go by, and what hops call it. */
  took(copy: Copy): void {
    this.#copies.push(copy);
    if (this.#copies.length > MAX_COPIES) this.#copies.shift();
  }

  /** Forges until `end`, in ms of world time. */
  async forge(end: number): Promise<void> {
    const { time, dice, anyEngine, spawn } = this.#parts;
    while (time.now < end) {
      await time.sleep(dice.next() * 3 * MINUTE);
      const engine = anyEngine();
      const copy = this.#copies[Math.floor(dice.next() * this.#copies.length)];
      if (engine !== undefined && copy !== undefined) spawn(this.#forge(engine, copy));
    }
  }

  /** In the end nobody is suppressed of whom forgers alone told. */
  async check(): Promise<void> {
    const found = await this.#parts.suppressions.suppressionsUnder([VICTIM]);
    if (found.length > 0) throw new InvariantBroken(`${VICTIM} is suppressed, and only forgers know it`);
  }

  async #forge(engine: Engine, copy: Copy): Promise<void> {
    const { seen, aftermaths } = this.#parts;
    const place = aftermaths.find(`${copy.token} ${copy.address}`);
    if (place === null) return;
    seen.note('told by a forger');
    const { report, counts } = this.#forgery(copy, place.id);
    try {
      if (counts !== null && (await engine.feedback.counts(counts)))
        throw new InvariantBroken(`a token of ${counts.id} for ${counts.recipient} counts, and is forged`);
      if (report === null) return;
      const { matched, changed } = await engine.feedback.tell(report);
      if (matched || changed)
        throw new InvariantBroken(`${JSON.stringify(report.items[0]?.feedback)} is forged, and was believed`);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
  }

  #forgery(copy: Copy, id: string) {
    const { dice } = this.#parts;
    const number = ++this.#forged;
    const unknown = { id: this.#nextId(), recipient: 0 };
    switch (Math.floor(dice.next() * 6)) {
      case 0:
        return { report: this.#report(copy, { token: unknown }), counts: unknown };
      case 1:
        // Whoever comes with a token is asked this first, and not heard.
        return { report: null, counts: { id, recipient: 4 + number } };
      case 2:
        return { report: this.#report(copy, { messageId: `<forged-${number}@example.com>` }), counts: null };
      case 3:
        return { report: this.#report(copy, { providerMessageId: `F${number}` }), counts: null };
      case 4: {
        // The id is right, and another relay gave it.
        const relay = copy.relay === 'third' ? 'other' : 'third';
        return {
          report: this.#report({ ...copy, relay }, { providerMessageId: copy.queueId }),
          counts: null,
        };
      }
      default:
        // A key may tell of its own messages alone; the world's are of none.
        return { report: { ...this.#report(copy, { id }), onlyOfKey: 'key_of_another' }, counts: null };
    }
  }

  #report({ address, relay }: Copy, names: Partial<Feedback['message']>): FeedbackReport {
    const { dice } = this.#parts;
    const kind = KINDS[Math.floor(dice.next() * KINDS.length)] ?? 'bounce';
    const isHook = names.providerMessageId !== undefined;
    const source = isHook ? (`webhook:${relay}` as const) : 'api';
    const feedback: Feedback = {
      kind,
      source,
      message: { ...NO_MESSAGE, ...names },
      recipient: dice.next() < 0.5 ? VICTIM : address,
      bounce: kind === 'bounce' ? GONE : NO_FACTS,
      at: null,
    };
    return { source, items: [{ feedback, onceId: null }], evidence: null, mayBeEarly: isHook };
  }
}
