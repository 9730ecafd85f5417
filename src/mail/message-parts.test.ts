import { describe, expect, test } from 'vitest';
import { atOnce, SLICE_BYTES } from '../lib/clock.ts';
import { MAX_FILES, readParts } from './message-parts.ts';
import type { Unrebuildable } from './mime-entity.ts';

const HEAD = 'From: Jane <jane@a.test>\r\nTo: john@b.test\r\nSubject: Hello\r\n';
const FILE = 'Content-Type: application/pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\n\r\nPDF';
const IMAGE =
  'Content-Type: image/png\r\nContent-Disposition: inline; filename=a.png\r\nContent-ID: <logo@a>\r\n\r\nPNG';
const PLAIN = 'Content-Type: text/plain; charset=utf-8\r\n\r\nplain';
const HTML = 'Content-Type: text/html; charset=utf-8\r\n\r\n<img src="cid:logo@a">';
let boundaries = 0;

/** A multipart of these parts. */
function of(subtype: string, ...parts: readonly string[]): string {
  const boundary = `b${++boundaries}z`;
  const inner = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('');
  return `Content-Type: multipart/${subtype}; boundary=${boundary}\r\n\r\n${inner}--${boundary}--\r\n`;
}

function read(text: string, encoding: BufferEncoding = 'utf8') {
  return atOnce(readParts(Buffer.from(text, encoding)));
}

/** The parts of a message that must be readable. */
function partsOf(text: string) {
  const result = read(text);
  if (!result.ok) throw new Error(result.because);
  return result.parts;
}

function reasonOf(text: string, encoding?: BufferEncoding): Unrebuildable | null {
  const result = read(text, encoding);
  return result.ok ? null : result.because;
}

describe('texts and files are found wherever they mean the same', () => {
  const both = { text: 'plain', html: '<img src="cid:logo@a">' };
  test.each([
    ['a text', PLAIN, { text: 'plain', html: null }, []],
    ['a text without a type', '\r\nplain', { text: 'plain', html: null }, []],
    ['HTML', HTML, { text: null, html: both.html }, []],
    ['both', of('alternative', PLAIN, HTML), both, []],
    ['an alternative of one', of('alternative', HTML), { text: null, html: both.html }, []],
    ['an empty plain text beside HTML', of('alternative', '\r\n', HTML), { text: null, html: both.html }, []],
    ['files beside a text', of('mixed', PLAIN, FILE), { text: 'plain', html: null }, ['a.pdf attachment']],
    ['files alone', of('mixed', FILE), { text: null, html: null }, ['a.pdf attachment']],
    ['one file', FILE, { text: null, html: null }, ['a.pdf attachment']],
    [
      'related in alternative',
      of('alternative', PLAIN, of('related', HTML, IMAGE)),
      both,
      ['a.png inline logo@a'],
    ],
    [
      'alternative in related',
      of('related', of('alternative', PLAIN, HTML), IMAGE),
      both,
      ['a.png inline logo@a'],
    ],
    [
      'all of it',
      of('mixed', of('alternative', PLAIN, of('related; type="text/html"', HTML, IMAGE)), FILE),
      both,
      ['a.png inline logo@a', 'a.pdf attachment'],
    ],
    [
      'a file that HTML refers to from afar',
      of('mixed', HTML, IMAGE.replace('inline', 'attachment')),
      { text: null, html: both.html },
      ['a.png inline logo@a'],
    ],
    [
      'a Content-ID that nothing refers to',
      of('mixed', PLAIN, IMAGE.replace('inline', 'attachment')),
      { text: 'plain', html: null },
      ['a.png attachment'],
    ],
  ])('%s', (_, body, texts, files) => {
    const parts = partsOf(HEAD + body);
    expect({ text: parts.text, html: parts.html }).toEqual(texts);
    const shown = parts.files.map(({ filename, disposition, contentId }) =>
      [filename, disposition, contentId].filter((word) => word !== null).join(' '),
    );
    expect(shown).toEqual(files);
  });
});

test('the header is decoded where it has a place of its own, and else stays as it is', () => {
  const { from, to, cc, replyTo, subject, messageId, date, others } = partsOf(
    'Received: from a by b; now\r\nReturn-Path: <x@a.test>\r\nDKIM-Signature: v=1\r\nARC-Seal: i=1\r\n' +
      'Authentication-Results: a\r\nFrom: =?utf-8?Q?J=C3=B6rg?= <j@a.test>\r\nSender: J@a.test\r\n' +
      'To: "Doe, John" <john@b.test>,\r\n c@b.test\r\nCc: Jos\u00e9 <d@b.test>\r\nBcc: hidden@b.test\r\n' +
      'Reply-To: r@a.test, s@a.test\r\nSubject: =?utf-8?B?R3LDvMOfZQ==?=\r\n =?utf-8?Q?_dir?=\r\n' +
      'Message-ID: <1@a.test>\r\nDate: Fri, 20 Nov 2026 11:15:00 +0000\r\nX-Note: =?utf-8?Q?=C3=BC?=\r\n x\r\n' +
      'List-Unsubscribe: <https://a.test/u>\r\nX-Note: again\r\nMIME-Version: 1.0\r\nContent-Language: de\r\n\r\nx\r\n',
  );
  expect(from).toMatchObject({ name: 'Jörg', address: 'j@a.test' });
  expect(to.map(({ name, address }) => [name, address])).toEqual([
    ['Doe, John', 'john@b.test'],
    [null, 'c@b.test'],
  ]);
  expect(cc.map(({ name }) => name)).toEqual(['José']);
  expect(replyTo.map(({ address }) => address)).toEqual(['r@a.test', 's@a.test']);
  expect(subject).toBe('Grüße dir');
  expect(messageId).toBe('<1@a.test>');
  expect(date).toBe('Fri, 20 Nov 2026 11:15:00 +0000');
  expect(others).toEqual([
    ['X-Note', '=?utf-8?Q?=C3=BC?= x'],
    ['List-Unsubscribe', '<https://a.test/u>'],
    ['X-Note', 'again'],
    ['Content-Language', 'de'],
  ]);
});

test('nobody in To is nobody', () => {
  expect(partsOf(`${HEAD.replace('john@b.test', 'undisclosed-recipients:;')}\r\n`).to).toEqual([]);
});

test.each([
  ['iso-8859-1', 'Gr\xfc\xdfe'],
  ['"windows-1252"', '\x80'],
  ['UTF-8', Buffer.from('日本').toString('latin1')],
  ['koi8-r', '\xf0\xd2'],
])('text in %s becomes text', (charset, body) => {
  const result = read(`${HEAD}Content-Type: text/plain; charset=${charset}\r\n\r\n${body}`, 'latin1');
  const expected = new TextDecoder(charset.replaceAll('"', '')).decode(Buffer.from(body, 'latin1'));
  expect(result.ok && result.parts.text).toBe(expected);
});

test('transfer encodings are undone', () => {
  const encoded = (encoding: string, body: string) =>
    partsOf(
      `${HEAD}Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}`,
    ).text;
  expect(encoded('base64', 'R3LDvMOf\r\nZQ==\r\n')).toBe('Grüße');
  expect(encoded('Quoted-Printable', 'Gr=C3=BC=\r\n=C3=9Fe  \r\n')).toBe('Grüße\r\n');
  expect(encoded('8bit (as it is)', 'Grüße')).toBe('Grüße');
});

test.each([
  ['filename=a.txt', 'a.txt'],
  ['filename="a b.txt"; size=3; creation-date="Fri, 20 Nov 2026 11:15:00 +0000"', 'a b.txt'],
  ["filename*=utf-8''gr%C3%BC%C3%9Fe.txt", 'grüße.txt'],
  ['filename*0*=iso-8859-1\'de\'gr%FC;\r\n filename*1="%DFe.txt"', 'grü%DFe.txt'],
  ['filename*1=txt; filename*0="a."', 'a.txt'],
  ['filename="=?utf-8?Q?gr=C3=BC=C3=9Fe.txt?="', 'grüße.txt'],
  ["filename=old.txt; filename*=utf-8''n%C3%A9w.txt", 'néw.txt'],
])('a file is named by %s', (parameters, expected) => {
  const part = `Content-Type: application/x-y; name=other.txt\r\nContent-Disposition: attachment; ${parameters}\r\n\r\n`;
  expect(partsOf(HEAD + of('mixed', PLAIN, part)).files[0]?.filename).toBe(expected);
});

test('a file keeps the parameters of its type, but for its name and what begins with x-', () => {
  const part =
    'Content-Type: TEXT/CSV; charset=iso-8859-1; header=present; x-unix-mode=0644; name=a.csv\r\n\r\nä';
  const [file] = partsOf(HEAD + of('mixed', PLAIN, part)).files;
  expect(file?.type).toBe('text/csv');
  expect([...(file?.parameters ?? [])]).toEqual([
    ['charset', 'iso-8859-1'],
    ['header', 'present'],
  ]);
});

const RFC822 =
  'Content-Type: message/rfc822\r\nContent-Disposition: attachment; filename=a.eml\r\n\r\nSubject: x\r\n\r\n';

test('a message that is attached as a file is a file', () => {
  expect(partsOf(HEAD + of('mixed', PLAIN, RFC822)).files[0]?.bytes.toString()).toBe('Subject: x\r\n\r\n');
});

describe('what a file says of itself has no control characters', () => {
  const file = (type: string, disposition: string, more = '') =>
    of('mixed', PLAIN, `Content-Type: ${type}\r\nContent-Disposition: ${disposition}\r\n${more}\r\nPDF`);
  test.each([
    ['a line break in its name', file('a/b', "attachment; filename*=utf-8''a%0D%0AX-Evil%3A%201%22.pdf")],
    ['one in the name of its type', file("a/b; name*=utf-8''a%0Ab", 'attachment')],
    ['a line separator', file('a/b', "attachment; filename*=utf-8''a%E2%80%A8b")],
    ['a line break in a parameter', file("a/b; foo*=utf-8''a%0D%0Ab", 'attachment; filename=a')],
    ['a tab in its Content-ID', file('a/b', 'inline; filename=a', 'Content-ID: <a\tb@c>\r\n')],
    ['bytes over 127 in its Content-ID', file('a/b', 'inline; filename=a', 'Content-ID: <ü@c>\r\n')],
  ])('%s', (_, text) => {
    expect(reasonOf(HEAD + text)).toBe('content_fields');
  });

  test('an encoded word in a name may have one, and it becomes a blank', () => {
    const named = file('a/b', 'attachment; filename="=?utf-8?q?a=0D=0Ab?="');
    expect(partsOf(HEAD + named).files[0]?.filename).toBe('a b');
  });
});

describe('what a rebuild would change in meaning is refused', () => {
  const calendar = 'Content-Type: text/calendar; method=REQUEST\r\n\r\nBEGIN:VCALENDAR';
  const named = (type: string) =>
    `Content-Type: ${type}\r\nContent-Disposition: attachment; filename=a\r\n\r\nx`;
  test.each<[Unrebuildable, string, string]>([
    ['signed', 'multipart/signed', HEAD + of('signed', PLAIN, named('application/pgp-signature'))],
    ['signed', 'signed within', HEAD + of('mixed', of('signed', PLAIN, FILE), FILE)],
    ['signed', 'multipart/encrypted', HEAD + of('encrypted', named('application/pgp-encrypted'), FILE)],
    ['signed', 'S/MIME', `${HEAD}${named('application/pkcs7-mime; smime-type=enveloped-data')}`],
    ['signed', 'old S/MIME attached', HEAD + of('mixed', PLAIN, named('application/x-pkcs7-mime'))],
    ['message_part', 'a report', HEAD + of('report', PLAIN, FILE)],
    [
      'message_part',
      'a message shown inline',
      HEAD + of('mixed', PLAIN, RFC822.replace('attachment', 'inline')),
    ],
    ['message_part', 'a status', HEAD + of('mixed', PLAIN, named('message/delivery-status'))],
    ['alternatives', 'an invitation', HEAD + of('alternative', PLAIN, HTML, calendar)],
    ['alternatives', 'an invitation without HTML', HEAD + of('alternative', PLAIN, calendar)],
    ['alternatives', 'HTML before plain text', HEAD + of('alternative', HTML, PLAIN)],
    ['alternatives', 'two plain texts', HEAD + of('alternative', PLAIN, of('related', PLAIN))],
    ['place', 'a second text', HEAD + of('mixed', PLAIN, FILE, PLAIN)],
    ['place', 'a text that is a file as well', HEAD + of('mixed', PLAIN.replace('utf-8', 'utf-8; name=a'))],
    ['place', 'a file without an id in related', HEAD + of('related', HTML, FILE)],
    ['place', 'a root that is not first', HEAD + of('related; start="<logo@a>"', HTML, IMAGE)],
    ['place', 'files of a plain text', HEAD + of('related', PLAIN, IMAGE)],
    ['place', 'a multipart behind the text', HEAD + of('mixed', PLAIN, of('mixed', FILE))],
    ['structure', 'mixed in alternative', HEAD + of('alternative', PLAIN, of('mixed', HTML, FILE))],
    ['structure', 'mixed in mixed', HEAD + of('mixed', of('mixed', PLAIN), FILE)],
    ['structure', 'a digest', HEAD + of('digest', PLAIN)],
    ['structure', 'no boundary', `${HEAD}Content-Type: multipart/mixed\r\n\r\nx`],
    ['structure', 'no end', HEAD + of('mixed', PLAIN, FILE).replace(/--\r\n$/, '')],
    ['structure', 'one id twice', HEAD + of('related', HTML, IMAGE, IMAGE)],
    [
      'structure',
      'an encoded multipart',
      HEAD + of('mixed', PLAIN).replace('\r\n\r\n', '\r\nContent-Transfer-Encoding: base64\r\n\r\n'),
    ],
    ['attachment_name', 'a file without a name', HEAD + of('mixed', PLAIN, 'Content-Type: a/b\r\n\r\nx')],
    ['content_fields', 'a location', HEAD + of('mixed', PLAIN, `Content-Location: a\r\n${FILE}`)],
    ['content_fields', 'a description', HEAD + of('mixed', PLAIN, `Content-Description: b\r\n${FILE}`)],
    ['content_fields', 'a described text', HEAD + of('mixed', `Content-Description: b\r\n${PLAIN}`)],
    ['content_fields', 'a base for all', `${HEAD}Content-Base: a\r\n\r\nx`],
    ['text_format', 'flowed text', `${HEAD}Content-Type: text/plain; format=flowed\r\n\r\nx`],
    ['text_format', 'DelSp', `${HEAD}Content-Type: text/plain; delsp=yes\r\n\r\nx`],
    ['charset', 'an unknown charset', `${HEAD}Content-Type: text/plain; charset=x-ours\r\n\r\nx`],
    ['charset', 'UTF-7', `${HEAD}Content-Type: text/plain; charset=utf-7\r\n\r\n+AGE-`],
    ['charset', '8 bits without a charset', `${HEAD}\r\nü`],
    ['charset', 'NUL', `${HEAD}Content-Transfer-Encoding: quoted-printable\r\n\r\n=00`],
    ['body_encoding', 'an unknown encoding', `${HEAD}Content-Transfer-Encoding: x-uuencode\r\n\r\nx`],
    ['body_encoding', 'base64 that is none', `${HEAD}Content-Transfer-Encoding: base64\r\n\r\n!!`],
    ['authors', 'no author', 'To: a@b.test\r\n\r\nx'],
    ['authors', 'two authors', `${HEAD.replace('From: ', 'From: x@a.test, ')}\r\nx`],
    ['sender', 'another sender', `Sender: x@a.test\r\n${HEAD}\r\nx`],
    ['address_form', 'a group', `${HEAD.replace('john@b.test', 'us: john@b.test;')}\r\nx`],
    ['address_form', 'a comment', `${HEAD.replace('john@b.test', 'john@b.test (John)')}\r\nx`],
    ['address_repeated', 'somebody twice', `Cc: JOHN@b.test\r\n${HEAD}\r\nx`],
    ['header_repeated', 'two subjects', `Subject: x\r\n${HEAD}\r\nx`],
    ['header', 'two types', `${HEAD}Content-Type: text/plain\r\nContent-Type: text/html\r\n\r\nx`],
    ['header', 'an odd type', `${HEAD}Content-Type: text\r\n\r\nx`],
    ['header', 'a line that is no field', `${HEAD}oops\r\n\r\nx`],
    ['header_words', 'a charset that is not known', `${HEAD.replace('Hello', '=?x-ours?Q?a?=')}\r\nx`],
    ['header_words', 'bytes that are not of the charset', `${HEAD.replace('Hello', '=?utf-8?Q?=FC?=')}\r\nx`],
    ['header_words', 'what looks like a word', `${HEAD.replace('Hello', '=?utf-8?Q?=3D=3Fa?=')}\r\nx`],
    ['header_eight_bit', '8 bits in another field', `${HEAD}X-Note: ü\r\n\r\nx`],
    ['resent', 'a message that was resent', `Resent-From: x@a.test\r\n${HEAD}\r\nx`],
    [
      'too_many_parts',
      'more files than there may be',
      HEAD + of('mixed', PLAIN, ...Array(MAX_FILES + 1).fill(FILE)),
    ],
  ])('%s: %s', (reason, _, text) => {
    expect(reasonOf(text)).toBe(reason);
  });

  test('a text that is not in its charset', () => {
    expect(reasonOf(`${HEAD}Content-Type: text/plain; charset=utf-8\r\n\r\nGr\xfc\xdfe`, 'latin1')).toBe(
      'charset',
    );
  });

  test('a subject whose bytes are in no known charset', () => {
    expect(reasonOf(`${HEAD.replace('Hello', 'Gr\xfc\xdfe')}\r\nx`, 'latin1')).toBe('header_words');
  });
});

test('a large message is read in slices, however it is encoded', () => {
  const bytes = 8 * SLICE_BYTES;
  const base64 = `${FILE.split('\r\n\r\n')[0]}\r\nContent-Transfer-Encoding: base64\r\n\r\n`;
  const large = [
    `${PLAIN}${'lang '.repeat(bytes / 5)}`,
    `${HTML}${'cid:x '.repeat(bytes / 6)}`,
    `Content-Transfer-Encoding: quoted-printable\r\n${PLAIN}${`${'=C3=BC '.repeat(10)}=\r\n`.repeat(bytes / 73)}`,
    of('mixed', PLAIN, base64 + `${'A'.repeat(76)}\r\n`.repeat(bytes / 78)),
  ];
  for (const body of large) {
    const work = readParts(Buffer.from(HEAD + body));
    let turns = 0;
    let step = work.next();
    for (; !step.done; step = work.next()) turns++;
    expect(step.value.ok).toBe(true);
    expect(turns).toBeGreaterThanOrEqual(6);
  }
});
