import { describe, expect, test } from 'vitest';
import { type Mailbox, parseMailbox } from '../domain/mailbox.ts';
import { atOnce } from '../lib/clock.ts';
import { seededRandom } from '../lib/random.ts';
import { type ComposeContext, compose, type Draft } from './compose.ts';
import type { Attachment } from './part.ts';

const context = (partial: Partial<ComposeContext> = {}): ComposeContext => ({
  date: Date.UTC(2026, 10, 20, 11, 15),
  messageId: '<id@example.com>',
  random: seededRandom(1),
  ...partial,
});

function mailbox(text: string): Mailbox {
  const parsed = parseMailbox(text);
  if (!parsed.ok) throw new Error(parsed.detail);
  return parsed.value;
}

const PLAIN: Draft = {
  from: mailbox('Jane Doe <jane@example.com>'),
  to: [mailbox('john@example.org')],
  cc: [],
  subject: 'Hello',
  text: 'Hi\nthere\n',
  html: null,
  headers: [],
  attachments: [],
};

const file = (partial: Partial<Attachment> = {}): Attachment => ({
  filename: 'a.bin',
  contentType: null,
  content: Buffer.from('abc'),
  contentId: null,
  disposition: 'attachment',
  ...partial,
});

const wire = (partial: Partial<Draft>, at = context()) =>
  Buffer.concat(atOnce(compose({ ...PLAIN, ...partial }, at)).chunks).toString();
const header = (partial: Partial<Draft>) => wire(partial).split('\r\n\r\n', 1)[0];

test('a plain message, whole', () => {
  expect(wire({})).toBe(
    [
      'Date: Fri, 20 Nov 2026 11:15:00 +0000',
      'From: Jane Doe <jane@example.com>',
      'To: john@example.org',
      'Subject: Hello',
      'Message-ID: <id@example.com>',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      'Hi',
      'there',
      '',
    ].join('\r\n'),
  );
});

test('equal arguments give equal bytes', () => {
  const draft = { text: 'a', html: 'b', attachments: [file()] };
  expect(wire(draft)).toBe(wire(draft));
});

/** The types of the parts as they nest, read from the Content-Type fields in order. */
const types = (partial: Partial<Draft>) =>
  [...wire(partial).matchAll(/^Content-Type: (?:multipart\/)?([a-z-]+\/?[a-z-]*)/gm)].map(
    (match) => match[1],
  );
const logo = file({ contentType: 'image/png', contentId: '<logo>', disposition: 'inline' });

describe('structure', () => {
  test.each<[string, Partial<Draft>, string[]]>([
    ['text', {}, ['text/plain']],
    ['html', { text: null, html: 'b' }, ['text/html']],
    ['both', { html: 'b' }, ['alternative', 'text/plain', 'text/html']],
    ['inline', { text: null, html: 'b', attachments: [logo] }, ['related', 'text/html', 'image/png']],
    ['inline without html', { attachments: [logo] }, ['mixed', 'text/plain', 'image/png']],
    ['attachment', { attachments: [file()] }, ['mixed', 'text/plain', 'application/octet-stream']],
    ['attachment alone', { text: null, attachments: [file()] }, ['mixed', 'application/octet-stream']],
    ['nothing', { text: null }, ['text/plain']],
    [
      'everything',
      { html: 'b', attachments: [file(), logo] },
      ['mixed', 'alternative', 'text/plain', 'related', 'text/html', 'image/png', 'application/octet-stream'],
    ],
  ])('%s', (_, partial, expected) => {
    expect(types(partial)).toEqual(expected);
  });

  test('a large attachment is a chunk of its own, a small message one chunk', () => {
    const chunksWith = (bytes: number) =>
      atOnce(compose({ ...PLAIN, attachments: [file({ content: Buffer.alloc(bytes) })] }, context())).chunks
        .length;
    expect(chunksWith(1000)).toBe(1);
    expect(chunksWith(100_000)).toBe(3);
  });
});

describe('header', () => {
  test('trace fields come first', () => {
    expect(wire({}, context({ trace: 'Received: x\r\n' }))).toMatch(/^Received: x\r\nDate: /);
  });

  test('Date and Message-ID of the client take the place of ours', () => {
    const text = header({
      headers: [
        ['message-id', '<own@example.com>'],
        ['DATE', '1 Jan 2026 00:00 +0100'],
      ],
    });
    expect(text).toMatch(/^Date: 1 Jan 2026 00:00 \+0100\r\n/);
    expect(text).toContain('\r\nMessage-ID: <own@example.com>\r\n');
    expect(text?.match(/^(date|message-id):/gim)).toHaveLength(2);
  });

  test('without To and Cc the recipients are undisclosed', () => {
    expect(header({ to: [] })).toContain('\r\nTo: undisclosed-recipients:;\r\n');
    expect(header({ to: [], cc: [mailbox('c@x.org')] })).not.toMatch(/^To:/m);
  });

  test('only the display names of a custom address field are encoded', () => {
    expect(header({ headers: [['Reply-To', 'Jörg <j@bücher.example>, k@x.org']] })).toContain(
      '\r\nReply-To: =?utf-8?B?SsO2cmc=?= <j@xn--bcher-kva.example>, k@x.org\r\n',
    );
  });

  test('lines are folded at 78, encoded words are at most 75 long', () => {
    const text = header({
      subject: 'Grüße '.repeat(60),
      to: Array.from({ length: 40 }, (_, i) => mailbox(`Jörg, Nr ${i} <j${i}@x.org>`.replace(',', ''))),
      headers: [
        ['X-Long', 'word '.repeat(100)],
        ['References', '<a@example.org>  '.repeat(50)],
        ['X-Encoded', 'ä'.repeat(300)],
      ],
    });
    const lines = text?.split('\r\n') ?? [];
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(78);
    const words = text?.match(/=\?utf-8\?[QB]\?[^?]*\?=/g) ?? [];
    expect(words.length).toBeGreaterThan(40);
    expect(Math.max(...words.map((word) => word.length))).toBeLessThanOrEqual(75);
  });

  test('an empty subject is an empty field', () => {
    expect(header({ subject: '' })).toContain('\r\nSubject:\r\n');
  });

  test.each<[string, Partial<Draft>]>([
    ['subject', { subject: 'a\r\nBcc: x@x.org' }],
    ['custom value', { headers: [['X-A', 'a\nBcc: x@x.org']] }],
    ['address field', { headers: [['Reply-To', 'a@x.org\r\nBcc: x@x.org']] }],
    ['date', { headers: [['Date', 'a\rb']] }],
    ['file name', { attachments: [file({ filename: 'a\r\nb' })] }],
    ['content type', { attachments: [file({ contentType: 'text/plain\r\nX: y' })] }],
    ['content id', { attachments: [file({ contentId: 'a\r\nb' })] }],
  ])('nothing can be injected, even unchecked: %s', (_, partial) => {
    expect(() => wire(partial)).toThrow(RangeError);
  });
});

describe('flags', () => {
  const flags = (partial: Partial<Draft>) => atOnce(compose({ ...PLAIN, ...partial }, context())).flags;

  test('the wire form is 7-bit unless a local part is not ASCII', () => {
    const eightBit = /[^\0-\x7f]/;
    const intense = { subject: 'ü', text: 'ü', html: '日本', from: mailbox('Ü <u@ü.example>') };
    expect(flags(intense)).toEqual({ eightBit: false, utf8: false, dotStuffing: false });
    expect(wire(intense)).not.toMatch(eightBit);
    for (const partial of [
      { from: mailbox('ü@x.org') },
      { to: [mailbox('ü@x.org')] },
      { headers: [['Reply-To', 'ü@x.org'] as const] },
    ]) {
      expect(flags(partial)).toEqual({ eightBit: true, utf8: true, dotStuffing: false });
      expect(wire(partial)).toContain('ü@x.org');
    }
  });

  test('only an attached message can make dot-stuffing necessary', () => {
    expect(flags({ text: '.\n.a\n' }).dotStuffing).toBe(false);
    expect(wire({ text: '.\n.a\n' })).not.toMatch(/^\./m);
    const message = file({ contentType: 'message/rfc822', content: Buffer.from('A: b\r\n\r\n.c\r\n') });
    expect(flags({ attachments: [message] }).dotStuffing).toBe(true);
  });
});
