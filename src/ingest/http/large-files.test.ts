import { expect, test } from 'vitest';
import { parseJson } from '../../http/json.ts';
import { atOnce } from '../../lib/clock.ts';
import { type Cut, cutLargeFiles, withLargeFiles } from './large-files.ts';
import { fieldsFromJson } from './schema.ts';

const LIMITS = { maxDepth: 32, maxValues: 10_000 };
const bytes = (length: number, of = 'a file') => Buffer.alloc(length, of);
const file = (content: string) => ({ filename: 'f.bin', content });
const mail = (...contents: string[]) => ({
  from: 'a@example.com',
  to: ['b@example.com'],
  attachments: contents.map(file),
});
const bodyOf = (value: unknown) => Buffer.from(JSON.stringify(value));
const fieldsOf = (text: Buffer) => fieldsFromJson(parseJson(text, LIMITS));
const cutOf = (body: Buffer): Cut => {
  const cut = atOnce(cutLargeFiles(body));
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
    expect(withLargeFiles(fieldsOf(cut.text), cut)?.fields).toEqual(fieldsOf(body).fields);
  },
);

test.each([
  ['in the middle', (text: string) => `${text.slice(0, 300_000)}-${text.slice(300_001)}`],
  ['padding between two pieces', (text: string) => `${text.slice(0, 262_142)}==${text.slice(262_144)}`],
  ['stray bits at the end', (text: string) => `${text.slice(0, -4)}QQR=`],
  ['an escape', (text: string) => `${text.slice(0, 300_000)}\n${text.slice(300_001)}`],
  ['no ASCII', (text: string) => `${text.slice(0, 300_000)}é${text.slice(300_001)}`],
])('what is no base64 stays where it is: %s', (_, change) => {
  expect(atOnce(cutLargeFiles(bodyOf(mail(change(bytes(600_000).toString('base64'))))))).toBeNull();
});

test('what is cut elsewhere than from a file, and marks that came with the body, put nothing back', () => {
  const text = bodyOf({ ...mail(), text: bytes(600_000).toString('base64') });
  expect(withLargeFiles(fieldsOf(text), cutOf(text))).toBeNull();
  const large = bytes(600_000).toString('base64');
  const mark = JSON.parse(cutOf(bodyOf(mail(large))).text.toString()).attachments[0].content;
  const forged = cutOf(bodyOf(mail(mark, large)));
  expect(withLargeFiles(fieldsOf(forged.text), forged)).toBeNull();
});

test('an unfinished string is left to the parser', () => {
  expect(atOnce(cutLargeFiles(Buffer.from(`{"a":"${'x'.repeat(400_000)}`)))).toBeNull();
});
