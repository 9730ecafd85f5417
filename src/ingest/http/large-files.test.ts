import { describe, expect, test } from 'vitest';
import { parseJson } from '../../http/json.ts';
import { atOnce } from '../../lib/clock.ts';
import { seededRandom } from '../../lib/random.ts';
import { type Cut, cutLargeFiles, fieldsWithFiles } from './large-files.ts';
import { fieldsFromJson } from './schema.ts';

const RANDOM = seededRandom(1);
const LIMITS = { maxDepth: 32, maxValues: 10_000 };
const bytes = (length: number, of = 'a file') => Buffer.alloc(length, of);
const LARGE = bytes(600_000).toString('base64');
const file = (content: string) => ({ filename: 'f.bin', content });
const mail = (...contents: string[]) => ({
  from: 'a@example.com',
  to: ['b@example.com'],
  attachments: contents.map(file),
});
const bodyOf = (value: unknown) => Buffer.from(JSON.stringify(value));
const fieldsOf = (text: Buffer) => fieldsFromJson(parseJson(text, LIMITS));
const cutOf = (body: Buffer): Cut => {
  const cut = atOnce(cutLargeFiles(body, RANDOM));
  if (cut === null) throw new Error('nothing was cut');
  return cut;
};

test.each([0, 1, 2])(
  'fields are the same as parsed with the rest, with %i bytes in the last group',
  (rest) => {
    const contents = [bytes(500_000 + rest), bytes(10), bytes(900_001, 'Ω')].map((one) =>
      one.toString('base64'),
    );
    const body = bodyOf({ ...mail(...contents), subject: 'a "quoted" \\' });
    const cut = cutOf(body);
    expect(cut.text.length).toBeLessThan(1000);
    expect(fieldsWithFiles(cut, fieldsOf)?.fields).toEqual(fieldsOf(body).fields);
  },
);

test.each([
  ['in the middle', (text: string) => `${text.slice(0, 300_000)}-${text.slice(300_001)}`],
  ['padding between two pieces', (text: string) => `${text.slice(0, 262_142)}==${text.slice(262_144)}`],
  ['stray bits at the end', (text: string) => `${text.slice(0, -4)}QQR=`],
  ['an escape', (text: string) => `${text.slice(0, 300_000)}\n${text.slice(300_001)}`],
  ['no ASCII', (text: string) => `${text.slice(0, 300_000)}é${text.slice(300_001)}`],
])('what is no base64 stays where it is: %s', (_, change) => {
  const body = bodyOf(mail(change(bytes(600_000).toString('base64'))));
  expect(atOnce(cutLargeFiles(body, RANDOM))).toBeNull();
});

test.each([
  ['from a text', { ...mail(), text: LARGE }],
  ['from one file and a text', { ...mail(LARGE), text: LARGE }],
  ['beside a fault', { ...mail(LARGE), subject: 1 }],
  ['from what is no message', [LARGE]],
])('what is cut %s is read whole, and the memory of its files is given back', (_, value) => {
  const cut = cutOf(bodyOf(value));
  const files = [...cut.files.values()];
  expect(fieldsWithFiles(cut, fieldsOf)).toBeNull();
  expect(files.map(({ length }) => length)).toEqual(files.map(() => 0));
});

test('a file takes no more memory than it has bytes, so that this can be given back', () => {
  for (const rest of [0, 1, 2]) {
    const [file] = cutOf(bodyOf(mail(bytes(600_000 + rest).toString('base64')))).files.values();
    expect([file?.byteLength, file?.buffer.byteLength]).toEqual([600_000 + rest, 600_000 + rest]);
  }
});

describe('a mark that came with the body', () => {
  /** The mark of another body's first file. */
  const forged = () => JSON.parse(cutOf(bodyOf(mail(LARGE))).text.toString()).attachments[0].content;

  test.each([
    ['as the content of a file', () => file(forged())],
    ['as the name of a file', () => ({ filename: forged(), content: 'YQ==' })],
    ['as both', () => ({ filename: forged(), content: forged() })],
  ])('does not stand for what was cut from a text: %s', (_, attachment) => {
    const body = bodyOf({ ...mail(), text: LARGE, attachments: [attachment()] });
    const cut = cutOf(body);
    expect(fieldsWithFiles(cut, fieldsOf)).toBeNull();
  });

  test('is the content of its file beside a large one', () => {
    const body = bodyOf(mail(forged(), LARGE));
    const cut = cutOf(body);
    expect(fieldsWithFiles(cut, fieldsOf)?.fields).toEqual(fieldsOf(body).fields);
  });
});

test('an unfinished string is left to the parser', () => {
  const body = Buffer.from(`{"b":"${LARGE}","a":"${'x'.repeat(400_000)}`);
  expect(atOnce(cutLargeFiles(body, RANDOM))).toBeNull();
});
