import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MESSAGE_STATUSES, type MessageStatus } from '../../../src/domain/delivery.ts';
import { messageIdTime } from '../../../src/lib/id.ts';
import type { AcceptRecord } from '../../../src/store/accepting.ts';
import { type ListFilter, type ListQuery, MAX_EXAMINED, UNFILTERED } from '../../../src/store/views.ts';
import {
  acceptAll,
  at,
  attempt,
  DEFERRED,
  DELIVERED,
  listed,
  message,
  type OpenSubject,
  REJECTED,
  read,
  recipient,
  refTo,
  type Subject,
  takeLane,
} from './fixtures.ts';

/** What lists promise under filters. */
export function listContract(open: OpenSubject): void {
  describe('list with filters', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const list = (filter: Partial<ListFilter>, query: Partial<ListQuery> = {}) =>
      listed(subject.views, filter, query);
    const accept = (...changes: readonly Partial<AcceptRecord>[]) => acceptAll(subject.store, changes);

    it('finds a tag exactly, of one key or of all', async () => {
      const [one, , two] = await accept(
        { tags: ['news', 'x'] },
        { tags: ['News', 'new'] },
        { tags: ['news'], keyId: 'key_two' },
        { keyId: null, tags: [] },
      );
      expect((await list({ tag: 'news' })).ids).toEqual([two, one]);
      expect((await list({ tag: 'news' }, { owner: { keyId: 'key_one' } })).ids).toEqual([one]);
      expect((await list({ tag: 'news' }, { statuses: ['failed'] })).ids).toEqual([]);
    });

    it.each([
      ['jane@Example.NET', true],
      ['JANE@example.net', true],
      ['@example.net', true],
      ['@EXAMPLE.net', true],
      ['copy@example.org', true],
      ['hidden@example.com', true],
      ['@net', false],
      ['@ample.net', false],
      ['jane', false],
      ['ane@example.net', false],
    ])('finds recipients of every kind by %s: %s', async (to, found) => {
      const one = (address: string, kind: 'to' | 'cc' | 'bcc') =>
        recipient({ recipient: { address, kind, notify: null, orcpt: null } });
      const [id] = await accept({
        deliveries: [
          one('Jane@example.net', 'to'),
          one('copy@example.org', 'cc'),
          one('hidden@example.com', 'bcc'),
        ],
      });
      expect((await list({ to })).ids).toEqual(found ? [id] : []);
    });

    it.each([
      ['bounce@mail.example.com', true],
      ['Shop@Example.com', true],
      ['@example.com', true],
      ['@mail.example.com', true],
      ['Doe <shop@example.com', false],
      ['@other.example', false],
    ])('finds the sender, From or reverse-path, by %s: %s', async (from, found) => {
      const header = {
        from: '"Doe @other.example" <shop@example.com>',
        subject: '',
        messageId: '<1@example.com>',
      };
      const [id] = await accept({ header, reversePath: 'Bounce@mail.example.com' });
      expect((await list({ from })).ids).toEqual(found ? [id] : []);
    });

    it.each([
      ['grüsse', true],
      ['GRÜSSE', true],
      ['100% _new_', true],
      ['100_', false],
      ['', true],
    ])('finds the subject that contains %j: %s', async (subject, found) => {
      const header = { from: 'a@example.com', subject: 'Viele Grüsse, 100% _NEW_', messageId: '<1@x.org>' };
      const [id] = await accept({ header });
      expect((await list({ subject })).ids).toEqual(found ? [id] : []);
    });

    it('bounds the time: from `since` on, up to `until` and without it', async () => {
      const ids = (await accept({}, {}, {})).reverse();
      const times = ids.map(messageIdTime);
      const [newest = 0, middle = 0] = times;
      expect((await list({ since: middle })).ids).toEqual(ids.slice(0, 2));
      expect((await list({ until: middle })).ids).toEqual(ids.slice(2));
      expect((await list({ since: middle, until: newest })).ids).toEqual([ids[1]]);
      expect((await list({ since: newest, until: middle })).ids).toEqual([]);
      expect((await list({ since: newest + 0.5 })).ids).toEqual([]);
      expect((await list({ since: -1, until: 9e15 })).ids).toEqual(ids);
      const page = await list({ until: newest }, { limit: 1 });
      expect(await list({ until: newest }, { limit: 1, before: page.next })).toEqual({
        ids: [ids[2]],
        next: null,
      });
    });

    it('looks no further than it may, and goes on from there', async () => {
      const tagged = { tags: ['flood'] };
      const header = { from: 'a@example.com', subject: 'rare', messageId: '<1@x.org>' };
      const [old] = await accept({ ...tagged, header });
      const flood = Array.from({ length: MAX_EXAMINED }, () => message(tagged));
      await subject.store.accept(flood, at());
      const filter = { tag: 'flood', subject: 'rare' };
      const first = await list(filter);
      expect(first).toEqual({ ids: [], next: flood[0]?.id });
      expect(await list(filter, { before: first.next })).toEqual({ ids: [old], next: null });
    });
  });

  describe('list of an address or a Message-ID', () => {
    const to = (address: string) => [
      recipient({ recipient: { address, kind: 'to', notify: null, orcpt: null } }),
    ];
    const RARE: Partial<AcceptRecord> = {
      deliveries: to('Rare@one.example'),
      reversePath: 'sender@rare.example',
      header: { from: 'Shop <shop@two.example>', subject: 'x', messageId: '<rare.1@mail.example>' },
    };
    /** Each word that is sought is common; all of them together are rare. */
    const COMMON: readonly Partial<AcceptRecord>[] = [
      {
        deliveries: to('rare@shop.example'),
        reversePath: 'sender@two.other',
        header: { from: 'Two <x@two.other>', subject: 'x', messageId: '<rare.2@mail.example>' },
      },
      {
        deliveries: to('two@one.other'),
        reversePath: 'x@rare.example',
        header: { from: 'Shop <shop@one.example>', subject: 'x', messageId: '<1@mail.example>' },
      },
    ];
    const SOUGHT: readonly Partial<ListFilter>[] = [
      { to: 'rare@ONE.example' },
      { to: '@one.example' },
      { from: 'sender@rare.example' },
      { from: '@two.example' },
      { to: '@one.example', from: 'shop@two.example', subject: 'X' },
      { messageId: '<rare.1@mail.example>' },
    ];
    const filled = async (count: number, maxExamined: number, indexed: number) => {
      const subject = await open({ maxExamined, sliceRecords: maxExamined });
      const ids: string[] = [];
      for (let place = 0; place < count; place++) {
        const isRare = place === 0 || place === count - 1;
        const record = message(isRare ? RARE : (COMMON[place % 2] ?? RARE));
        await subject.store.accept([record], at());
        if (isRare) ids.unshift(record.id);
        if (place === indexed - 1) while ((await subject.store.index(50)).more);
      }
      const list = async (filter: Partial<ListFilter>, query: Partial<ListQuery> = {}) => {
        const all = { owner: { keyId: 'key_one' }, statuses: [], before: null, limit: 10 } as const;
        return await subject.views.list({ ...all, ...query, filter: { ...UNFILTERED, ...filter } });
      };
      return { subject, list, ids };
    };

    it('finds the oldest and the newest on one page, though it may not look at all between them', async () => {
      const { subject, list, ids } = await filled(120, 60, 119);
      for (const filter of SOUGHT) {
        const page = await list(filter);
        expect([filter, page.messages.map(({ id }) => id), page.next]).toEqual([filter, ids, null]);
        expect((await list(filter, { owner: { keyId: 'key_two' } })).messages).toEqual([]);
        expect((await list(filter, { statuses: ['failed'] })).messages).toEqual([]);
        expect((await list(filter, { statuses: ['queued'] })).messages.length).toBe(2);
      }
      await subject.close();
    });

    it('goes on until it has looked at what is not indexed yet', async () => {
      const { subject, list, ids } = await filled(120, 60, 10);
      for (const filter of SOUGHT) {
        const found: string[] = [];
        let before: string | null = null;
        do {
          const page = await list(filter, { before });
          found.push(...page.messages.map(({ id }) => id));
          before = page.next;
        } while (before !== null);
        expect([filter, found]).toEqual([filter, ids]);
      }
      await subject.close();
    });
  });

  describe('list with any filter', () => {
    it('shows every message that it should, once, in order, however little a page may look at', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(seed, { minLength: 1, maxLength: 90, size: 'max' }),
          queries,
          async (seeds, asked) => {
            const { maxExamined, sliceRecords, indexed } = asked;
            const subject = await open({ maxExamined, sliceRecords });
            try {
              const world = await fill(subject, seeds);
              if (indexed > 0) await subject.store.index(indexed);
              for (const query of asked.list) await compare(subject, world, query);
            } finally {
              await subject.close();
            }
          },
        ),
        { numRuns: 40, seed: 20261121, endOnFailure: true },
      );
    });
  });
}

const KEYS = ['key_one', 'key_two'];
const TAGS = ['a', 'b'];
const ADDRESSES = ['A@one.example', 'b@ONE.example', 'a@two.example', 'c@x.two.example'];
const SUBJECTS = ['Invoice 7', 'invoice', 'Straße', ''];
const STATES: readonly MessageStatus[] = ['queued', 'processing', 'retrying', 'delivered', 'failed'];

/** What one message is like. */
const seed = fc.record({
  key: fc.constantFrom(...KEYS),
  tags: fc.subarray(TAGS),
  to: fc.subarray(ADDRESSES, { minLength: 1 }),
  from: fc.constantFrom(...ADDRESSES),
  reversePath: fc.constantFrom(...ADDRESSES),
  subject: fc.constantFrom(...SUBJECTS),
  status: fc.constantFrom(...STATES),
});
type Seed = typeof seed extends fc.Arbitrary<infer T> ? T : never;

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 2 });
const sought = maybe(
  fc.constantFrom('a@ONE.example', 'b@one.example', '@two.example', '@one.EXAMPLE', 'no@x.y'),
);
const query = fc.record({
  owner: fc.constantFrom('all' as const, ...KEYS.map((keyId) => ({ keyId }))),
  statuses: fc.subarray([...MESSAGE_STATUSES]),
  limit: fc.integer({ min: 1, max: 5 }),
  tag: maybe(fc.constantFrom(...TAGS, 'c')),
  to: sought,
  from: sought,
  subject: maybe(fc.constantFrom('INVOICE', 'straSSe', 'straße', '7')),
  /** Places in the world's messages. */
  since: maybe(fc.nat(90)),
  until: maybe(fc.nat(90)),
});
type Asked = typeof query extends fc.Arbitrary<infer T> ? T : never;
const queries = fc.record({
  maxExamined: fc.integer({ min: 31, max: 60 }),
  sliceRecords: fc.integer({ min: 6, max: 60 }),
  /** How many are found by their words. */
  indexed: fc.nat(90),
  list: fc.array(query, { minLength: 8, maxLength: 16, size: 'max' }),
});

/** A message that was stored, and what it was made of. */
interface Stored {
  readonly id: string;
  readonly seed: Seed;
}

async function fill({ store, views }: Subject, seeds: readonly Seed[]): Promise<Stored[]> {
  const lease = await takeLane(store);
  const records = seeds.map(({ key, tags, to, from, reversePath, subject, status }) => {
    const fence = status === 'queued' ? null : lease.fence;
    const deliveries = to.map((address) =>
      recipient({ fence, recipient: { address, kind: 'to', notify: null, orcpt: null } }),
    );
    const header = { from: `Name <${from}>`, subject, messageId: '<1@x.org>' };
    return message({ keyId: key, tags, reversePath, header, deliveries });
  });
  await store.accept(records, at());
  const outcomes = { retrying: DEFERRED, delivered: DELIVERED, failed: REJECTED };
  for (const [place, { status, to }] of seeds.entries()) {
    if (status === 'queued' || status === 'processing') continue;
    const unit = refTo(records[place]?.id ?? '', lease, [...to.keys()]);
    await attempt(
      store,
      unit,
      to.map(() => outcomes[status]),
    );
  }
  const stored = records.map(({ id }, place) => ({ id, seed: seeds[place] as Seed }));
  for (const {
    id,
    seed: { status },
  } of stored)
    expect((await read(views, id)).message.status).toBe(status);
  return stored.reverse();
}

async function compare({ views }: Subject, world: readonly Stored[], asked: Asked): Promise<void> {
  const timeOf = (place: number | null) =>
    place === null ? null : messageIdTime(world[place % world.length]?.id ?? '');
  const [since, until] = [timeOf(asked.since), timeOf(asked.until)];
  const { owner, statuses, limit, tag, to, from, subject } = asked;
  const filter = { tag, to, from, subject, since, until };
  const found: string[] = [];
  let before: string | null = null;
  for (let pages = 0; pages <= world.length; pages++) {
    const page = await views.list({ owner, statuses, filter, before, limit });
    expect(page.messages.length).toBeLessThanOrEqual(limit);
    found.push(...page.messages.map(({ id }) => id));
    before = page.next;
    if (before === null) break;
  }
  expect(before, 'the pages come to an end').toBeNull();
  expect(found).toEqual(world.filter((one) => belongs(one, asked, since, until)).map(({ id }) => id));
}

/** The filters in plain words. */
function belongs(
  { id, seed: one }: Stored,
  asked: Asked,
  since: number | null,
  until: number | null,
): boolean {
  const time = messageIdTime(id);
  const isAddress = (wanted: string, address: string) =>
    (wanted.startsWith('@') ? `@${address.split('@')[1]}` : address).toLowerCase() === wanted.toLowerCase();
  return (
    (asked.owner === 'all' || asked.owner.keyId === one.key) &&
    (asked.statuses.length === 0 || asked.statuses.includes(one.status)) &&
    (asked.tag === null || one.tags.includes(asked.tag)) &&
    (asked.to === null || one.to.some((address) => isAddress(asked.to ?? '', address))) &&
    (asked.from === null ||
      [one.from, one.reversePath].some((address) => isAddress(asked.from ?? '', address))) &&
    (asked.subject === null || one.subject.toLowerCase().includes(asked.subject.toLowerCase())) &&
    (since === null || time >= since) &&
    (until === null || time < until)
  );
}
