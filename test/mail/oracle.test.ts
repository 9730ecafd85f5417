/** What we compose is read back, byte for byte, by two parsers that are not ours. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import PostalMime, { type Address } from 'postal-mime';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Mailbox, parseAddressList } from '../../src/domain/mailbox.ts';
import type { Content } from '../../src/domain/message.ts';
import { atOnce } from '../../src/lib/clock.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { compose, type Draft } from '../../src/mail/compose.ts';
import { effectiveMessageId, findHeader } from '../../src/mail/headers.ts';
import type { Attachment } from '../../src/mail/part.ts';
import { describeWith } from '../peers/need.ts';
import { awkwardDrafts, draftsBeyondPostalMime, generatedDrafts } from './drafts.ts';

const READER = fileURLToPath(new URL('./read_messages.py', import.meta.url));
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
const MESSAGE_ID = '<generated@example.com>';
const DATE = 1_790_000_000_000;

/** What both parsers are asked for, in one shape. */
interface Reading {
  readonly subject: string;
  readonly from: readonly string[][];
  readonly to: readonly string[][];
  readonly cc: readonly string[][];
  readonly replyTo: readonly string[][];
  readonly sender: readonly string[][];
  /** Wall ms. */
  readonly date: number;
  readonly messageId: string | null;
  readonly inReplyTo: string | null;
  readonly references: string | null;
  readonly listUnsubscribe: string | null;
  readonly note: string | null;
  readonly text: string | null;
  readonly html: string | null;
  readonly attachments: readonly AttachmentReading[];
}

interface AttachmentReading {
  readonly filename: string | null;
  readonly type: string;
  readonly contentId: string | null;
  readonly disposition: string;
  /** Base64. */
  readonly content: string;
}

const common = [...awkwardDrafts(), ...generatedDrafts(250)];
const drafts = [...common, ...draftsBeyondPostalMime()];
const messages = drafts.map((draft, index) =>
  atOnce(compose(draft, { date: DATE, messageId: MESSAGE_ID, random: seededRandom(index) })),
);

/** Python also says what it found wrong. */
interface PythonReading extends Reading {
  readonly defects: readonly string[];
}

/** What a reader must find, taken from the draft alone. */
function expected(draft: Draft): Reading {
  const related = draft.html === null ? [] : draft.attachments.filter(isReferred);
  const attached = draft.attachments.filter((attachment) => !related.includes(attachment));
  const header = (name: string) => findHeader(draft.headers, name);
  const given = header('date');
  return {
    subject: draft.subject,
    from: people([draft.from]),
    to: people(draft.to),
    cc: people(draft.cc),
    replyTo: listed(header('reply-to')),
    sender: listed(header('sender')),
    date: given === null ? DATE : Date.parse(given),
    messageId: effectiveMessageId(draft.headers, MESSAGE_ID),
    inReplyTo: header('in-reply-to'),
    references: tokens(header('references')),
    listUnsubscribe: header('list-unsubscribe'),
    note: header('x-note'),
    text: normal(draft.text),
    html: normal(draft.html),
    attachments: [...related, ...attached].map((attachment) => ({
      filename: attachment.filename,
      type: (attachment.contentType ?? 'application/octet-stream').replace(/;.*/, '').toLowerCase(),
      contentId: attachment.contentId === null ? null : `<${attachment.contentId}>`,
      disposition: attachment.disposition,
      content: Buffer.from(attachment.content).toString('base64'),
    })),
  };
}

function isReferred(attachment: Attachment): boolean {
  return attachment.disposition === 'inline' && attachment.contentId !== null;
}

function listed(text: string | null): string[][] {
  const parsed = parseAddressList(text ?? '');
  return parsed.ok ? people(parsed.value) : [];
}

/** The blanks between tokens all mean the same. */
function tokens(text: string | null): string | null {
  return text?.trim().replace(/\s+/g, ' ') ?? null;
}

function people(mailboxes: readonly Mailbox[]): string[][] {
  return mailboxes.map(({ name, address }) => [name ?? '', address]);
}

/**
 * Line endings made one, and those at the very end left out: a single part ends in one whether it had it or not.
 * Empty text is no text: postal-mime does not tell them apart.
 */
function normal(text: string | null): string | null {
  return text?.replace(/\r\n?|\n/g, '\n').replace(/\n+$/, '') || null;
}

function bytesOf(content: Content): Buffer {
  return Buffer.concat(content.chunks);
}

async function readByPostalMime(content: Content): Promise<Reading> {
  const mail = await PostalMime.parse(bytesOf(content), {
    forceRfc822Attachments: true,
    attachmentEncoding: 'base64',
  });
  const pairs = (list: Address | Address[] | undefined) =>
    [list ?? []]
      .flat()
      .filter(({ group }) => group === undefined)
      .map(({ name, address }) => [name, address ?? '']);
  return {
    subject: mail.subject ?? '',
    from: pairs(mail.from),
    to: pairs(mail.to),
    cc: pairs(mail.cc),
    replyTo: pairs(mail.replyTo),
    sender: pairs(mail.sender),
    date: Date.parse(mail.date ?? ''),
    messageId: mail.messageId ?? null,
    inReplyTo: mail.inReplyTo ?? null,
    references: tokens(mail.references ?? null),
    listUnsubscribe: mail.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? null,
    note: null,
    text: normal(mail.text ?? null),
    html: normal(mail.html ?? null),
    attachments: mail.attachments.map((attachment) => ({
      filename: attachment.filename,
      type: attachment.mimeType,
      contentId: attachment.contentId ?? null,
      disposition: attachment.disposition ?? '',
      content: String(attachment.content),
    })),
  };
}

describe('postal-mime reads what was written', () => {
  test.each(common.map((draft, index) => [index, draft] as const))('draft %i', async (index, draft) => {
    const reading = await readByPostalMime(composed(index));
    expect(reading).toEqual({ ...expected(draft), note: null });
  });
});

describeWith(['python3'], 'Python reads what was written', () => {
  let readings: readonly PythonReading[] = [];
  beforeAll(() => {
    readings = readByPython(messages);
  });

  test.each(drafts.map((draft, index) => [index, draft] as const))('draft %i', (index, draft) => {
    const reading = readings[index];
    expect(reading).toEqual({ ...expected(draft), defects: [] });
  });
});

describe('the wire form', () => {
  test.each(drafts.map((_, index) => index))('draft %i', (index) => {
    const { sizeBytes, flags } = composed(index);
    const bytes = bytesOf(composed(index));
    const wire = bytes.toString('latin1');
    expect(sizeBytes).toBe(bytes.length);
    expect(wire.endsWith('\r\n')).toBe(true);
    expect(wire.replaceAll('\r\n', '')).not.toMatch(/[\r\n\0]/);
    expect(flags.eightBit).toBe(/[\x80-\xff]/.test(wire));
    expect(flags.utf8).toBe(flags.eightBit);
    expect(flags.dotStuffing).toBe(/^\./m.test(wire));
    expect(Math.max(...wire.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
  });
});

function composed(index: number): Content {
  const content = messages[index];
  if (content === undefined) throw new RangeError(`no message ${index}`);
  return content;
}

/** One child process for all messages: starting Python costs more than reading them. */
function readByPython(contents: readonly Content[]): PythonReading[] {
  const input = contents.map((content) => `${bytesOf(content).toString('base64')}\n`).join('');
  const child = spawnSync('python3', [READER], { input, encoding: 'utf8', maxBuffer: MAX_OUTPUT_BYTES });
  expect(child.stderr).toBe('');
  const lines = child.stdout.trimEnd().split('\n');
  return lines.map((line) => {
    const reading: PythonReading = JSON.parse(line);
    return {
      ...reading,
      references: tokens(reading.references),
      text: normal(reading.text),
      html: normal(reading.html),
    };
  });
}
