import type { Recipient, Submission } from '../../src/domain/message.ts';
import type { IntakeAnswer } from '../../src/engine/contract.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Random } from '../../src/lib/random.ts';
import { StoreError } from '../../src/store/store.ts';
import { DIRECT_DOMAINS, NO_MAIL_DOMAIN } from './hop-domains.ts';
import type { Watch } from './invariants.ts';
import type { Ledger } from './ledger.ts';
import type { Mailboxes } from './mailboxes.ts';
import { COPY_FOR } from './next-hop.ts';
import { requiresTls, tokenNumbered } from './requiretls.ts';
import { submissionNamed } from './scene.ts';
import type { Seen } from './seen.ts';
import { InvariantBroken } from './statuses.ts';
import type { VirtualTime } from './virtual-clock.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** So long a customer waits for an answer, in ms, and so often hands the same in again. */
const PATIENCE_MS = 30 * SECOND;
const MAX_TRIES = 12;

/** What customers are made of. */
export interface CustomersParts {
  readonly time: VirtualTime;
  readonly dice: Random;
  readonly watch: Watch;
  readonly ledger: Ledger;
  readonly seen: Seen;
  readonly mailboxes: Mailboxes;
  /** Any node that runs, or ought to. */
  readonly anyEngine: () => Engine | undefined;
  /** Wall ms, by a clock that is right. */
  readonly wall: () => number;
  /** Starts what nobody waits for. */
  readonly spawn: (actor: Promise<void>) => void;
}

/** Those who hand mail in, hand it in again when they got no answer, and change their minds about it. */
export class Customers {
  readonly #parts: CustomersParts;
  #submitted = 0;
  /** How often a message was cancelled, and retried, by request. */
  readonly acts = { cancelled: 0, retried: 0 };

  constructor(parts: CustomersParts) {
    this.#parts = parts;
  }

  /** Hands mail in until `end`, in ms of world time. */
  async submitMail(end: number): Promise<void> {
    const { time, dice, anyEngine, spawn } = this.#parts;
    while (time.now < end) {
      await time.sleep(dice.next() * 120 * SECOND);
      const burst = dice.next() < 0.1 ? 16 : 1 + Math.floor(dice.next() * 4);
      const engine = anyEngine();
      for (let i = 0; engine && i < burst; i++) spawn(this.#submit(engine));
    }
  }

  /** Cancels and retries what is under way or has long ended, until `end`. */
  async changeMinds(end: number): Promise<void> {
    const { time, dice, watch, anyEngine, spawn } = this.#parts;
    while (time.now < end) {
      await time.sleep(dice.next() * MINUTE);
      const engine = anyEngine();
      const ids = dice.next() < 0.6 ? watch.unfinished() : [...watch.acknowledged];
      const id = ids[Math.floor(dice.next() * ids.length)];
      const act = dice.next() < 0.4 ? 'cancel' : 'retry';
      if (engine && id !== undefined) spawn(this.#act(engine, id, act));
    }
  }

  /** Hands in what somebody else wrote. */
  writes(submission: Submission): void {
    const engine = this.#parts.anyEngine();
    if (engine !== undefined) this.#parts.spawn(this.#handIn(engine, submission).then(() => {}));
  }

  async #submit(engine: Engine): Promise<void> {
    const { dice } = this.#parts;
    const token = tokenNumbered(++this.#submitted);
    const submission = this.#submission(token);
    const id = await this.#handIn(engine, submission);
    // Some regret it at once, while it is under way.
    if (id !== null && dice.next() < 0.1) await this.#act(engine, id, 'cancel');
  }

  /**
   * Hands it in, and with a key hands it in again until it is known to be ours; some do so although they know. The id it
   * was accepted under; null for none.
   */
  async #handIn(first: Engine, submission: Submission): Promise<string | null> {
    const { time, dice, seen, anyEngine } = this.#parts;
    let engine: Engine | undefined = first;
    let id: string | null = null;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (tries > 0) seen.note('resubmission');
      id = (engine && (await this.#ask(engine, submission))) ?? id;
      if (submission.idempotency === null || (id !== null && dice.next() < 0.9)) return id;
      await time.sleep(dice.next() * MINUTE);
      engine = anyEngine();
    }
    return id;
  }

  /** The id that the answer names; null where there is none, or the answer does not come in time. */
  async #ask(engine: Engine, submission: Submission): Promise<string | null> {
    const { time, seen, ledger } = this.#parts;
    ledger.handedIn(submission);
    const answering = engine.intake.accept([submission]).then(([answer]) => this.#heard(answer, submission));
    let isLate = true;
    const heard = answering.finally(() => {
      isLate = false;
    });
    const id = await Promise.race([heard, time.sleep(PATIENCE_MS).then(() => null)]);
    if (isLate) seen.note('no answer to a submission');
    return id;
  }

  /** Late answers count, too: they must not contradict what was said before. */
  #heard(answer: IntakeAnswer | undefined, { header }: Submission): string | null {
    const { watch, seen } = this.#parts;
    const token = header.subject;
    switch (answer?.kind) {
      case 'accepted':
      case 'replayed':
        if (answer.kind === 'replayed') seen.note('resubmission replayed');
        watch.answered(token, answer.id);
        return answer.id;
      case 'suspended':
        seen.note('intake suspended');
        return null;
      default:
        throw new InvariantBroken(`${token} was answered with ${answer?.kind}`);
    }
  }

  async #act({ acts }: Engine, id: string, act: 'cancel' | 'retry'): Promise<void> {
    if (act === 'retry') this.#parts.ledger.asksToRetry(id);
    else this.#parts.ledger.asksToCancel(id);
    try {
      if (act === 'retry') this.acts.retried += (await acts.retry(id)) === 'requeued' ? 1 : 0;
      else this.acts.cancelled += (await acts.cancel(id)) === 'cancelled' ? 1 : 0;
    } catch (error) {
      // The store failed: the customer is told so, and may ask again.
      if (!(error instanceof StoreError)) throw error;
    }
  }

  #submission(token: string): Submission {
    const { dice, seen, wall, mailboxes } = this.#parts;
    const named = submissionNamed(token, 1 + Math.floor(dice.next() * 4));
    const isDirect = dice.next() < 0.4;
    const domains = dice.next() < 0.1 ? [...DIRECT_DOMAINS, NO_MAIL_DOMAIN] : DIRECT_DOMAINS;
    const writing = mailboxes.write(named.envelope.recipients.length);
    const recipients = named.envelope.recipients.map((recipient, place) => {
      const direct = isDirect ? `r${place}@${domains[place % domains.length]}` : recipient.address;
      return { ...recipient, address: writing?.addresses[place] ?? direct };
    });
    // Reports name what they are about by its Message-ID.
    const text = Buffer.from(`Message-ID: ${named.header.messageId}\r\n\r\n`, 'latin1');
    const isLater = dice.next() < 0.1;
    if (isLater) seen.note('sent later');
    const roll = dice.next();
    const own = this.#submitted % OWN_COPIES === 0 ? recipients.map((one) => copyFor(one, text)) : null;
    if (own !== null && own.length > 1) seen.note('copies of their own');
    const bytes = own === null ? text : Buffer.concat(own);
    return {
      ...named,
      ...(own !== null && { copies: own.map(({ length }) => length) }),
      envelope: { ...named.envelope, recipients, reversePath: dice.next() < 0.1 ? '' : 'a@example.com' },
      content: { ...named.content, chunks: [bytes], sizeBytes: bytes.length },
      reportable: writing?.reportable ?? true,
      stream: writing?.stream ?? null,
      header: { ...named.header, from: writing?.from ?? named.header.from },
      sendAt: isLater ? Math.floor(wall() + dice.next() * 5 * MINUTE) : null,
      priority: roll < 0.2 ? 'high' : roll < 0.4 ? 'bulk' : 'normal',
      ...(requiresTls(token) && { tls: 'required' }),
      idempotency: dice.next() < 0.6 ? { key: token, hash: token } : null,
    };
  }
}

/** Of so many messages, one has a copy of its own for each recipient. */
const OWN_COPIES = 5;

function copyFor({ address }: Recipient, text: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${COPY_FOR}: ${address}\r\n`, 'latin1'), text]);
}
