/** What is read of a message is what its author wrote, and what two parsers that are not ours read. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import PostalMime, { type Address } from 'postal-mime';
import { describe, expect, test } from 'vitest';
import { type Mailbox, parseAddressList } from '../../src/domain/mailbox.ts';
import { atOnce } from '../../src/lib/clock.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { compose, type Draft } from '../../src/mail/compose.ts';
import { findHeader } from '../../src/mail/headers.ts';
import { type MessageParts, readParts } from '../../src/mail/message-parts.ts';
import type { Unrebuildable } from '../../src/mail/mime-entity.ts';
import type { Attachment } from '../../src/mail/part.ts';
import { describeWith } from '../peers/need.ts';
import { awkwardDrafts, draftsBeyondPostalMime, generatedDrafts } from './drafts.ts';
import { FOREIGN_MESSAGES } from './foreign-messages.ts';

const READER = fileURLToPath(new URL('./read_messages.py', import.meta.url));
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** In what all can be compared. */
interface Reading {
  readonly subject: string;
  readonly from: readonly string[][];
  readonly to: readonly string[][];
  readonly cc: readonly string[][];
  readonly replyTo: readonly string[][];
  readonly text: string | null;
  readonly html: string | null;
  /** Content in base64. */
  readonly files: readonly {
    readonly filename: string | null;
    readonly type: string;
    readonly content: string;
  }[];
}

const drafts = [...awkwardDrafts(), ...generatedDrafts(250), ...draftsBeyondPostalMime()].map(withNames);
const composed = drafts.map((draft, index) =>
  Buffer.concat(
    atOnce(
      compose(draft, { date: 1_790_000_000_000, messageId: '<1@example.com>', random: seededRandom(index) }),
    ).chunks,
  ),
);

/** The one thing that drafts have and a rebuilt message never: files without a name. */
function withNames(draft: Draft, index: number): Draft {
  const attachments = draft.attachments.map((attachment, at) => ({
    ...attachment,
    filename: attachment.filename ?? `file-${index}-${at}`,
    // Two files that go by one id are refused, rightly.
    contentId: attachment.contentId === null ? null : `${at}${attachment.contentId}`,
  }));
  return { ...draft, attachments };
}

describe('what was composed is read back', () => {
  test.each(drafts.map((draft, index) => [index, draft] as const))('draft %i', (index, draft) => {
    const result = atOnce(readParts(composed[index] ?? Buffer.alloc(0)));
    const reason = expectedReason(draft);
    if (reason !== null) {
      expect(result).toEqual({ ok: false, because: reason });
      return;
    }
    if (!result.ok) throw new Error(result.because);
    expect(readingOf(result.parts)).toEqual(expected(draft));
    const inline = (attachment: Attachment) => attachment.disposition === 'inline';
    expect(result.parts.files.map(({ disposition }) => disposition === 'inline')).toEqual(
      inOrder(draft).map((attachment) => inline(attachment) || isReferredTo(draft, attachment)),
    );
  });

  test('only some of them cannot be', () => {
    const reasons = drafts.map(expectedReason).filter((reason) => reason !== null);
    expect(reasons.length).toBeGreaterThan(10);
    expect(reasons.length).toBeLessThan(drafts.length / 4);
  });
});

/** Why a draft cannot be rebuilt, by what stands in it. */
function expectedReason(draft: Draft): Unrebuildable | null {
  const { from, to, cc, headers, subject, attachments, text, html } = draft;
  const sender = findHeader(headers, 'sender');
  const replyTo = parseAddressList(findHeader(headers, 'reply-to') ?? '');
  const people = [from, ...to, ...cc, ...(replyTo.ok ? replyTo.value : [])];
  const doubtful = (value: string | null) => /=\?|\ufffd/.test((value ?? '').toWellFormed());
  const named = [...to, ...cc].map(({ address }) => address.toLowerCase());
  if (sender !== null) return 'sender';
  if (people.some(({ name }) => doubtful(name))) return 'header_words';
  if (new Set(named).size < named.length) return 'address_repeated';
  if (doubtful(subject)) return 'header_words';
  if (attachments.some(({ filename }) => doubtful(filename))) return 'structure';
  return [text, html].some((body) => body?.includes('\0')) ? 'charset' : null;
}

function isReferredTo({ html }: Draft, { contentId }: Attachment): boolean {
  return contentId !== null && (html ?? '').includes(`cid:${contentId}`);
}

function inOrder(draft: Draft): Attachment[] {
  const isRelated = ({ disposition, contentId }: Attachment) =>
    draft.html !== null && disposition === 'inline' && contentId !== null;
  const related = draft.attachments.filter(isRelated);
  return [...related, ...draft.attachments.filter((attachment) => !isRelated(attachment))];
}

function expected(draft: Draft): Reading {
  const replyTo = parseAddressList(findHeader(draft.headers, 'reply-to') ?? '');
  const hasBody = draft.text !== null || draft.html !== null || draft.attachments.length > 0;
  return {
    subject: draft.subject,
    from: people([draft.from]),
    to: people(draft.to),
    cc: people(draft.cc),
    replyTo: replyTo.ok ? people(replyTo.value) : [],
    text: normal(draft.text ?? (hasBody ? null : '')),
    html: normal(draft.html),
    files: inOrder(draft).map(({ filename, contentType, content }) => ({
      filename,
      type: (contentType ?? 'application/octet-stream').replace(/;.*/, '').toLowerCase(),
      content: Buffer.from(content).toString('base64'),
    })),
  };
}

function readingOf({ subject, from, to, cc, replyTo, text, html, files }: MessageParts): Reading {
  return {
    subject,
    from: people([from]),
    to: people(to),
    cc: people(cc),
    replyTo: people(replyTo),
    text: normal(text),
    html: normal(html),
    files: files.map(({ filename, type, bytes }) => ({ filename, type, content: bytes.toString('base64') })),
  };
}

function people(mailboxes: readonly Mailbox[]): string[][] {
  return mailboxes.map(({ name, address }) => [name ?? '', address]);
}

/** Line ends made one, and those at the very end left out: some readers do. No text is empty text. */
function normal(text: string | null | undefined): string | null {
  return text?.replace(/\r\n?|\n/g, '\n').replace(/\n+$/, '') || null;
}

/** Messages of other programs; those that we take we must read as others do. */
const foreign = FOREIGN_MESSAGES.map(({ name, text }) => {
  const bytes = Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'latin1');
  const result = atOnce(readParts(bytes));
  if (!result.ok) throw new Error(`${name}: ${result.because}`);
  return { name, bytes, reading: readingOf(result.parts) };
});

describe('postal-mime reads the messages of other programs alike', () => {
  test.each(foreign)('$name', async ({ bytes, reading }) => {
    const mail = await PostalMime.parse(bytes, {
      forceRfc822Attachments: true,
      attachmentEncoding: 'base64',
    });
    const pairs = (list: Address | Address[] | undefined) =>
      [list ?? []].flat().map(({ name, address }) => [name, address ?? '']);
    expect({
      subject: mail.subject ?? '',
      from: pairs(mail.from),
      to: pairs(mail.to),
      cc: pairs(mail.cc),
      replyTo: pairs(mail.replyTo),
      text: normal(mail.text),
      html: normal(mail.html),
      files: mail.attachments.map(({ filename, mimeType, content }) => ({
        filename,
        type: mimeType,
        content: String(content),
      })),
    }).toEqual(reading);
  });
});

describeWith(['python3'], 'Python reads the messages of other programs alike', () => {
  test('all of them', () => {
    const input = foreign.map(({ bytes }) => `${bytes.toString('base64')}\n`).join('');
    const child = spawnSync('python3', [READER], { input, encoding: 'utf8', maxBuffer: MAX_OUTPUT_BYTES });
    expect(child.stderr).toBe('');
    const read = child.stdout.trimEnd().split('\n');
    expect(read).toHaveLength(foreign.length);
    for (const [index, line] of read.entries()) {
      const { subject, from, to, cc, replyTo, text, html, attachments } = JSON.parse(line);
      const files = attachments.map(({ filename, type, content }: Reading['files'][number]) => ({
        filename,
        type,
        content,
      }));
      const reading = { subject, from, to, cc, replyTo, text: normal(text), html: normal(html), files };
      expect(reading, foreign[index]?.name).toEqual(foreign[index]?.reading);
    }
  });
});

test('it does not matter where header lines are folded', () => {
  const head = [
    'From: "Jane Doe" <jane@a.test>',
    'To: John <john@b.test>, c@b.test',
    'Subject: =?utf-8?Q?a?= b c  d',
    'X-Note: one two three',
    'Content-Type: multipart/mixed; boundary="b b"',
  ];
  const body = '\r\n\r\n--b b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nx\r\n--b b--\r\n';
  const plain = atOnce(readParts(Buffer.from(head.join('\r\n') + body)));
  expect(plain.ok).toBe(true);
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }), (folds) => {
      let at = 0;
      const folded = head.map((line) =>
        line.replace(/(?<=: .*) (?=[^ ])/g, () => (folds[at++ % 30] ? '\r\n ' : ' ')),
      );
      expect(atOnce(readParts(Buffer.from(folded.join('\r\n') + body)))).toEqual(plain);
    }),
  );
});
