import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ANY_MAIL, type MailQuery, parseQuery } from '../../../src/domain/query.ts';
import { queryTest } from '../../../src/domain/query-test.ts';
import { formatTimestamp } from '../../../src/lib/clock.ts';
import { messageIdTime } from '../../../src/lib/id.ts';
import type { AcceptRecord } from '../../../src/store/accepting.ts';
import type { SearchQuery } from '../../../src/store/views.ts';
import {
  acceptAll,
  at,
  attempt,
  CAPTURED,
  DAY,
  DEFERRED,
  DELIVERED,
  message,
  type OpenSubject,
  REJECTED,
  read,
  recipient,
  refTo,
  type Subject,
  T0,
  takeLane,
} from './fixtures.ts';

const to = (address: string) => recipient({ recipient: { address, kind: 'to', notify: null, orcpt: null } });

/** What search promises. */
export function searchContract(open: OpenSubject): void {
  describe('search', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const accept = (...changes: readonly Partial<AcceptRecord>[]) => acceptAll(subject.store, changes);
    const index = async () => {
      while ((await subject.store.index(50)).more);
    };
    const ask = (text: string, change: Partial<SearchQuery> = {}): SearchQuery => ({
      query: parseQuery(text, T0).query,
      after: null,
      before: null,
      limit: 10,
      ...change,
    });
    const search = async (text: string, change: Partial<SearchQuery> = {}) => {
      const page = await subject.views.search(ask(text, change));
      return page.messages.map(({ id }) => id);
    };
    const letter = (subject: string, from = 'Ann Smith <ann@shop.example>') => ({
      header: { from, subject, messageId: '<4711.abc@mail.example.com>' },
    });

    /** What each finds of three letters, by their places. */
    const FINDS: readonly (readonly [string, readonly number[]])[] = [
      ['', [2, 1, 0]],
      ['invoice', [1, 0]],
      ['INVOICE', [1, 0]],
      ['invoices', []],
      ['invoi*', [1, 0]],
      ['"your inv*"', [0]],
      ['"invoice your*"', []],
      ['subject:ord*', [0]],
      ['grü*', [2]],
      ['-invoi*', [2]],
      ['invoi* -order*', [1]],
      ['to:b*', [1, 0]],
      ['to:bob@exa*', [0]],
      ['to:@sub.exa*', [1]],
      ['to:@exa*', [0]],
      ['from:ann@sh*', [1, 0]],
      ['from:@exam*', [2, 1, 0]],
      ['4711.ab*', [2, 1, 0]],
      ['metadata:order-1', [1, 0]],
      ['metadata:"Order-12 B"', [1]],
      ['metadata:customer', []],
      ['-metadata:order', [2]],
      ['invoice metadata:12', [1]],
      ['"your invoice"', [0]],
      ['"invoice your"', []],
      ['subject:"invoice 77"', [1]],
      ['subject:ann', []],
      ['grusse', [2]],
      ['Grüße', []],
      ['Grüsse', [2]],
      ['order-12345', [0]],
      ['日本', [2]],
      ['ann', [1, 0]],
      ['from:ann', [1, 0]],
      ['from:ann@shop.example', [1, 0]],
      ['from:ANN@shop.example', [1, 0]],
      ['from:@shop.example', [1, 0]],
      ['from:@example', []],
      ['from:sender@example.com', [2, 1, 0]],
      ['from:x@y.org', [2]],
      ['to:bob@example.net', [0]],
      ['to:bob', [1, 0]],
      ['to:@example.net', [0]],
      ['to:@sub.example.net', [1]],
      ['to:example.net', [1, 0]],
      ['to:"bob carl"', []],
      ['tag:news', [2]],
      ['tag:News', []],
      ['tag:news invoice', []],
      ['tag:"two words" -tag:x', [1]],
      ['box:b1', [2]],
      ['box:B1', []],
      ['-box:b1 invoice', [1, 0]],
      ['-invoice', [2]],
      ['invoice -77', [0]],
      ['-to:bob@example.net', [2, 1]],
      ['4711.abc@mail.example.com', [2, 1, 0]],
      ['id:<4711.abc@mail.example.com>', [2, 1, 0]],
      ['id:4711.abc', []],
      ['status:queued', [2, 1, 0]],
      ['status:delivered', []],
      ['status:queued -status:queued', []],
      ['-status:queued', []],
      ['relay:out', [2, 1, 0]],
      ['relay:elsewhere', []],
      ['-relay:out', []],
      ['key:key_two', [2]],
      ['-key:key_two invoice', [1, 0]],
      ['key:key_one key:key_two status:queued', [2, 1, 0]],
      ['is:captured', [2]],
      ['-is:captured', [1, 0]],
      ['is:scheduled', [1]],
      ['-is:scheduled', [2, 0]],
      ['invoice nothing', []],
    ];

    it.each([
      ['before words are entered', false],
      ['afterwards', true],
    ])('finds what a query asks for, %s', async (_, indexed) => {
      const ids = await accept(
        {
          ...letter('Your Invoice: order-12345'),
          metadata: { order: 'order-11', customer: 'x' },
          deliveries: [to('Bob@example.net'), to('carl@example.org')],
        },
        {
          ...letter('Invoice 77'),
          metadata: { order: 'ORDER-12 b' },
          tags: ['two words'],
          sendAt: T0 + DAY,
          deliveries: [to('bob@sub.example.net')],
        },
        {
          ...letter('Viele Grüsse 日本語', 'x@y.org'),
          tags: ['news', 'x'],
          box: 'b1',
          keyId: 'key_two',
          test: true,
          deliveries: [to('x@y.org')],
        },
      );
      if (indexed) await index();
      for (const [text, places] of FINDS)
        expect([text, await search(text)]).toEqual([text, places.map((place) => ids[place])]);
    });

    it('agrees with the test of a query, whatever is asked', async () => {
      const word = fc.constantFrom('ann', 'bob', 'invoice', 'news', 'com', 'example', 'x');
      const mail = fc.record({
        subject: fc.array(word),
        from: word,
        to: fc.array(word, { minLength: 1 }),
        tag: word,
      });
      const mails = fc.sample(mail, { numRuns: 60, seed: 1 });
      const ids = await accept(
        ...mails.map((one) => ({
          ...letter(one.subject.join(' '), `${one.from}@example.com`),
          tags: [one.tag],
          deliveries: one.to.map((name) => to(`${name}@${one.tag}.example.com`)),
        })),
      );
      await index();
      const facts = await Promise.all(
        ids.map(async (id) => {
          const { message, recipients } = await read(subject.views, id);
          return {
            ...message,
            ...message.header,
            reversePath: message.envelopeFrom,
            metadata: () => [],
            recipients: () =>
              recipients.map((one) => ({ ...one, captured: false, hopId: null, reply: () => null })),
          };
        }),
      );
      const token = fc.constantFrom('', '', 'subject:', 'from:', 'to:', 'tag:');
      const value = fc.oneof(
        word,
        fc.tuple(word, word).map(([a, b]) => `"${a} ${b}"`),
        word.map((w) => `${w}@example.com`),
        word.map((w) => `${w.slice(0, 2)}*`),
        fc.tuple(word, word).map(([a, b]) => `"${a} ${b.slice(0, 1)}*"`),
        word.map((w) => `${w}@${w.slice(0, 1)}*`),
      );
      const piece = fc.tuple(fc.constantFrom('', '', '-'), token, value).map((parts) => parts.join(''));
      const texts = fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join(' '));
      await fc.assert(
        fc.asyncProperty(texts, async (text) => {
          const test = queryTest(parseQuery(text).query);
          const right = facts.filter((one) => test?.(one) ?? true).map(({ id }) => id);
          expect(await search(text, { limit: 100 })).toEqual(right.reverse());
        }),
        { numRuns: 150 },
      );
    });

    it('bounds times and ids', async () => {
      const ids = (await accept(letter('a'), letter('a'), letter('a'))).reverse();
      await index();
      const [newest = '', middle = '', oldest = ''] = ids;
      const time = formatTimestamp(messageIdTime(middle));
      for (const words of ['', ' a']) {
        expect(await search(`after:${time}${words}`)).toEqual([newest, middle]);
        expect(await search(`before:${time}${words}`)).toEqual([oldest]);
        expect(await search(`id:${middle}${words}`)).toEqual([middle]);
        expect(await search(`id:${middle.slice(0, 8)}${words}`)).toEqual(ids);
        expect(await search(`-id:${middle}${words}`)).toEqual([newest, oldest]);
        expect(await search(words, { after: oldest })).toEqual([newest, middle]);
        expect(await search(words, { before: newest })).toEqual([middle, oldest]);
        const count = (change: Partial<SearchQuery>) => subject.views.countFound(ask(words, change));
        expect(await count({ after: oldest })).toEqual({ count: 2, more: false });
        expect(await count({ limit: 2 })).toEqual({ count: 2, more: true });
      }
    });

    it('follows what becomes of messages', async () => {
      const lease = await takeLane(subject.store);
      const ids = await accept(
        ...[0, 1, 2, 3].map(() => ({ ...letter('a'), deliveries: [recipient({ fence: lease.fence })] })),
      );
      await index();
      const ends = [DELIVERED, DEFERRED, REJECTED, CAPTURED];
      for (const [place, id] of ids.entries())
        await attempt(subject.store, refTo(id, lease), [ends[place] ?? DELIVERED]);
      const [delivered, retrying, failed, captured] = ids;
      for (const words of ['', ' a']) {
        expect(await search(`status:failed${words}`)).toEqual([failed]);
        expect(await search(`status:failed status:retrying${words}`)).toEqual([failed, retrying]);
        expect(await search(`status:delivered${words}`)).toEqual([captured, delivered]);
        expect(await search(`is:captured${words}`)).toEqual([captured]);
        expect(await search(`status:delivered key:key_one -is:captured${words}`)).toEqual([delivered]);
        expect(await search(`hop:4BQ${words}`)).toEqual([delivered]);
        expect(await search(`hop:4BQ status:failed${words}`)).toEqual([]);
        expect(await search(`hop:4bq${words}`)).toEqual([]);
        expect(await search(`-hop:4BQ${words}`)).toEqual([captured, failed, retrying]);
        expect(await search(`reply:"as 4bq"${words}`)).toEqual([captured, delivered]);
        expect(await search(`reply:"550 5.1.1 no such"${words}`)).toEqual([failed]);
        expect(await search(`-reply:250 -reply:later${words}`)).toEqual([failed]);
      }
    });

    it('finds the newest of what a next hop gave the same id, each message once', async () => {
      const lease = await takeLane(subject.store);
      const { fence } = lease;
      const ids = await accept(
        ...[0, 1, 2].map(() => ({ deliveries: [recipient({ fence }), recipient({ fence })] })),
      );
      for (const id of ids) await attempt(subject.store, refTo(id, lease), [DELIVERED, DELIVERED]);
      const [oldest = '', middle = '', newest = ''] = ids;
      expect(await search('hop:4BQ')).toEqual([newest, middle, oldest]);
      expect(await search('hop:4BQ', { before: newest, limit: 1 })).toEqual([middle]);
      expect(await search('hop:4BQ', { after: oldest })).toEqual([newest, middle]);
      expect(await search('hop:4BQ', { before: oldest })).toEqual([]);
    });

    it('pages steadily while new messages arrive', async () => {
      const many = Array.from({ length: 60 }, (_, i) => letter(i % 3 === 0 ? 'third one' : 'other one'));
      const ids = await accept(...many);
      for (const text of ['', 'one', 'third', 'subject:one -other', 'to:example.net one']) {
        const seen: string[] = [];
        let before: string | null = null;
        do {
          const page = await subject.views.search(ask(text, { before, limit: 7 }));
          seen.push(...page.messages.map(({ id }) => id));
          before = page.next;
          await accept(letter('third one'));
          await index();
        } while (before !== null);
        const test = queryTest(parseQuery(text).query);
        const wanted =
          test === null || text === 'one' || text.startsWith('to:') ? ids : ids.filter((_, i) => i % 3 === 0);
        const old = new Set(ids);
        expect([text, seen.filter((id) => old.has(id))]).toEqual([text, [...wanted].reverse()]);
        expect(new Set(seen).size).toBe(seen.length);
      }
    });

    it('forgets what is removed, and finds what comes after', async () => {
      const [id = ''] = await accept(letter('gone soon'));
      await index();
      await subject.store.cancel([id], at());
      const policy = {
        contentAgeMs: 0,
        contentMaxBytes: 0,
        capturedAgeMs: 0,
        capturedMaxBytes: 0,
        recordAgeMs: 0,
        eventAgeMs: 0,
        feedbackAgeMs: 0,
        maxUnsubscribeLinks: 1000,
      };
      while ((await subject.store.purge(policy, 100, at(DAY))).more);
      expect(await search('gone')).toEqual([]);
      const [next] = await accept(letter('new one'));
      await index();
      expect(await search('gone')).toEqual([]);
      expect(await search('one')).toEqual([next]);
      expect((await subject.views.search(ask('one'))).behind).toBe(0);
    });

    it('looks at no more than it may, and goes on from there', async () => {
      await subject.close();
      subject = await open({ maxExamined: 40, sliceRecords: 20 });
      const ids = await accept(...Array.from({ length: 200 }, (_, i) => letter(i === 3 ? 'rare' : 'common')));
      await index();
      const [first] = ids;
      for (const text of ['subject:rare', 'rare -common', 'from:ann rare', 'status:queued rare']) {
        let before: string | null = null;
        const found: string[] = [];
        for (let pages = 0; pages < 30; pages++) {
          const page = await subject.views.search(ask(text, { before }));
          found.push(...page.messages.map(({ id }) => id));
          before = page.next;
          if (before === null) break;
        }
        expect([text, before, found]).toEqual([text, null, [ids[3]]]);
      }
      expect(first).toBeDefined();
    });

    it('takes any query without a fault', async () => {
      await accept(letter('a'));
      await index();
      const piece = fc.oneof(
        fc.string(),
        fc.constantFrom('"', 'AND', 'NEAR(', '*', 'to:', 'a"b', '^a', '{a}:', "'", ';'),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(piece), async (pieces) => {
          await search(pieces.join(' '));
        }),
        { numRuns: 200 },
      );
      const nothing: MailQuery = { ...ANY_MAIL, statuses: [], keys: [], relays: [] };
      expect((await subject.views.search(ask('', { query: nothing }))).messages).toEqual([]);
    });
  });

  describe('counts', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const MINUTE = 60_000;
    const minute = Math.floor(at().now / MINUTE);

    it('tells events by minute, hour and day, of the service and of a relay', async () => {
      const { store, views } = subject;
      const lease = await takeLane(store);
      const send = async (ms: number) => {
        const record = message({ deliveries: [recipient({ fence: lease.fence })] });
        await store.accept([record], at(ms));
        await attempt(store, refTo(record.id, lease), [DELIVERED], at(ms));
      };
      for (const ms of [0, MINUTE, 59 * MINUTE]) await send(ms);
      await store.tally([{ event: 'denied', count: 3 }], at(61 * MINUTE));
      await store.tally([{ event: 'denied', count: 4 }], at(DAY));
      const ask = async (
        period: 'minute' | 'hour' | 'day',
        from: number,
        count: number,
        relay: string | null = null,
      ) => Object.fromEntries(await views.counts({ period, from, count, relay }));
      expect(await ask('minute', minute - 1, 4)).toMatchObject({
        received: [0, 1, 1, 0],
        delivered: [0, 1, 1, 0],
      });
      const hour = Math.floor(minute / 60);
      expect(await ask('hour', hour - 1, 4)).toMatchObject({ received: [0, 3, 0, 0], denied: [0, 0, 3, 0] });
      expect(await ask('hour', hour + 23, 3)).toMatchObject({ denied: [0, 4, 0] });
      const day = Math.floor(hour / 24);
      expect(await ask('day', day, 2)).toMatchObject({ received: [3, 0], denied: [3, 4] });
      expect(await ask('hour', hour, 2, 'out')).toEqual({ relay_delivered: [3, 0] });
      expect(await ask('day', day, 1, 'other')).toEqual({});
    });
  });
}
