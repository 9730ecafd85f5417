import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce } from '../../src/lib/clock.ts';
import { MAX_FILES, readParts } from '../../src/mail/message-parts.ts';
import { UNREBUILDABLE } from '../../src/mail/mime-entity.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';

/** Messages as any program or attacker may have handed them in, on their way to a provider. */

const LIMIT = 256 * 1024;
/** Some hundred times what the slowest of these inputs takes on a machine with nothing else to do. */
const SLOW_MS = 5000;

const field = fc.tuple(
  fc.constantFrom(
    ...['Content-Type: ', 'Content-Type: ', 'Content-Disposition: ', 'Content-Transfer-Encoding: '],
    ...['Content-ID: ', 'Subject: ', 'To: ', 'Cc: ', 'X-Note: ', 'Content-Description: '],
  ),
  textOf(
    ...([
      'text/plain',
      'text/html',
      'multipart/mixed; boundary=b',
      'multipart/alternative; boundary=c',
    ] as const),
    ...['multipart/related; boundary=d', 'message/rfc822', 'image/png', '; charset=utf-8', '; charset=x'],
    ...[
      '; format=flowed',
      '; name=a',
      "; filename*=utf-8''%C3%BC",
      '; filename*0=a',
      '; filename*1*=b',
      '"',
      '(',
    ],
    ...[
      'attachment',
      'inline',
      '; filename=a',
      'base64',
      'quoted-printable',
      '<a@b>',
      'a@b.test',
      ',',
      '=?utf-8?Q?=',
    ],
    ...['=C3=BC?=', '\r\n ', ';', '=', '*'],
  ),
);
const line = fc.oneof(
  { weight: 3, arbitrary: field.map((parts) => parts.join('')) },
  {
    weight: 4,
    arbitrary: fc.constantFrom('', '--b', '--b--', '--c', '--c--', '--d', '--d--', '=41=\r\n=ZZ', 'QUJD'),
  },
  { weight: 1, arbitrary: textOf('cid:a@b', '=', '--', 'ü', '\0') },
);
const message = fc
  .tuple(fc.array(line, { maxLength: 24 }), fc.boolean())
  .map(([lines, isLatin1]) =>
    Buffer.from(`From: a@x.test\r\n${lines.join('\r\n')}\r\n`, isLatin1 ? 'latin1' : 'utf8'),
  );

test('a message has parts, or a reason why not, and no part is larger than it', () =>
  fuzz('message parts', { made: message, corpus: corpus('messages', (bytes) => bytes) }, (bytes) => {
    const before = Buffer.from(bytes);
    const read = atOnce(readParts(bytes));
    expect(bytes.equals(before)).toBe(true);
    if (!read.ok) {
      expect(Object.keys(UNREBUILDABLE)).toContain(read.because);
      return false;
    }
    const { subject, from, to, cc, others, text, html, files } = read.parts;
    expect(from.address).toMatch(/^.+@.+$/s);
    expect(files.length).toBeLessThanOrEqual(MAX_FILES);
    const held = files.reduce((sum, file) => sum + file.bytes.length, 0);
    expect(held + (text ?? '').length + (html ?? '').length).toBeLessThanOrEqual(bytes.length);
    for (const shown of [subject, ...[from, ...to, ...cc].map(({ name }) => name ?? '')])
      expect(shown).not.toMatch(/[\0-\x08\n-\x1f\x7f]|=\?/);
    const isSafe = (text: string) => /^[\x01-\x09\x0b\x0c\x0e-\x7f]*$/.test(text);
    expect(others.filter(([name, value]) => !isSafe(name + value))).toEqual([]);
    return true;
  }));

test('no message is slow, however odd', () => {
  const units = [
    '--b\r\n',
    '--b\r\n\r\n',
    '--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n',
    '--b x\r\n',
    '--',
    'a\r\n',
    '=41',
    '=\r\n',
    'QUJD\r\n',
    'cid:a',
    'ü',
    ' ',
    '(',
    '"',
    ';a=b',
    ';a*0=b',
    '=?utf-8?q?a?= ',
    ',',
    'a@b.test,',
    'A:\r\n',
    'Subject: a\r\n',
    '\r\n ',
    '%41',
    '<',
  ];
  const starts = [
    '\r\n',
    'Content-Type: multipart/mixed; boundary=b\r\n\r\n',
    'Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n',
    'Content-Transfer-Encoding: base64\r\n\r\n',
    'Content-Type: text/plain',
    "Content-Disposition: attachment; filename*=utf-8''",
    'Subject: ',
    'To: ',
    '',
  ];
  for (const start of starts)
    for (const unit of units) {
      const text = `From: a@x.test\r\n${start}${unit.repeat((LIMIT - 200) / Buffer.byteLength(unit))}\r\n\r\n`;
      const before = process.cpuUsage().user;
      atOnce(readParts(Buffer.from(text)));
      expect((process.cpuUsage().user - before) / 1000, `${start}${unit}`).toBeLessThan(SLOW_MS);
    }
});
