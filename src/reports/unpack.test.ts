import { deflateRawSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { zipOf } from '../../test/support/zip.ts';
import { MAX_UNPACKED_BYTES, unpack } from './unpack.ts';

const XML = '<?xml version="1.0"?><feedback/>';

test.each([
  ['XML as it is', Buffer.from(XML)],
  ['XML with a byte order mark', Buffer.from(`\ufeff${XML}`)],
  ['gzip', gzipSync(XML)],
  ['zip', zipOf([['report.xml', XML]])],
  ['zip without compression', zipOf([['report.xml', XML]], 'stored')],
  [
    'zip with a file before it',
    zipOf([
      ['readme.txt', 'hello'],
      ['report.xml', XML],
    ]),
  ],
])('%s is unpacked', async (_, bytes) => {
  expect(await unpack(bytes)).toEqual({ ok: true, text: XML });
});

const BOMB = Buffer.alloc(MAX_UNPACKED_BYTES + 1, ' ');

test.each([
  ['gzip', gzipSync(BOMB)],
  ['zip', zipOf([['report.xml', BOMB]])],
  // What the directory says of its size is a lie.
  ['zip that says it is small', zipOf([['report.xml', BOMB]], 'deflated', 10)],
  ['zip without compression', zipOf([['report.xml', BOMB]], 'stored')],
  ['XML', Buffer.concat([Buffer.from('<?xml?>'), BOMB])],
])('a bomb in %s ends at the limit', async (_, bytes) => {
  expect(await unpack(bytes)).toEqual({
    ok: false,
    reason: `unpacked it has more than ${MAX_UNPACKED_BYTES} bytes`,
  });
});

test.each([
  ['nothing', Buffer.alloc(0)],
  ['text', Buffer.from('hello')],
  ['half of a gzip', gzipSync(XML.repeat(100)).subarray(0, 40)],
  ['half of a zip', zipOf([['report.xml', XML]]).subarray(0, 60)],
  ['an empty zip', Buffer.concat([Buffer.from('PK\x03\x04'), zipOf([])])],
  ['raw deflate', deflateRawSync(XML)],
])('%s is refused', async (_, bytes) => {
  expect(await unpack(bytes)).toMatchObject({ ok: false });
});

test('a damaged archive ends in a text or a reason', async () => {
  const archives = [
    gzipSync(XML),
    zipOf([
      ['a.txt', 'x'],
      ['report.xml', XML],
    ]),
  ] as const;
  const change = fc.tuple(fc.nat(200), fc.nat(255));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...archives),
      fc.array(change, { maxLength: 4 }),
      async (from, changes) => {
        const bytes = Buffer.from(from);
        for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
        const unpacked = await unpack(bytes);
        return unpacked.ok ? unpacked.text.length < 1e6 : unpacked.reason.length > 0;
      },
    ),
    { numRuns: 300 },
  );
});
