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

const UMLAUT = '<feedback>ü</feedback>';
const utf16 = (text: string) => Buffer.from(text, 'utf16le');

test.each([
  ['UTF-16 with a byte order mark', utf16(`\ufeff${UMLAUT}`)],
  ['UTF-16 without one', utf16(UMLAUT)],
  ['UTF-16, the high byte first', utf16(`\ufeff${UMLAUT}`).swap16()],
  ['UTF-16 in gzip', gzipSync(utf16(`\ufeff${UMLAUT}`))],
  ['UTF-16 in zip', zipOf([['report.xml', utf16(`\ufeff${UMLAUT}`)]])],
  ['UTF-8', Buffer.from(UMLAUT)],
])('%s is read as text', async (_, bytes) => {
  expect(await unpack(bytes)).toEqual({ ok: true, text: UMLAUT });
});

test.each([
  ['iso-8859-1', Buffer.from([0xfc]), 'ü'],
  ['windows-1252', Buffer.from([0x80]), '€'],
  ['utf-8', Buffer.from('ü'), 'ü'],
  // It says so in UTF-8, so it is none.
  ['utf-16', Buffer.from('ü'), 'ü'],
])('text in %s is read as it says', async (encoding, bytes, text) => {
  const begin = `<?xml version="1.0" encoding="${encoding}"?><feedback>`;
  const xml = Buffer.concat([Buffer.from(begin), bytes, Buffer.from('</feedback>')]);
  expect(await unpack(gzipSync(xml))).toEqual({ ok: true, text: `${begin}${text}</feedback>` });
});

test('text in an encoding that is not known is refused', async () => {
  const xml = '<?xml version="1.0" encoding="ebcdic-it"?><feedback/>';
  expect(await unpack(Buffer.from(xml))).toMatchObject({
    ok: false,
    reason: expect.stringContaining('encoding'),
  });
});

test('an archive in an archive is not unpacked', async () => {
  const inner = zipOf([['report.xml', XML]]);
  for (const bytes of [zipOf([['report.zip', inner]]), gzipSync(gzipSync(XML))])
    expect(await unpack(bytes)).toMatchObject({ ok: false, reason: expect.stringContaining('not XML') });
});

test('a zip archive whose contents are not those that were packed is refused', async () => {
  const zip = zipOf([['report.xml', XML]], 'stored');
  zip.write('?', zip.indexOf('<feedback/>'));
  expect(await unpack(zip)).toMatchObject({ ok: false, reason: expect.stringContaining('damaged') });
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
