/** What sendmail is handed, made a message with whole addresses. */
import { parseAddress } from '../domain/mailbox.ts';
import { addressWords, writeField } from '../mail/field.ts';
import { MAX_HANDED_IN_HEADER, wholeAddresses } from '../mail/handed-in.ts';
import { changeHeader, type FieldSpan, type HeaderBlock, readLooseHeader } from '../mail/header-block.ts';
import type { SendmailOptions } from './sendmail-options.ts';
import type { Terminal } from './terminal.ts';
import { Exit } from './terminal.ts';

/** A message that is ready to be handed over. */
export interface Handed {
  /** CRLF lines, the last one ended. It still has Bcc, which is removed when the message is accepted. */
  readonly content: Buffer;
  /** The reverse-path; empty for the null one. */
  readonly from: string;
  readonly to: readonly string[];
}

/** Who runs the command, and where. */
export interface Caller {
  readonly user: string;
  /** What an address without a domain gets. */
  readonly domain: string;
}

/** Statuses of sysexits.h. */
const EX_USAGE = 64;
const EX_DATAERR = 65;
const EX_NOUSER = 67;

/** Most bytes that are read; api.max_message_bytes decides before that. */
const MAX_INPUT = 128 * 1024 * 1024;
/** Who has no address to answer to. */
const NOBODY = 'MAILER-DAEMON';
const ADDRESSES = new Set(
  `from sender reply-to to cc bcc resent-from resent-sender resent-reply-to resent-to resent-cc resent-bcc`.split(
    ' ',
  ),
);
const RECIPIENTS = ['to', 'cc', 'bcc'];
const RESENT = RECIPIENTS.map((name) => `resent-${name}`);
/** RFC 5322 §2.1.1: what a line should not go past. */
const LONGEST_LINE = 78;
const LONE_DOT = /(?:^|\n)[.](?:\r?\n|$)/;
/** What may still turn out to be a line with a lone dot. */
const TAIL = 4;

/** Reads the message, up to a line with a lone dot unless it is ignored. Throws `Exit` (65). */
export async function readMessage({ input }: Terminal, ignoreDots: boolean): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  let tail = '\n';
  for await (const piece of input()) {
    const chunk = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    size += chunk.length;
    if (size > MAX_INPUT) throw new Exit(EX_DATAERR, `The message has more than ${MAX_INPUT} bytes.`);
    chunks.push(chunk);
    if (ignoreDots) continue;
    // Somebody who types may end with a dot and wait.
    if (/\n[.]\r?\n/.test(tail + chunk.toString('latin1'))) break;
    tail = (tail + chunk.toString('latin1')).slice(-TAIL);
  }
  const whole = Buffer.concat(chunks, size);
  if (ignoreDots) return whole;
  const text = whole.toString('latin1');
  const dot = LONE_DOT.exec(text);
  return dot === null ? whole : whole.subarray(0, text[dot.index] === '\n' ? dot.index + 1 : dot.index);
}

/** Makes what was read a message, and finds its envelope. Throws `Exit` (64, 65, 67). */
export function handedMessage(read: Buffer, options: SendmailOptions, caller: Caller): Handed {
  const bytes = inCrlf(read);
  const text = bytes.toString('latin1', 0, Math.min(bytes.length, MAX_HANDED_IN_HEADER + TAIL));
  const header = readLooseHeader(text, MAX_HANDED_IN_HEADER);
  if (header === null)
    throw new Exit(
      EX_DATAERR,
      `The header has more than ${MAX_HANDED_IN_HEADER} bytes, or there is no empty line after it.`,
    );
  const { domain, user } = caller;
  const from = options.sender === null ? `${user}@${domain}` : addressIn(options.sender, domain);
  const to = recipientsOf(header, options, domain);
  const hasFrom = header.fields.some(({ lowerName, value }) => lowerName === 'from' && value !== '');
  const prepend = hasFrom ? '' : fromField(from === '' ? `${NOBODY}@${domain}` : from, options.fullName);
  const chunks = changeHeader(bytes, header, {
    prepend,
    each: (field) => changed(field, domain, hasFrom),
  });
  return { content: Buffer.concat(chunks), from, to };
}

/** The field as it goes on: with whole addresses; null for one that does not. */
function changed(field: FieldSpan, domain: string, hasFrom: boolean): FieldSpan | string | null {
  const { lowerName, name, value } = field;
  if (lowerName === 'from' && !hasFrom) return null;
  if (!ADDRESSES.has(lowerName)) return field;
  const { text } = wholeAddresses(value, domain);
  const line = `${name}: ${text}`;
  return text === value
    ? field
    : `${line.length > LONGEST_LINE ? line.replace(/,\s+/g, ',\r\n ') : line}\r\n`;
}

function recipientsOf(
  { fields }: HeaderBlock,
  { fromHeader, recipients }: SendmailOptions,
  domain: string,
): readonly string[] {
  const isResent = fields.some(({ lowerName }) => RESENT.includes(lowerName));
  const names = isResent ? RESENT : RECIPIENTS;
  const values = fromHeader ? fields.filter(({ lowerName }) => names.includes(lowerName)) : [];
  const texts = [...recipients, ...values.map(({ value }) => value)];
  const found = new Set(texts.flatMap((text) => wholeAddresses(text, domain).addresses));
  for (const address of found) refuseUnlessAddress(address, EX_NOUSER);
  if (found.size > 0) return [...found];
  throw new Exit(
    EX_USAGE,
    fromHeader
      ? 'There is no recipient: neither in To, Cc or Bcc, nor after the options.'
      : 'There is no recipient: name one after the options, or give -t to use those in the header.',
  );
}

/** The one address in what was given as a sender. Empty stays empty. */
function addressIn(given: string, domain: string): string {
  const [address = '', ...others] = wholeAddresses(given, domain).addresses;
  if (others.length > 0) throw new Exit(EX_USAGE, `-f must be one address, not ${given}.`);
  if (address !== '') refuseUnlessAddress(address, EX_USAGE);
  return address;
}

function refuseUnlessAddress(address: string, status: number): void {
  const parsed = parseAddress(address);
  if (!parsed.ok) throw new Exit(status, `${address}: ${parsed.detail}`);
}

function fromField(address: string, name: string | null): string {
  const parsed = parseAddress(address);
  if (!parsed.ok) throw new Exit(EX_DATAERR, `${address}: ${parsed.detail}`);
  return writeField('From', addressWords([{ ...parsed.value, name: name === '' ? null : name }]));
}

/** With every line ended by CRLF, however it was ended, and without NUL. */
function inCrlf(read: Buffer): Buffer {
  if (read.includes(0)) throw new Exit(EX_DATAERR, 'The message has a NUL byte, which mail cannot carry.');
  const text = read.toString('latin1').replace(/\r\n|\r|\n/g, '\r\n');
  const isEnded = text === '' || text.endsWith('\r\n');
  return Buffer.from(isEnded ? text : `${text}\r\n`, 'latin1');
}
