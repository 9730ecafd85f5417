import { expect, test } from 'vitest';
import type { MessageRecord } from '../../../domain/message.ts';
import { Problem } from '../../../http/problem.ts';
import type { ParsedMessage } from '../../../preview/parsed.ts';
import { CapturedWords, type WordsLimits } from './captured-words.ts';

const EMPTY: ParsedMessage = {
  subject: '',
  from: '',
  headers: [],
  html: null,
  text: null,
  plain: '',
  attachments: [],
  remotePictures: 0,
  links: [],
  codes: [],
  notes: [],
  mailboxes: { from: [], to: [], cc: [], replyTo: [] },
};

// Only the id is looked at.
const record = (id: string) => ({ id }) as MessageRecord;

/** Words over texts by id; `reads` are the ids that were read, in order. */
function wordsOf(
  texts: Readonly<Record<string, Partial<ParsedMessage> | Problem>>,
  limits: WordsLimits = {},
) {
  const reads: string[] = [];
  let atOnce = 0;
  let most = 0;
  const words = new CapturedWords(async ({ id }) => {
    reads.push(id);
    most = Math.max(most, ++atOnce);
    await Promise.resolve();
    atOnce--;
    const found = texts[id] ?? {};
    if (found instanceof Problem) throw found;
    return { ...EMPTY, ...found };
  }, limits);
  return { words, reads, most: () => most };
}

const file = (inline: boolean, bytes = 1) => ({
  filename: 'a',
  contentType: 'image/png',
  inline,
  contentId: null,
  content: new Uint8Array(bytes),
});

test('a gist is the beginning on one line, and counts files', async () => {
  const plain = `  Your\n code ${'x'.repeat(300)}`;
  const { words } = wordsOf({ a: { plain, attachments: [file(false), file(true), file(false)] } });
  const gist = await words.gist(record('a'));
  expect(gist).toMatchObject({ attachments: 2, inline: 1 });
  expect(gist?.snippet).toHaveLength(200);
  expect(gist?.snippet).toMatch(/^Your code xxx/);
  expect(gist?.searched).toContain('your\n code');
});

test('what was read is not read again, by however many at once', async () => {
  const { words, reads } = wordsOf({ a: { plain: 'A' } });
  await Promise.all([words.gist(record('a')), words.words(record('a')), words.gist(record('a'))]);
  expect((await words.words(record('a'))).plain).toBe('A');
  expect(reads).toEqual(['a']);
  words.forget(['a']);
  expect(words.bytes).toBe(0);
  await words.gist(record('a'));
  expect(reads).toEqual(['a', 'a']);
});

test('messages are read one at a time', async () => {
  const { words, reads, most } = wordsOf({ b: new Problem(503, 'busy', '') });
  await Promise.allSettled(['a', 'b', 'c'].map((id) => words.words(record(id))));
  expect([reads, most()]).toEqual([['a', 'b', 'c'], 1]);
});

test('beyond the bound, what was not used longest is dropped', async () => {
  const texts = Object.fromEntries(['a', 'b', 'c'].map((id) => [id, { plain: 'x'.repeat(1000) }]));
  const { words, reads } = wordsOf(texts, { maxBytes: 8000 });
  for (const id of ['a', 'b', 'a', 'c', 'a', 'b']) await words.gist(record(id));
  expect(words.bytes).toBeLessThanOrEqual(8000);
  expect(reads).toEqual(['a', 'b', 'c', 'b']);
});

test('whole messages are dropped before gists', async () => {
  const ids = ['a', 'b', 'c'];
  const texts = Object.fromEntries(ids.map((id) => [id, { html: 'x'.repeat(5000) }]));
  const { words, reads } = wordsOf(texts, { maxBytes: 16_000 });
  for (const id of [...ids, ...ids]) await words.gist(record(id));
  expect(words.bytes).toBeLessThanOrEqual(16_000);
  expect(reads).toEqual(ids);
  await words.words(record('c'));
  expect(reads).toEqual(ids);
  await words.words(record('a'));
  expect(reads).toEqual([...ids, 'a']);
});

test('of a large message only the gist is kept', async () => {
  const { words, reads } = wordsOf({ a: { attachments: [file(false, 10_000)] } }, { maxWholeBytes: 9_000 });
  await words.words(record('a'));
  expect(words.bytes).toBeLessThan(9_000);
  expect(await words.gist(record('a'))).toMatchObject({ attachments: 1 });
  await words.words(record('a'));
  expect(reads).toEqual(['a', 'a']);
});

test('what cannot be read has an empty gist, what is gone has none, what is busy is tried again', async () => {
  const { words, reads } = wordsOf({
    bad: new Problem(409, 'unreadable_content', ''),
    busy: new Problem(503, 'unreadable_content', ''),
    gone: new Problem(404, 'content_expired', ''),
  });
  for (const id of ['bad', 'bad'])
    expect(await words.gist(record(id))).toMatchObject({ snippet: '', attachments: 0 });
  for (const id of ['busy', 'busy'])
    await expect(words.gist(record(id))).rejects.toMatchObject({ status: 503 });
  expect(await words.gist(record('gone'))).toBeNull();
  expect(reads).toEqual(['bad', 'busy', 'busy', 'gone']);
  await expect(words.words(record('bad'))).rejects.toMatchObject({ status: 409 });
});
