/** Drafts for the oracle: generated from a fixed seed, and written by hand where it is known to hurt. */
import fc from 'fast-check';
import type { Mailbox } from '../../src/domain/mailbox.ts';
import { parseMailbox } from '../../src/domain/mailbox.ts';
import type { Draft } from '../../src/mail/compose.ts';
import type { Attachment } from '../../src/mail/part.ts';

const SEED = 20261120;

/** Parses an address that must be good. */
function mailbox(text: string): Mailbox {
  const parsed = parseMailbox(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.detail}`);
  return parsed.value;
}

/** A draft with what a test does not care about filled in. */
function draftOf(partial: Partial<Draft>): Draft {
  return {
    from: mailbox('Jane Doe <jane@example.com>'),
    to: [mailbox('john@example.org')],
    cc: [],
    subject: 'Hello',
    text: null,
    html: null,
    headers: [],
    attachments: [],
    ...partial,
  };
}

/** An attachment likewise. */
function attachmentOf(partial: Partial<Attachment>): Attachment {
  return {
    filename: 'file.bin',
    contentType: null,
    content: Buffer.from('content'),
    contentId: null,
    disposition: 'attachment',
    ...partial,
  };
}

/** Pieces of which readers are known to make something else. */
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme-ascii', maxLength: 30 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
  fc.constantFrom('=', '=?', '?=', '=20', '.', '"', '\\', "'", '%41', ';', ',', '(', ')', '_', '--', 'From '),
  fc.constantFrom(
    'Grüße',
    '日本語',
    'Привет',
    '👩‍👩‍👧‍👦',
    'z\u0327\u0301',
    '\u00a0',
    'שלום',
    'x'.repeat(120),
  ),
);
const line = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(' '));
const text = fc
  .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r', ' \n', '\t\n', '\n.\n', '\n..')), {
    maxLength: 12,
  })
  .map((lines) => lines.flat().join(''));
/** One line without the blanks at its ends, which no reader keeps. */
const title = line.map((value) => value.trim());

const name = title.map((value) => value.replace(/[ \t]+/g, ' ')).filter((value) => value !== '');
const address = fc
  .tuple(
    fc.stringMatching(/^[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,20}(\.[a-z0-9-]{1,10}){0,2}$/),
    fc.constantFrom('example.com', 'bücher.example', 'a.b.c.example.org', 'localhost', '日本.example'),
  )
  .map(([local, domain]) => mailbox(`${local}@${domain}`));
const person = fc
  .tuple(fc.option(name), address)
  .map(([personName, base]): Mailbox => ({ ...base, name: personName }));

const attachment = fc.record<Attachment>({
  filename: fc.option(
    title
      .map((value) => value.replace(/[/\\]|=\?/g, ''))
      .filter((value) => value.trim() === value && value !== ''),
  ),
  contentType: fc.constantFrom(
    null,
    'image/png',
    'application/pdf; name="other.pdf"',
    'Application/X-Thing; a=b',
  ),
  content: fc.uint8Array({ maxLength: 400 }),
  contentId: fc.option(fc.stringMatching(/^[a-z0-9]{1,20}@x$/)),
  disposition: fc.constantFrom('attachment', 'inline'),
});

const draft = fc
  .record({
    from: person,
    to: fc.array(person, { maxLength: 6 }),
    cc: fc.array(person, { maxLength: 3 }),
    subject: title,
    text: fc.option(text),
    html: fc.option(text.map((body) => `<p>${body}</p>`)),
    note: fc.option(title),
    attachments: fc.array(attachment, { maxLength: 3 }),
  })
  .map(({ note, ...rest }): Draft => ({ ...rest, headers: note === null ? [] : [['X-Note', note]] }));

/** The same drafts in every run. */
export function generatedDrafts(count: number): Draft[] {
  return fc.sample(draft, { numRuns: count, seed: SEED });
}

/** Drafts that each hold one known trap. */
export function awkwardDrafts(): Draft[] {
  const png = attachmentOf({
    filename: 'logo.png',
    contentType: 'image/png',
    contentId: 'logo',
    disposition: 'inline',
  });
  const everyByte = Uint8Array.from({ length: 256 * 300 }, (_, index) => index * 7);
  const lengths = [0, 1, 2, 3, 56, 57, 58, 113, 114, 115, 57 * 512, 57 * 512 + 1, 57 * 1024];
  return [
    draftOf({ text: '' }),
    draftOf({ text: 'no line ending' }),
    draftOf({ text: '.\r\n..\n.dot' }),
    draftOf({ text: `${'x'.repeat(5000)}\n` }),
    draftOf({ text: 'a lone\rcarriage return' }),
    draftOf({ text: 'blank at the end \nand a tab\t\n=\n=3D' }),
    draftOf({ text: `${'y'.repeat(74)} \n${'y'.repeat(75)}\n${'y'.repeat(76)}é\n` }),
    draftOf({ text: 'nul \0 and escape \x1b[0m' }),
    draftOf({ text: 'plain', html: '<b>rich</b>' }),
    draftOf({ html: '<img src="cid:logo">', attachments: [png] }),
    draftOf({ text: 'plain', html: '<img src="cid:logo">', attachments: [png, attachmentOf({})] }),
    draftOf({ text: 'plain', attachments: [png] }),
    draftOf({ attachments: [attachmentOf({ content: everyByte })] }),
    draftOf({
      text: 'x',
      attachments: lengths.map((n) => attachmentOf({ content: everyByte.subarray(0, n) })),
    }),
    draftOf({ text: 'x', attachments: [attachmentOf({ filename: `${'long'.repeat(60)}.txt` })] }),
    draftOf({ text: 'x', attachments: [attachmentOf({ filename: `${'ü'.repeat(200)}.txt` })] }),
    draftOf({ text: 'x', attachments: [attachmentOf({ filename: 'a "quoted"; name=x.txt' })] }),
    draftOf({ text: 'x', subject: '=?utf-8?Q?not_encoded?=' }),
    draftOf({ text: 'x', subject: 'two  blanks   three' }),
    draftOf({ text: 'x', subject: `${'word '.repeat(60)}end` }),
    draftOf({ text: 'x', subject: 'x'.repeat(2000) }),
    draftOf({ text: 'x', subject: '👩‍👩‍👧‍👦'.repeat(40) }),
    draftOf({ text: 'x', from: mailbox('=?utf-8?Q?x?= <a@example.com>') }),
    draftOf({ text: 'x', from: mailbox(`${'n'.repeat(300)} <a@example.com>`) }),
    draftOf({
      text: 'x',
      to: Array.from({ length: 300 }, (_, i) => mailbox(`"Doe, J. ${i}" <j${i}@example.org>`)),
    }),
    draftOf({ text: 'x', to: [], cc: [mailbox('c@example.org')] }),
    draftOf({ text: 'x', to: [] }),
    draftOf({ text: 'x', headers: [['Reply-To', 'Jörg <r@example.org>, "Doe, J" <s@example.org>']] }),
    draftOf({
      text: 'x',
      headers: [
        ['Message-ID', '<own@example.org>'],
        ['date', '1 Jan 2026 00:00 +0000'],
      ],
    }),
    draftOf({ text: 'x', headers: [['References', `<${'r'.repeat(60)}@example.org> `.repeat(40)]] }),
    draftOf({
      text: 'x',
      headers: [
        ['Sender', 'Jörg <office@bücher.example>'],
        ['In-Reply-To', '<first@example.org>'],
        ['List-Unsubscribe', '<https://example.org/u?a=b>, <mailto:u@example.org>'],
      ],
    }),
    draftOf({ text: 'x', headers: [['X-Note', `${'lang '.repeat(300)}Ende`]] }),
    draftOf({ text: 'x', headers: [['X-Note', 'ü'.repeat(400)]] }),
    draftOf({ text: 'x', to: [mailbox('a@bücher.example')], cc: [mailbox('Ann <ann@例え.テスト>')] }),
    draftOf({ text: 'x', to: [mailbox('Jörg <jörg@bücher.example>'), mailbox('用户@example.org')] }),
    draftOf({
      html: '<img src="cid:a"><img src="cid:b">',
      attachments: [
        attachmentOf({
          filename: 'größe.png',
          contentType: 'image/png',
          contentId: 'a',
          disposition: 'inline',
        }),
        attachmentOf({ filename: '図.png', contentType: 'image/png', contentId: 'b', disposition: 'inline' }),
        attachmentOf({ filename: 'plan.pdf', disposition: 'inline' }),
      ],
    }),
    draftOf({ text: 'x', to: [mailbox('Jörg <jörg@example.org>')] }),
    draftOf({ text: 'ü', headers: [['Reply-To', 'Ω <ω@example.org>']] }),
  ];
}

/**
 * Drafts that postal-mime reads otherwise: it knows no IPv6 literals, drops the quotes of a local part, decodes what
 * looks like an encoded word after RFC 2231 has been undone, and makes LF of the line endings of attached messages.
 */
export function draftsBeyondPostalMime(): Draft[] {
  const attachedMessage = Buffer.from('Subject: inner\r\nFrom: a@example.com\r\n\r\nHello\r\n.dot\r\n');
  return [
    draftOf({
      text: 'x',
      attachments: [attachmentOf({ contentType: 'message/rfc822', content: attachedMessage })],
    }),
    draftOf({ text: 'x', to: [mailbox('a@[192.0.2.1]'), mailbox('b@[IPv6:2001:db8::1]')] }),
    draftOf({ text: 'x', to: [mailbox('"a,b"@example.org'), mailbox('J <"a\\"b"@example.org>')] }),
    draftOf({ text: 'x', attachments: [attachmentOf({ filename: '=?utf-8?Q?a?=.txt' })] }),
  ];
}
