import { createHash } from 'node:crypto';
import type { MessageRecord } from '../../../domain/message.ts';
import { formatTimestamp, yieldToLoop } from '../../../lib/clock.ts';
import { readListUnsubscribe } from '../../../mail/list-unsubscribe.ts';
import type { ParsedAttachment, ParsedMailbox, ParsedMessage } from '../../../preview/parsed.ts';
import { type Mailboxes, mailboxesOf, type Said, tagsOf } from './summaries.ts';

/** How Mailpit shows messages (contract-2 §G2); the names of fields are its own. */

/** A part of a mailbox that was asked for. */
export interface Part {
  readonly start: number;
  readonly limit: number;
}

/** Messages in a list. */
export function summaryJson(message: MessageRecord, { mailboxes, attachments, snippet }: Said) {
  return {
    ID: message.id,
    MessageID: messageIdOf(message),
    Read: message.inboxRead,
    ...addressesJson(mailboxes),
    Subject: message.header.subject,
    Created: formatTimestamp(message.createdAt),
    Username: message.box ?? '',
    Tags: tagsOf(message),
    Size: message.sizeBytes,
    Attachments: attachments,
    Snippet: snippet,
  };
}

/** A message with its text, and what is known of its files. */
export async function messageJson(message: MessageRecord, words: ParsedMessage) {
  const inline: object[] = [];
  const attached: object[] = [];
  for (const [place, file] of words.attachments.entries())
    (file.inline ? inline : attached).push(await fileJson(file, place));
  return {
    ID: message.id,
    MessageID: messageIdOf(message),
    ...addressesJson(mailboxesOf(message, words)),
    ReturnPath: message.envelopeFrom,
    Subject: message.header.subject,
    ListUnsubscribe: listUnsubscribeJson(words),
    Date: formatTimestamp(dateOf(message, words)),
    Tags: tagsOf(message),
    Username: message.box ?? '',
    Text: textOf(words),
    HTML: htmlOf(words),
    Size: message.sizeBytes,
    Inline: inline,
    Attachments: attached,
  };
}

/** The text of a message: made from its HTML if that is all it has. The end of the last line is not a part of it. */
export function textOf({ text, plain }: ParsedMessage): string {
  return withoutLastEnd(text ?? plain);
}

/** The HTML of a message; empty if it has none. */
export function htmlOf({ html }: ParsedMessage): string {
  return withoutLastEnd(html ?? '');
}

function withoutLastEnd(text: string): string {
  return text.endsWith('\n') ? text.slice(0, text.endsWith('\r\n') ? -2 : -1) : text;
}

/** The Message-ID, without angle brackets. */
export function messageIdOf({ header }: Pick<MessageRecord, 'header'>): string {
  return header.messageId.replace(/^<|>$/g, '');
}

function addressesJson({ from, to, cc, bcc, replyTo }: Mailboxes) {
  const [author = { name: '', address: '' }] = from;
  return {
    From: addressJson(author),
    To: to.map(addressJson),
    Cc: cc.map(addressJson),
    Bcc: bcc.map(addressJson),
    ReplyTo: replyTo.map(addressJson),
  };
}

function addressJson({ name, address }: ParsedMailbox) {
  return { Name: name, Address: address };
}

/** The date that a message says it has; when it was accepted, if it says none. */
function dateOf({ createdAt }: MessageRecord, words: ParsedMessage): number {
  const ms = Date.parse(fieldOf(words, 'date'));
  return Number.isNaN(ms) ? createdAt : ms;
}

function listUnsubscribeJson(words: ParsedMessage) {
  const header = fieldOf(words, 'list-unsubscribe');
  const post = fieldOf(words, 'list-unsubscribe-post');
  const { links, faults } = readListUnsubscribe(header, post);
  return { Header: header, Links: links, Errors: faults.join(' '), HeaderPost: post };
}

function fieldOf({ headers }: ParsedMessage, lowerName: string): string {
  return headers.find(({ name }) => name.toLowerCase() === lowerName)?.value ?? '';
}

/** The name of a file's part: its place among all files of the message, from 1. */
export function partId(place: number): string {
  return String(place + 1);
}

async function fileJson({ filename, contentType, contentId, content }: ParsedAttachment, place: number) {
  return {
    PartID: partId(place),
    FileName: filename,
    ContentType: contentType,
    ContentID: contentId ?? '',
    Size: content.length,
    Checksums: {
      MD5: await checksum('md5', content),
      SHA1: await checksum('sha1', content),
      SHA256: await checksum('sha256', content),
    },
  };
}

/** Bytes that are hashed before others have a turn: a few milliseconds. */
const SLICE_BYTES = 2 * 1024 * 1024;

async function checksum(algorithm: 'md5' | 'sha1' | 'sha256', content: Uint8Array): Promise<string> {
  const hash = createHash(algorithm);
  for (let from = 0; from < content.length; from += SLICE_BYTES) {
    if (from > 0) await yieldToLoop();
    hash.update(content.subarray(from, from + SLICE_BYTES));
  }
  return hash.digest('hex');
}
