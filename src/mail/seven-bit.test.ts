import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce } from '../lib/clock.ts';
import { encodedWords } from './field.ts';
import { type Allowed, LineLength, toSevenBit } from './seven-bit.ts';

const NOTHING: Allowed = { eightBitHeaders: false, eightBitBodies: false };
const BODIES: Allowed = { eightBitHeaders: false, eightBitBodies: true };
const ALL: Allowed = { eightBitHeaders: true, eightBitBodies: true };

/** Text as encoded words. */
const coded = (text: string) => encodedWords(text).join(' ');
const message = (lines: readonly string[]) => Buffer.from(`${lines.join('\r\n')}\r\n`);

/** The converted lines, or why there are none. */
function convert(lines: readonly string[] | Buffer, allowed: Allowed = NOTHING): string[] | string {
  const bytes = Buffer.isBuffer(lines) ? lines : message(lines);
  const result = atOnce(toSevenBit(bytes, allowed));
  if (!result.ok) return result.because;
  const text = Buffer.concat(result.chunks).toString();
  expect(text.endsWith('\r\n')).toBe(true);
  return text.slice(0, -2).split('\r\n');
}

test('a text becomes quoted-printable, and says so where it said 8bit', () => {
  const header = ['Subject: x', 'MIME-Version: 1.0', 'Content-Type: text/plain; charset=utf-8'];
  expect(convert([...header, 'Content-Transfer-Encoding: 8bit', '', 'Grüße', '.', ''])).toEqual([
    ...header,
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Gr=C3=BC=C3=9Fe',
    '=2E',
    '',
  ]);
});

test('a message without MIME gets what it needs to be read, as UTF-8 only if it is', () => {
  const added = [
    'Content-Transfer-Encoding: quoted-printable',
    'Content-Type: text/plain; charset=utf-8',
    'MIME-Version: 1.0',
  ];
  expect(convert(['Subject: x', '', 'ü'])).toEqual(['Subject: x', ...added, '', '=C3=BC']);
  const latin1 = convert(Buffer.from('Subject: x\r\n\r\n\xfc\r\n', 'latin1'));
  expect(latin1).toContain('Content-Type: text/plain; charset=unknown-8bit');
  expect(latin1).toContain('=FC');
});

test('only the parts that need it are changed; boundaries, preamble and order stay', () => {
  const before = ['Content-Type: multipart/mixed; boundary="b b"', 'Content-Transfer-Encoding: 8bit', ''];
  const plain = ['--b b', 'Content-Type: text/plain', '', 'as it is', '--b bx', 'is no boundary'];
  const close = ['--b b--', 'epilogue'];
  const parts = [
    '--b b  ',
    'Content-Type: application/x-thing',
    'Content-Transfer-Encoding: binary',
    '',
    'ü',
    '--b b',
    '',
    'ü',
  ];
  expect(convert([...before, 'preamble', ...plain, ...parts, ...close])).toEqual([
    'Content-Type: multipart/mixed; boundary="b b"',
    'Content-Transfer-Encoding: 7bit',
    '',
    'preamble',
    ...plain,
    '--b b  ',
    'Content-Type: application/x-thing',
    'Content-Transfer-Encoding: base64',
    '',
    'w7w=',
    '--b b',
    'Content-Transfer-Encoding: quoted-printable',
    'Content-Type: text/plain; charset=utf-8',
    '',
    '=C3=BC',
    ...close,
  ]);
});

test('what stands before and behind the parts goes when it is not fine', () => {
  const lines = ['Content-Type: multipart/mixed; boundary=b', '', 'prä', '--b', '', 'x', '--b--', 'epü'];
  expect(convert(lines)).toEqual(['Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'x', '--b--']);
});

test('a message within a message is converted, never encoded', () => {
  const inner = ['Subject: größe', 'MIME-Version: 1.0', 'Content-Type: text/html', '', '<p>ü</p>'];
  const outer = ['Content-Type: message/rfc822', 'Content-Transfer-Encoding: 8bit', ''];
  expect(convert([...outer, ...inner])).toEqual([
    'Content-Type: message/rfc822',
    'Content-Transfer-Encoding: 7bit',
    '',
    `Subject: ${coded('größe')}`,
    'MIME-Version: 1.0',
    'Content-Type: text/html',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    '<p>=C3=BC</p>',
  ]);
  // It is content, so where bodies of 8 bits are taken it stays.
  expect(convert([...outer, ...inner], BODIES)).toEqual([...outer, ...inner]);
});

test('a part of a digest is a message unless it says otherwise', () => {
  const before = ['Content-Type: multipart/digest; boundary=b', '', '--b'];
  const inner = ['Subject: größe', 'MIME-Version: 1.0', 'Content-Type: text/html'];
  const note = ['--b', 'Content-Type: text/plain; charset=utf-8'];
  const quotedPrintable = 'Content-Transfer-Encoding: quoted-printable';
  expect(convert([...before, '', ...inner, '', '<p>ü</p>', ...note, '', 'ü', '--b--'])).toEqual([
    ...before,
    '',
    `Subject: ${coded('größe')}`,
    ...inner.slice(1),
    quotedPrintable,
    '',
    '<p>=C3=BC</p>',
    '',
    ...note,
    quotedPrintable,
    '',
    '=C3=BC',
    '--b--',
  ]);
  const encoded = 'Content-Transfer-Encoding: base64';
  expect(convert([...before, encoded, '', 'QUJD'.repeat(300), '--b--'], ALL)).toEqual([
    ...before,
    encoded,
    '',
    ...Array<string>(15).fill('QUJD'.repeat(19)),
    'QUJD'.repeat(15),
    '--b--',
  ]);
});

test.each([
  ['text behind it', ['aGVsbG8=', 'Fußnote']],
  ['ASCII behind it, of letters of its own', ['aGVsbG8=', 'Footer', 'x'.repeat(999)]],
  ['a sign that is none of it', [`aGVs*bG8${'='.repeat(999)}`]],
  ['half a letter', [`aGVsbG8h${'a'.repeat(1001)}`]],
])('base64 with %s is refused: nothing is lost unsaid', (_what, body) => {
  const typed = ['MIME-Version: 1.0', 'Content-Type: text/plain', 'Content-Transfer-Encoding: base64', ''];
  expect(convert([...typed, ...body])).toBe('structure');
});

test('base64 may have blanks in it and lack its padding', () => {
  const typed = [
    'MIME-Version: 1.0',
    'Content-Type: application/x-y',
    'Content-Transfer-Encoding: base64',
    '',
  ];
  const body = ['QUJ D\tQUJD', '', `QUI${' '.repeat(999)}`];
  expect(convert([...typed, ...body])).toEqual([...typed, 'QUJDQUJDQUI=']);
});

test('what is encoded badly is encoded anew', () => {
  const typed = ['MIME-Version: 1.0', 'Content-Type: text/plain'];
  const quotedPrintable = 'Content-Transfer-Encoding: quoted-printable';
  const base64 = [...typed, 'Content-Transfer-Encoding: base64', '', 'QUJD'.repeat(300)];
  const lines = [...Array<string>(11).fill(`${'ABC'.repeat(25)}=`), 'ABC'.repeat(25)];
  expect(convert(base64, ALL)).toEqual([...typed, quotedPrintable, '', ...lines]);
  const quoted = [...typed, quotedPrintable, '', 'a=3Dü=20', 'b =', 'c  '];
  expect(convert(quoted)).toEqual([...typed, quotedPrintable, '', 'a=3D=C3=BC=20', 'b c']);
});

test('a line that is too long is encoded, though all may be 8-bit', () => {
  const typed = ['MIME-Version: 1.0', 'Content-Type: text/plain; charset=utf-8', ''];
  expect(convert([...typed, 'ü'.repeat(499)], ALL)).toEqual([...typed, 'ü'.repeat(499)]);
  const [, , encoding, , first] = convert([...typed, `${'ü'.repeat(499)}x`], ALL);
  expect(encoding).toBe('Content-Transfer-Encoding: quoted-printable');
  expect(first).toBe(`${'=C3=BC'.repeat(12)}=C3=`);
});

test('a header line that is too long is folded at a blank; one word that long is refused', () => {
  const ids = Array.from({ length: 60 }, (_, index) => `<${index}.${'x'.repeat(20)}@x.test>`);
  const lines = convert([`References: ${ids.join(' ')}`, '', 'x'], ALL) as string[];
  expect(lines.length).toBe(4);
  expect(lines.every((line) => line.length <= 998)).toBe(true);
  expect(lines.slice(0, 2).join('')).toBe(`References: ${ids.join(' ')}`);
  expect(convert([`Subject: ${'x'.repeat(1000)}`, '', 'x'], ALL)).toBe('word');
});

test.each([
  ['Subject: Grüße aus Köln', `Subject: ${coded('Grüße aus Köln')}`],
  ['From: Anja Müller <a@x.test>', `From: ${coded('Anja Müller')} <a@x.test>`],
  ['To: "Müller, Anja" <a@x.test>, b@y.test', `To: ${coded('Müller, Anja')} <a@x.test>, b@y.test`],
  ['Cc: a@x.test (Größe), Plain <b@x.test>', `Cc: a@x.test (${coded('Größe')}), Plain <b@x.test>`],
  ['To: a@bücher.example, <b@bücher.example>', 'To: a@xn--bcher-kva.example, <b@xn--bcher-kva.example>'],
  ['To: Größen: a@x.test, b@[IPv6:2001:db8::1];', `To: ${coded('Größen')}: a@x.test, b@[IPv6:2001:db8::1];`],
  ['Received: from x (größe) by y; now', `Received: from x (${coded('größe')}) by y; now`],
  ['List-Id: Größen <l.x.test>', `List-Id: ${coded('Größen')} <l.x.test>`],
  ['Content-Type: text/plain; name="ü.txt"', "Content-Type: text/plain; name*=utf-8''%C3%BC.txt"],
  [
    'Content-Disposition: attachment; filename="ü.txt"',
    "Content-Disposition: attachment; filename*=utf-8''%C3%BC.txt",
  ],
])('%s', (before, after) => {
  expect(convert([before, 'X-Kept: a', '', 'x'], BODIES)).toEqual([after, 'X-Kept: a', '', 'x']);
});

test('a header in bytes that are not UTF-8 says that nobody knows the charset', () => {
  const bytes = Buffer.from('Subject: gr\xfc\xdfe\r\nTo: M\xfcller <a@x.test>\r\n\r\nx\r\n', 'latin1');
  expect(convert(bytes)).toEqual([
    'Subject: =?unknown-8bit?Q?gr=FC=DFe?=',
    'To: =?unknown-8bit?Q?M=FCller?= <a@x.test>',
    '',
    'x',
  ]);
});

test.each([
  ['From: jürgen@x.test', 'header'],
  ['From: Anja <jürgen@x.test>', 'header'],
  ['Message-ID: <ü@x.test>', 'header'],
  ['To: "ü <a@x.test>', 'header'],
])('%s cannot be written in ASCII', (field, because) => {
  expect(convert([field, '', 'x'], BODIES)).toBe(because);
});

test('the headers of parts are headers too', () => {
  const before = ['Content-Type: multipart/mixed; boundary=b', '', '--b'];
  const after = ['', 'ü', '--b--'];
  expect(convert([...before, 'Content-Description: Größe', ...after], BODIES)).toEqual([
    ...before,
    `Content-Description: ${coded('Größe')}`,
    ...after,
  ]);
});

test('what is signed is not changed: as it is where that will do, else refused', () => {
  const signed = (body: string) => [
    'Content-Type: multipart/signed; boundary=b; protocol="application/pgp-signature"',
    '',
    '--b',
    '',
    body,
    '--b',
    'Content-Type: application/pgp-signature',
    '',
    'xyz',
    '--b--',
  ];
  expect(convert(signed('plain'))).toEqual(signed('plain'));
  expect(convert(['Subject: ü', ...signed('plain')])).toEqual([`Subject: ${coded('ü')}`, ...signed('plain')]);
  expect(convert(signed('ü'))).toBe('signed');
  expect(convert(signed('x'.repeat(999)), ALL)).toBe('signed');
});

test.each([
  ['a multipart without a boundary', ['Content-Type: multipart/mixed', '', 'ü']],
  ['a multipart whose boundary is not there', ['Content-Type: multipart/mixed; boundary=b', '', '-- b', 'ü']],
  [
    'an encoded multipart',
    ['Content-Type: multipart/mixed; boundary=b', 'Content-Transfer-Encoding: base64', '', 'ü'],
  ],
  ['an encoding nobody knows', ['Content-Transfer-Encoding: x-uuencode', '', 'ü']],
  [
    'a multipart within one of the same boundary',
    [
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      '',
      'x',
      '--b--',
      '--b',
      '',
      'ü',
      '--b--',
    ],
  ],
  ['a part of a message', ['Content-Type: message/partial; id=x', '', 'ü']],
])('%s is refused', (_what, lines) => {
  expect(convert(lines)).toBe('structure');
});

test('parts may be nested only so deeply, and a boundary is found only so often', () => {
  const nested = (depth: number): string[] =>
    depth === 0
      ? ['', 'ü']
      : [
          `Content-Type: multipart/mixed; boundary=b${depth}x`,
          '',
          `--b${depth}x`,
          ...nested(depth - 1),
          `--b${depth}x--`,
        ];
  expect(convert(nested(20))).toContain('=C3=BC');
  expect(convert(nested(22))).toBe('depth');
  const many = ['Content-Type: multipart/mixed; boundary=b', '', ...Array(10_001).fill('--b\r\n\r\nü')];
  expect(convert(many)).toBe('structure');
});

test('breaking a line never makes a boundary of what stood within it', () => {
  const lines = [
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    '',
    `${'x'.repeat(75)}--b${'ü'.repeat(500)}`,
    '--b--',
  ];
  const converted = convert(lines) as string[];
  expect(converted.filter((line) => line.startsWith('--b'))).toEqual(['--b', '--b--']);
});

test('the same message always becomes the same bytes, and once converted it stays', () => {
  const lines = ['Subject: ü', 'Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'ü', '--b--'];
  const once = convert(lines) as string[];
  expect(convert(lines)).toEqual(once);
  expect(convert(once)).toEqual(once);
});

function isTooLong(chunks: readonly Uint8Array[]): boolean {
  const lines = new LineLength();
  for (const chunk of chunks) lines.push(chunk);
  return lines.isTooLong;
}

test('998 octets before CRLF are allowed, one more is not, in whatever line', () => {
  const lines = (length: number) => Buffer.from(`a\r\n${'x'.repeat(length)}\r\nb\r\n`);
  expect(isTooLong([lines(998)])).toBe(false);
  expect(isTooLong([lines(999)])).toBe(true);
  expect(isTooLong([Buffer.from('x'.repeat(999))])).toBe(true);
  expect(isTooLong([])).toBe(false);
});

test('it says what a look at every line says, however the content is cut', () => {
  const line = fc.oneof(fc.nat(5), fc.integer({ min: 990, max: 1005 }), fc.integer({ min: 400, max: 600 }));
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 8 }),
      fc.array(fc.nat(1200), { maxLength: 8 }),
      (lengths, cuts) => {
        const text = Buffer.from(lengths.map((length) => `${'x'.repeat(length)}\r\n`).join(''));
        const chunks: Buffer[] = [];
        let at = 0;
        for (const cut of cuts) {
          chunks.push(text.subarray(at, at + cut));
          at += cut;
        }
        chunks.push(text.subarray(at));
        expect(isTooLong(chunks)).toBe(lengths.some((length) => length > 998));
      },
    ),
    { numRuns: 3000 },
  );
});
