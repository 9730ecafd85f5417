import { expect, test } from 'vitest';
import type { MessageRecord } from '../../../domain/message.ts';
import { Problem } from '../../../http/problem.ts';
import type { ParsedMessage } from '../../../preview/parsed.ts';
import type { ListPage, ListQuery } from '../../../store/views.ts';
import { CapturedMail } from '../inbox/captured-mail.ts';
import { CapturedWords, type ReadWords } from '../inbox/captured-words.ts';
import { MAX_SEEN, newestOf, searched } from './mailbox.ts';
import { Summaries } from './summaries.ts';

const RECORD: MessageRecord = {
  id: 'msg_1',
  keyId: 'key_1',
  status: 'delivered',
  outcome: 'captured',
  createdAt: 0,
  updatedAt: 0,
  statusAt: 0,
  finalAt: 0,
  deliveredAt: 0,
  waits: [],
  sendAt: null,
  expiresAt: 0,
  envelopeFrom: 'shop@example.com',
  header: { from: 'Shop <shop@example.com>', subject: 'Hello', messageId: '<1@x.test>' },
  to: ['ann@example.org'],
  cc: [],
  bcc: ['bob@example.org'],
  tags: ['news'],
  metadata: {},
  sizeBytes: 100,
  flags: { eightBit: false, utf8: false, dotStuffing: false },
  priority: 'normal',
  source: 'api',
  door: null,
  box: null,
  tls: null,
  test: true,
  relay: 'inbox',
  providerMessageId: null,
  attempts: 1,
  lastError: null,
  content: { segment: 1, offset: 0, length: 100 },
  copies: null,
  possibleDuplicate: false,
  inboxRead: false,
  inboxTags: null,
};
const WORDS: ParsedMessage = {
  subject: 'Hello',
  from: 'Shop <shop@example.com>',
  headers: [],
  html: null,
  text: 'Your code is 135790.\n',
  plain: 'Your code is 135790.\n',
  mailboxes: {
    from: [{ name: 'Shop', address: 'shop@example.com' }],
    to: [{ name: 'Ann', address: 'ann@example.org' }],
    cc: [],
    replyTo: [],
  },
  attachments: [],
  remotePictures: 0,
  links: [],
  codes: [],
  notes: [],
};
const record = (place: number, changes: Partial<MessageRecord> = {}) => ({
  ...RECORD,
  id: `msg_${place}`,
  ...changes,
});

/** So many messages, given in pages of at most so many. */
function mailbox(count: number, pageSize: number) {
  const asked: ListQuery[] = [];
  const list = async (query: ListQuery): Promise<ListPage> => {
    asked.push(query);
    const first = query.before === null ? 0 : Number(query.before);
    const end = Math.min(first + Math.min(query.limit, pageSize), count);
    const messages = Array.from({ length: end - first }, (_, place) => record(first + place));
    return { messages, next: end < count ? String(end) : null };
  };
  const views = { list, message: () => Promise.reject(new Error('one message')) };
  const acts = { discard: () => Promise.reject(new Error('discard')) };
  const words = new CapturedWords(() => Promise.reject(new Error('read')));
  return { captured: new CapturedMail({ views, acts, words }), asked };
}

/** Summaries of messages that are read in this way, every time. */
function summariesOf(words: ReadWords): Summaries {
  return new Summaries({ words });
}

const { signal } = new AbortController();

test('a mailbox is read page by page, to its end', async () => {
  const { captured, asked } = mailbox(250, 100);
  const found = await newestOf({ keyId: 'key_1', box: 'a' }, { captured }, signal);
  expect(found.map(({ id }) => id)).toEqual(Array.from({ length: 250 }, (_, place) => `msg_${place}`));
  expect(asked).toHaveLength(3);
  expect(asked[0]).toMatchObject({ owner: { keyId: 'key_1' }, filter: { captured: true, box: 'a' } });
});

test('of a larger one, the newest are seen', async () => {
  const { captured } = mailbox(MAX_SEEN + 500, 500);
  expect(await newestOf({ keyId: 'key_1', box: null }, { captured }, signal)).toHaveLength(MAX_SEEN);
});

test('nobody goes on to read one whose client has left', async () => {
  const { captured, asked } = mailbox(250, 100);
  const account = { keyId: 'key_1', box: null };
  expect(await newestOf(account, { captured }, AbortSignal.abort())).toHaveLength(100);
  expect(asked).toHaveLength(1);
});

test('contents are read once, and only where the record does not decide', async () => {
  let reads = 0;
  const summaries = summariesOf(async () => {
    reads++;
    return WORDS;
  });
  const messages = [record(1), record(2, { header: { ...RECORD.header, subject: 'Other' } })];
  const search = async (...conditions: Parameters<typeof searched>[1]) =>
    (await searched(messages, conditions, { summaries }, signal)).map(({ id }) => id);
  expect(await search({ kind: 'subject', part: 'hello', not: false })).toEqual(['msg_1']);
  expect(reads).toBe(0);
  const code = { kind: 'text', part: 'code is 135790', not: false } as const;
  expect(await search({ kind: 'subject', part: 'hello', not: false }, code)).toEqual(['msg_1']);
  expect(reads).toBe(1);
  expect(await search(code)).toEqual(['msg_1', 'msg_2']);
  expect(await search({ ...code, not: true })).toEqual([]);
  expect(reads).toBe(2);
});

test('a search whose client has left goes no further', async () => {
  const summaries = summariesOf(async () => {
    throw new Error('read');
  });
  const text = { kind: 'text', part: 'x', not: false } as const;
  expect(await searched([record(1)], [text], { summaries }, AbortSignal.abort())).toEqual([]);
});

test('of one that cannot be parsed, the record tells what it knows', async () => {
  const summaries = summariesOf(() => Promise.reject(new Problem(409, 'unreadable_content', 'Odd.')));
  expect(await summaries.of(RECORD)).toMatchObject({
    mailboxes: {
      from: [{ name: 'Shop', address: 'shop@example.com' }],
      to: [{ name: '', address: 'ann@example.org' }],
      bcc: [{ name: '', address: 'bob@example.org' }],
    },
    text: 'shop shop@example.com ann@example.org bob@example.org shop@example.com hello',
    attachments: 0,
    snippet: '',
  });
});

test('what cannot be read now is no answer', async () => {
  const busy = new Problem(503, 'unreadable_content', 'Busy.');
  await expect(summariesOf(() => Promise.reject(busy)).of(RECORD)).rejects.toBe(busy);
});

test('a snippet is short, and in one line', async () => {
  const words = { ...WORDS, plain: `a\n\n b ${'😀'.repeat(300)}` };
  const { snippet } = await summariesOf(async () => words).of(RECORD);
  expect(snippet).toMatch(/^a b 😀+\uFFFD?\.\.\.$/u);
  expect(snippet.length).toBeLessThanOrEqual(204);
});

test('as many summaries are kept as have room, the last ones', async () => {
  const reads: string[] = [];
  const words = { ...WORDS, plain: 'x'.repeat(100_000) };
  const summaries = summariesOf(async ({ id }) => {
    reads.push(id);
    return words;
  });
  for (let place = 0; place < 500; place++) await summaries.of(record(place));
  expect(summaries.size).toBeGreaterThan(50);
  expect(summaries.size).toBeLessThan(200);
  await summaries.of(record(499));
  expect(reads).toHaveLength(500);
  await summaries.of(record(0));
  expect(reads).toHaveLength(501);
});
