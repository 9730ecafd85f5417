import { expect, test, vi } from 'vitest';
import { type Attachment, base64, toSubmission } from './message.ts';

const LETTER = { from: 'a@example.com', to: 'b@example.net', text: 'x' };

test.for([0, 1, 2, 3, 24_575, 24_576, 24_577, 100_000])(
  '%i bytes become base64, whatever the runtime has for that',
  (length) => {
    const bytes = Uint8Array.from({ length }, (_, place) => place % 251);
    const text = Buffer.from(bytes).toString('base64');
    expect(base64(bytes)).toBe(text);
    expect(base64(Object.assign(new Uint8Array(length), { toBase64: () => 'built in' }))).toBe('built in');
    vi.stubGlobal('Buffer', undefined);
    try {
      expect(base64(bytes)).toBe(text);
    } finally {
      vi.unstubAllGlobals();
    }
  },
);

test('part of a larger buffer is taken alone', async () => {
  const content = new Uint8Array([1, 2, 3, 4, 5]).subarray(1, 3);
  expect(await attachment({ content })).toEqual({ content: 'AgM=' });
});

test('text is base64 already', async () => {
  expect(await attachment({ filename: 'a', content: 'AgM=' })).toEqual({ filename: 'a', content: 'AgM=' });
});

test('a file gives its name and type, unless others are given', async () => {
  const content = new File(['hi'], 'hi.txt', { type: 'text/plain' });
  expect(await attachment({ content })).toEqual({
    content: 'aGk=',
    filename: 'hi.txt',
    contentType: 'text/plain',
  });
  expect(await attachment({ content, filename: 'b.bin', contentType: 'x/y' })).toMatchObject({
    filename: 'b.bin',
    contentType: 'x/y',
  });
  expect(await attachment({ content: new Blob(['hi']) })).toMatchObject({
    filename: null,
    contentType: null,
  });
});

test('headers and metadata may be maps', async () => {
  const headers = new Headers({ 'Reply-To': 'r@example.com' });
  const metadata = new Map([['order', '4711']]);
  expect(await toSubmission({ ...LETTER, headers, metadata })).toEqual({
    ...LETTER,
    headers: { 'reply-to': 'r@example.com' },
    metadata: { order: '4711' },
  });
});

test('null is nothing', async () => {
  const nothing = { attachments: null, headers: null, metadata: null, sendAt: null };
  expect(await toSubmission({ ...LETTER, ...nothing })).toEqual(LETTER);
});

test('a date becomes RFC 3339, and one that is none a text that the server refuses', async () => {
  const at = (sendAt: Date | string) => toSubmission({ ...LETTER, sendAt });
  expect(await at(new Date(0))).toEqual({ ...LETTER, sendAt: '1970-01-01T00:00:00.000Z' });
  expect(await at('2027-01-01T00:00:00+01:00')).toEqual({ ...LETTER, sendAt: '2027-01-01T00:00:00+01:00' });
  expect(await at(new Date(Number.NaN))).toEqual({ ...LETTER, sendAt: 'Invalid Date' });
});

async function attachment(given: Attachment): Promise<unknown> {
  return (await toSubmission({ ...LETTER, attachments: [given] })).attachments?.[0];
}
