import type { DeliveryState } from '../../domain/delivery.ts';
import type { OutcomeName } from '../../domain/outcome.ts';
import { bounced, fromJson } from '../columns.ts';
import type { EraseRequest } from '../erasing.ts';
import { erase } from '../plain/erasing.ts';
import type { MailStep, MailWork, OpenMail } from '../plain/mail.ts';
import { guard, retell, tell, tellOwn, tellRelays } from '../plain/telling.ts';
import type { Stamp } from '../store.ts';
import type { OwnBounces, RelayNews, Telling, TellRules } from '../telling.ts';
import type { Books } from './books.ts';
import type { Deliveries } from './deliveries.ts';
import type { Driver } from './driver.ts';
import { answerer } from './plain.ts';
import { ContentPurge } from './purge.ts';
import { WordIndex } from './word-index.ts';

/** Runs what is told of mail, inside the caller's transaction. Leaves messages open, to be flushed. */
export class MailTelling {
  readonly #books: Books;
  readonly #deliveries: Deliveries;
  readonly #answer;
  readonly #contents: ContentPurge;
  readonly #words: WordIndex;
  readonly #sql;

  constructor(books: Books, deliveries: Deliveries) {
    this.#books = books;
    this.#deliveries = deliveries;
    this.#answer = answerer(books.db);
    this.#contents = new ContentPurge(books);
    this.#words = new WordIndex(books.db);
    this.#sql = prepareMail(books.db);
  }

  /** Runs work to its end. */
  run<T>(work: MailWork<T>, at: Stamp): T {
    let step = work.next();
    while (step.done !== true) {
      const { value } = step;
      step = work.next('mail' in value ? this.#mail(value, at) : this.#answer(value));
    }
    return step.value;
  }

  /** Writes own bounces of a message, if there are any. */
  own(id: string, own: OwnBounces | undefined, at: Stamp): void {
    if (own !== undefined) this.run(tellOwn(id, own, at.now), at);
  }

  #mail(step: MailStep, at: Stamp): unknown {
    switch (step.mail) {
      case 'open':
        return this.#open(step.id);
      case 'by_provider_id':
        return this.#sql.byProviderId
          .all(step.providerId)
          .flatMap(([id, index, relay]) =>
            step.relay === null || relay === step.relay ? [{ id, index }] : [],
          );
      case 'by_message_id':
        return this.#namesakes(step.messageId, step.limit);
      case 'bounce': {
        const message = this.#books.ledger.open(step.id);
        const delivery = message === null ? null : this.#deliveries.find(message, step.index);
        if (delivery !== null) this.#deliveries.bounce(delivery, bounced(step.bounce), at);
        return null;
      }
      case 'event': {
        const { id, type, index, facts, counted } = step;
        const message = this.#books.ledger.open(id);
        if (message !== null) this.#books.events.told(message.seq, type, index, facts, step.at);
        if (counted !== null && facts.relay !== undefined)
          this.#books.tallies.count(counted, at, 1, facts.relay);
        return null;
      }
      case 'forget':
        return this.#contents.forget(step.id);
      case 'reindex':
        this.#words.renew(step.id);
        return null;
    }
  }

  #open(id: string): OpenMail | null {
    const row = this.#sql.message.get(id);
    if (row === undefined) return null;
    const [seq, keyId, test, from, stream, tags] = row;
    const recipients = this.#sql.recipients
      .all(seq)
      .map(([index, address, state, outcome, relay]) => ({ index, address, state, outcome, relay }));
    return { id, keyId, test: test === 1, from, stream, tags: fromJson<string[]>(tags), recipients };
  }

  /** Our own Message-IDs contain the id of their message. */
  #namesakes(messageId: string, limit: number): string[] {
    const [own] = OWN.exec(messageId) ?? [];
    if (own !== undefined && this.#sql.isOf.get(own, messageId) !== undefined) return [own];
    return this.#sql.byMessageId.all(messageId, limit).map(([id]) => id);
  }
}

const OWN = /msg_[0-7][0-9a-hjkmnp-tv-z]{25}/;

/** Builds the verbs that apply what was told. */
export function tellVerbs(books: Books, telling: MailTelling) {
  const flushed = <T>(work: MailWork<T>, at: Stamp): T => {
    const answer = telling.run(work, at);
    books.ledger.flush(at);
    return answer;
  };
  return {
    tell: (batch: readonly Telling[], rules: TellRules, at: Stamp) => flushed(tell(batch, rules, at.now), at),
    retell: (after: string, limit: number, rules: TellRules, at: Stamp) =>
      flushed(retell(after, limit, rules, at.now), at),
    guard: (domain: string, firstId: string, at: Stamp) => telling.run(guard(domain, firstId, at.now), at),
    erase: (request: EraseRequest, at: Stamp) => flushed(erase(request, at.now), at),
    tellRelays: (news: readonly RelayNews[], at: Stamp) => telling.run(tellRelays(news), at),
  };
}

function prepareMail(db: Driver) {
  return {
    message: db.prepare<
      [id: string],
      [seq: number, keyId: string | null, test: number, from: string, stream: string | null, tags: string]
    >('SELECT seq, key_id, test, header_from, stream, tags FROM messages WHERE id = ?'),
    recipients: db.prepare<
      [seq: number],
      [
        index: number,
        address: string,
        state: DeliveryState,
        outcome: OutcomeName | null,
        relay: string | null,
      ]
    >('SELECT idx, address, state, outcome, relay FROM deliveries WHERE message = ? ORDER BY idx'),
    byProviderId: db.prepare<[providerId: string], [id: string, index: number, relay: string | null]>(
      `SELECT messages.id, deliveries.idx, deliveries.relay FROM deliveries INDEXED BY deliveries_by_provider_id
         JOIN messages ON messages.seq = deliveries.message
       WHERE deliveries.provider_message_id = ? ORDER BY deliveries.message DESC LIMIT 1000`,
    ),
    isOf: db.prepare<[id: string, messageId: string], [1]>(
      'SELECT 1 FROM messages WHERE id = ? AND message_id = ?',
    ),
    byMessageId: db.prepare<[messageId: string, limit: number], [id: string]>(
      `SELECT id FROM messages INDEXED BY messages_by_message_id
       WHERE message_id = ? AND instr(message_id, id) = 0 ORDER BY seq DESC LIMIT ?`,
    ),
  };
}
