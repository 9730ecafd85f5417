import { isAscii } from 'node:buffer';
import type { RecipientKind } from '../domain/message.ts';
import { decodeWords } from './field-values.ts';
import { isBlind, MAX_MESSAGE_ID, parseAuthors, shownMailbox, shownSubject } from './finished.ts';
import {
  changeHeader,
  type FieldSpan,
  type HeaderBlock,
  MAILBOX_LINE,
  readLooseHeader,
} from './header-block.ts';

/**
 * Reads a message as a mail server does, without checking its text (RFC 5321 §3.3, §6.4): any device or script may send
 * us its mail. Unparsable parts are passed on unchanged; only the header is examined, and the body is never copied.
 */

/**
 * Most bytes of a header to read. Large mail services accept as many, no program writes so many, and the oddest header
 * of that size blocks other work for some twenty milliseconds.
 */
export const MAX_HANDED_IN_HEADER = 256 * 1024;
const BLANK_LINE = Buffer.from('\r\n\r\n');
/** The header's last line end belongs to the header, the next one to the blank line. */
const CRLF_LENGTH = 2;
/** What separates or surrounds the addresses of a list. */
const AROUND_ADDRESSES = /[\s<>,;:"()]+/;

/** A message, and what its header says. Fields may be missing or repeated: the first counts. */
export interface HandedIn {
  readonly header: HeaderBlock;
  /** Begins with the header; the rest of it belongs to the body. */
  readonly head: Buffer;
  /** The rest of the body: views of the input. */
  readonly rest: readonly Buffer[];
  /** The first From mailbox, its name decoded; null if there is none, or it cannot be parsed. For display only. */
  readonly from: string | null;
  /** Decoded; empty when there is none. */
  readonly subject: string;
  /** Unchanged, but on one line and not too long; null if there is none, or only an empty one. */
  readonly messageId: string | null;
  /** False for an empty Date field, too. */
  readonly hasDate: boolean;
  readonly received: number;
}

/**
 * Reads a message in chunks of any size: CRLF lines, the last one ended, without NUL, bare CR and bare LF. If a header
 * line is not a field, the header ends before it. Null for a header of more than `maxHeaderBytes`.
 */
export function readHandedIn(chunks: readonly Buffer[], maxHeaderBytes: number): HandedIn | null {
  const start = beginning(chunks, maxHeaderBytes + CRLF_LENGTH);
  const text = start.toString('latin1', 0, Math.min(headerEnd(start), maxHeaderBytes + CRLF_LENGTH));
  const header = readLooseHeader(text, maxHeaderBytes);
  if (header === null) return null;
  const isWhole = start === chunks[0];
  return {
    header,
    head: isWhole ? start : start.subarray(0, header.sizeBytes),
    rest: isWhole ? chunks.slice(1) : behind(chunks, header.sizeBytes),
    ...readFields(header.fields),
  };
}

/** A message as it is sent on. */
export interface PassedOn {
  /** The text put before it, and views of its remaining parts. */
  readonly chunks: readonly Uint8Array[];
  /** Whether any byte is over 127. */
  readonly eightBit: boolean;
  /** Whether any byte of its header is. */
  readonly eightBitHeader: boolean;
}

/**
 * The message with whole fields (ASCII) on top, without those that are never sent and those for which `isDropped` is
 * true. Also dropped are a mailbox file's line before the header, and Date and Message-ID where all are empty, because
 * the caller has put new ones on top.
 */
export function passOn(
  { header, head, rest, hasDate, messageId }: HandedIn,
  prepend: string,
  isDropped: (field: FieldSpan) => boolean,
): PassedOn {
  const goes = (field: FieldSpan) => {
    const { lowerName } = field;
    if (lowerName === MAILBOX_LINE || isBlind(field)) return true;
    return (
      (lowerName === 'date' && !hasDate) ||
      (lowerName === 'message-id' && messageId === null) ||
      isDropped(field)
    );
  };
  const kept = changeHeader(head, header, { prepend, each: (field) => (goes(field) ? null : field) });
  const isPlain = isAscii(head);
  const eightBitHeader =
    !isPlain &&
    header.fields.some((field) => !goes(field) && !isAscii(head.subarray(field.start, field.end)));
  const body = () => [head.subarray(header.sizeBytes), ...rest];
  return {
    chunks: rest.length === 0 ? kept : [...kept, ...rest],
    eightBit: eightBitHeader || !(isPlain ? rest : body()).every((piece) => isAscii(piece)),
    eightBitHeader,
  };
}

/** Returns how the header names an address of the envelope: in To, in Cc, or not at all. Ignores letter case. */
export function recipientKinds({ header: { fields } }: HandedIn): (address: string) => RecipientKind {
  const to = addressesIn(fields, 'to');
  let cc: ReadonlySet<string> | null = null;
  return (address) => {
    const lower = address.toLowerCase();
    if (to.has(lower)) return 'to';
    cc ??= addressesIn(fields, 'cc');
    return cc.has(lower) ? 'cc' : 'bcc';
  };
}

/** Every possible address in the fields of a name, in lower case. */
function addressesIn(fields: readonly FieldSpan[], lowerName: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const field of fields)
    if (field.lowerName === lowerName)
      for (const part of field.value.toLowerCase().split(AROUND_ADDRESSES)) found.add(part);
  return found;
}

/** Collects the facts in one pass: there may be very many fields. */
function readFields(fields: readonly FieldSpan[]): Omit<HandedIn, 'header' | 'head' | 'rest'> {
  let from = '';
  let subject: string | null = null;
  let messageId = '';
  let hasDate = false;
  let received = 0;
  for (const field of fields)
    switch (field.lowerName) {
      case 'from':
        if (from === '') from = field.value;
        break;
      case 'subject':
        subject ??= shownSubject(field.value);
        break;
      case 'message-id':
        if (messageId === '') messageId = field.value;
        break;
      case 'date':
        hasDate ||= field.value !== '';
        break;
      case 'received':
        received += 1;
        break;
    }
  return {
    from: shownAuthor(from),
    subject: subject ?? '',
    messageId: messageId === '' ? null : decodeWords(messageId).slice(0, MAX_MESSAGE_ID),
    hasDate,
    received,
  };
}

/** The first mailbox of a From field. */
function shownAuthor(value: string): string | null {
  const parsed = parseAuthors(value);
  const [first] = parsed.ok ? parsed.value : [];
  return first === undefined ? null : shownMailbox(first);
}

/** The first chunk if the header ends in it, or it is long enough; otherwise as many joined chunks as needed. */
function beginning(chunks: readonly Buffer[], length: number): Buffer {
  const [first = Buffer.alloc(0)] = chunks;
  if (chunks.length === 1 || first.length >= length || first.includes(BLANK_LINE)) return first;
  const joined: Buffer[] = [];
  let missing = length;
  for (const chunk of chunks) {
    if (missing === 0) break;
    const part = chunk.subarray(0, missing);
    joined.push(part);
    missing -= part.length;
  }
  return Buffer.concat(joined);
}

/** The latest possible end of the header: after its last line, if nothing breaks it off before. */
function headerEnd(start: Buffer): number {
  const end = start.indexOf(BLANK_LINE);
  return end < 0 ? start.length : end + BLANK_LINE.length;
}

/** What follows the first `length` bytes. */
function behind(chunks: readonly Buffer[], length: number): readonly Buffer[] {
  let skip = length;
  return chunks.flatMap((chunk) => {
    const view = chunk.subarray(skip);
    skip = Math.max(0, skip - chunk.length);
    return view.length === 0 ? [] : [view];
  });
}

// Addresses as programs on this machine write them, where a user's name alone is an address: `root`, `root (Cron
// Daemon)`, `Jane <jane>`. Parses RFC 5322 address lists, comments and groups included; refuses nothing.

/** A field's value with complete addresses, and the list of them. */
export interface WholeAddresses {
  readonly text: string;
  /** Without names and comments, otherwise unchanged; a route before one (RFC 5322 §4.4) is left out. */
  readonly addresses: readonly string[];
}

/** A quoted string, a comment with at most one nested comment, a blank, a special character, or anything else. */
const TOKEN =
  /"(?:[^"\\]|\\[\s\S])*"|\((?:[^()\\]|\\[\s\S]|\((?:[^()\\]|\\[\s\S])*\))*\)|\s+|[<>,:;]|[^"(\s<>,:;]+|[\s\S]/g;

/** Appends this domain to each address without one. Linear in the length of the text. */
export function wholeAddresses(value: string, domain: string): WholeAddresses {
  const reading = new Reading(domain);
  for (const [token] of value.matchAll(TOKEN)) reading.take(token);
  reading.end();
  return { text: reading.text, addresses: reading.addresses };
}

class Reading {
  text = '';
  readonly addresses: string[] = [];
  readonly #domain: string;
  /** The words of the current entry that may be its address. */
  #words: string[] = [];
  /** The end of the last of them in the text. */
  #wordsEnd = 0;
  #inAngles = false;
  /** The entry's address was in angle brackets, and is known. */
  #isClosed = false;

  constructor(domain: string) {
    this.#domain = domain;
  }

  take(token: string): void {
    if (token === '<') this.#open();
    else if (token === '>') this.#close();
    else if (token === ',' || token === ';') this.end();
    // The name of a group, or a route inside the brackets.
    else if (token === ':') this.#words = [];
    else if (!/^[\s(]/.test(token) && !this.#isClosed) {
      this.#words.push(token);
      this.text += token;
      this.#wordsEnd = this.text.length;
      return;
    }
    this.text += token;
  }

  /** An entry ends. */
  end(): void {
    if (!this.#isClosed) this.#found();
    this.#words = [];
    this.#isClosed = false;
    this.#inAngles = false;
  }

  #open(): void {
    // The preceding words were a name.
    this.#words = [];
    this.#inAngles = true;
  }

  #close(): void {
    if (this.#inAngles) this.#found();
    this.#inAngles = false;
    this.#isClosed = true;
  }

  #found(): void {
    if (this.#words.length === 0) return;
    const address = this.#words.join('');
    const isLocal = this.#words.length === 1 && (address.startsWith('"') || !address.includes('@'));
    if (isLocal) {
      const at = this.#wordsEnd;
      this.text = `${this.text.slice(0, at)}@${this.#domain}${this.text.slice(at)}`;
    }
    this.addresses.push(isLocal ? `${address}@${this.#domain}` : address);
    this.#words = [];
  }
}
