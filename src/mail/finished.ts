import { isAscii } from 'node:buffer';
import { formatMailbox, type Mailbox, parseAddressList, parseMailbox } from '../domain/mailbox.ts';
import type { BodyFlags } from '../domain/message.ts';
import { SLICE_BYTES, type Sliced } from '../lib/clock.ts';
import { HARD_LINE, writeField } from './field.ts';
import { decodeWords, MAX_AUTHORS, withoutComments } from './field-values.ts';
import { type FieldSpan, fieldValue, type HeaderBlock, readHeader } from './header-block.ts';
import type { Fault } from './headers.ts';
import { formatDate, isDate } from './trace.ts';

/** Reads a finished message composed by somebody else (RFC 5322): what its header says, and whether it may be sent. */

/** A finished message, fit to be sent. */
export interface FinishedMessage {
  /** CRLF lines, ending in CRLF; the body unchanged. */
  readonly bytes: Buffer;
  readonly header: HeaderBlock;
  /** The first From mailbox, its name decoded; text that parses back to it. */
  readonly from: string;
  /** Decoded; empty when there is none. */
  readonly subject: string;
  /** With its angle brackets; null when there is none. */
  readonly messageId: string | null;
  /** False for an empty Date field, too. */
  readonly hasDate: boolean;
  /** The flags of the message as sent, without {@link isBlind} fields; envelope addresses are the caller's concern. */
  readonly flags: BodyFlags;
}

/** A fault, and its header field; null if it is in none. */
export interface MessageFault extends Fault {
  readonly field: string | null;
}

/** A finished message, or all its faults. */
export type ReadMessage =
  | { readonly kind: 'read'; readonly message: FinishedMessage }
  | { readonly kind: 'faulty'; readonly faults: readonly MessageFault[] }
  /** The size in bytes that it would have, which is too many. */
  | { readonly kind: 'too_large'; readonly sizeBytes: number };

/** Bounds on a finished message. */
export interface FinishedLimits {
  /** In its wire form. */
  readonly maxMessageBytes: number;
  /** Fields other than those of the message format and Received. */
  readonly maxHeaders: number;
  /** Size of the whole header. */
  readonly maxHeaderBytes: number;
}

/** RFC 5322 §3.6, RFC 2045 §3: at most one of each. */
const SINGLE_NAMES = new Set(
  `date from sender reply-to to cc bcc message-id in-reply-to references subject mime-version content-type
  content-transfer-encoding content-id content-description content-disposition x-waybill-box`.split(/\s+/),
);
/** More hops are a loop (RFC 5321 §6.3 asks servers to allow at least 100; this is a submission). */
export const MAX_RECEIVED = 50;
/** The prefix, in lower case, of fields that instruct Waybill. */
export const OURS_PREFIX = 'x-waybill-';
/** The field, in lower case, that names the box in which the message is captured (contract-2 §G1); never sent. */
export const BOX_FIELD = `${OURS_PREFIX}box`;
/** Characters shown in status and lists; as many as a subject given as a field may have. */
const MAX_SUBJECT = 2000;
const MESSAGE_ID = /^<[!-;=?-~]+>$/;
/** Characters. */
export const MAX_MESSAGE_ID = 900;
const BLIND_NAMES = new Set(['bcc', 'resent-bcc', BOX_FIELD]);

/** Whether a field is only for the authors, or for us: it is never sent. */
export function isBlind({ lowerName }: Pick<FieldSpan, 'lowerName'>): boolean {
  return BLIND_NAMES.has(lowerName);
}

/** Reads and checks a submitted message. Linear in its size. */
export function* readFinished(submitted: Buffer, limits: FinishedLimits): Sliced<ReadMessage> {
  const lines = yield* toWireLines(submitted, limits.maxMessageBytes);
  if (lines.kind === 'too_large') return lines;
  if (lines.kind === 'faulty') return { kind: 'faulty', faults: [{ ...lines.fault, field: null }] };
  const { bytes, hasLeadingDot } = lines.message;
  const read = readHeader(bytes, limits.maxHeaderBytes);
  if (!read.ok) return { kind: 'faulty', faults: read.faults.map((fault) => ({ ...fault, field: null })) };
  const { header } = read;
  const faults = totalFaults(header.fields, limits.maxHeaders);
  const from = readFrom(header.fields, faults);
  const date = fieldValue(header.fields, 'date') ?? '';
  if (
    date !== '' &&
    !isDate(
      withoutComments(date)
        .replace(/[ \t]+/g, ' ')
        .trim(),
    )
  )
    faults.push(
      fault(
        'Date',
        'header_date',
        'Must look like "Fri, 20 Nov 2026 11:15:00 +0000"; without it, one is added.',
      ),
    );
  const messageId = idOf(fieldValue(header.fields, 'message-id'));
  if (messageId !== null && !isMessageId(messageId))
    faults.push(
      fault(
        'Message-ID',
        'header_message_id',
        'Must have the form <local@domain>; without it, one is added.',
      ),
    );
  if (faults.length > 0) return { kind: 'faulty', faults };
  const utf8 = header.fields.some(
    (field) => !isBlind(field) && !isAscii(bytes.subarray(field.start, field.end)),
  );
  return {
    kind: 'read',
    message: {
      bytes,
      header,
      from,
      subject: shownSubject(fieldValue(header.fields, 'subject') ?? ''),
      messageId,
      hasDate: date !== '',
      flags: {
        eightBit: utf8 || !isAscii(bytes.subarray(header.sizeBytes)),
        utf8,
        dotStuffing: hasLeadingDot,
      },
    },
  };
}

/** A Message-ID; comments are removed if they are in the way. */
function idOf(value: string | null): string | null {
  return value === null || isMessageId(value) ? value : withoutComments(value).trim();
}

/** Faults of the fields taken together: number, repeats, loops, reserved names. */
function totalFaults(fields: readonly FieldSpan[], maxHeaders: number): MessageFault[] {
  const faults: MessageFault[] = [];
  const seen = new Set<string>();
  let received = 0;
  let others = 0;
  for (const { name, lowerName } of fields) {
    if (lowerName === 'received') received += 1;
    else if (!SINGLE_NAMES.has(lowerName)) others += 1;
    else if (seen.has(lowerName))
      faults.push(fault(name, 'header_repeated', `${name} may appear only once; remove all but one.`));
    if (lowerName.startsWith(OURS_PREFIX) && lowerName !== BOX_FIELD)
      faults.push(
        fault(name, 'header_forbidden', `${name} cannot be set: these names are Waybill's own. Remove it.`),
      );
    seen.add(lowerName);
  }
  if (received > MAX_RECEIVED)
    faults.push(
      fault(
        'Received',
        'mail_loop',
        `There are ${received} Received fields: the message is in a loop. Find out where it comes from.`,
      ),
    );
  if (others > maxHeaders)
    faults.push(
      fault(
        null,
        'header_count',
        `There are ${others} fields besides the usual ones; at most ${maxHeaders} are accepted.`,
      ),
    );
  return faults;
}

/** A Subject value as shown in status and lists. */
export function shownSubject(value: string): string {
  const decoded = decodeWords(value);
  return decoded.length <= MAX_SUBJECT ? decoded : [...decoded].slice(0, MAX_SUBJECT).join('');
}

/** A mailbox of the header as text that parses back to it, with its name decoded. */
export function shownMailbox({ name, address }: Mailbox): string {
  return formatMailbox({ name: name === null ? null : decodeWords(name), address });
}

/** The mandatory fields (RFC 5322 §3.6) that this message lacks, to put on top of it. */
export function missingFields(
  { hasDate, messageId: given }: Pick<FinishedMessage, 'hasDate' | 'messageId'>,
  { date, messageId }: { readonly date: number; readonly messageId: string },
): string {
  const dateField = hasDate ? '' : writeField('Date', [formatDate(date)]);
  return given === null ? dateField + writeField('Message-ID', [messageId]) : dateField;
}

/** The mailboxes of a From field; comments are removed only if they cannot belong to a name. */
export function parseAuthors(value: string): ReturnType<typeof parseAddressList> {
  const asItIs = parseAddressList(value, MAX_AUTHORS);
  return asItIs.ok || !value.includes('(') ? asItIs : parseAddressList(withoutComments(value), MAX_AUTHORS);
}

/** Checks From and Sender, and returns the first author as shown. Reports faults. */
function readFrom(fields: readonly FieldSpan[], faults: MessageFault[]): string {
  const text = fieldValue(fields, 'from');
  if (text === null || text === '') {
    faults.push(
      fault(
        'From',
        'required',
        'The message needs a header field From, such as "From: Jane <jane@example.com>".',
      ),
    );
    return '';
  }
  const parsed = parseAuthors(text);
  if (!parsed.ok) faults.push(fault('From', 'header_address', parsed.detail));
  const authors = parsed.ok ? parsed.value : [];
  const [first] = authors;
  const from = first === undefined ? '' : shownMailbox(first);
  const senderText = fieldValue(fields, 'sender');
  if (senderText === null) {
    if (authors.length > 1)
      faults.push(
        fault(
          'Sender',
          'required',
          'From names several authors, so there must be a Sender (RFC 5322 §3.6.2).',
        ),
      );
    return from;
  }
  const sender = parseMailbox(senderText);
  if (!sender.ok) faults.push(fault('Sender', 'header_address', sender.detail));
  return from;
}

/** Looser than for a Message-ID given as a field: generators write many that RFC 5322 does not allow. */
function isMessageId(text: string): boolean {
  return text.length <= MAX_MESSAGE_ID && MESSAGE_ID.test(text);
}

function fault(field: string | null, code: string, detail: string): MessageFault {
  return { field, code, detail };
}

// Reads the lines of a finished message composed by somebody else (RFC 5322 §2.1, §2.3; RFC 5321 §2.3.8).

const LF = 0x0a;
const CR = 0x0d;
const DOT = 0x2e;

/** A message whose every line ends in CRLF. */
export interface WireMessage {
  readonly bytes: Buffer;
  /** Some line begins with a dot. */
  readonly hasLeadingDot: boolean;
}

/** A message in its wire form, or why there is none. */
export type WireLines =
  | { readonly kind: 'wire'; readonly message: WireMessage }
  /** The first fault in its lines. */
  | { readonly kind: 'faulty'; readonly fault: Fault }
  /** The size in bytes that it would have, which is too many. */
  | { readonly kind: 'too_large'; readonly sizeBytes: number };

/**
 * Converts a message to its wire form. Its lines end all in CRLF, or all in LF, which become CRLF; the only other
 * change ends the last line. Refuses mixed line endings, a bare CR and NUL, which programs read differently, and lines
 * longer than a server must accept. Linear in the size of the message; allocates at most `maxBytes`.
 */
export function* toWireLines(message: Buffer, maxBytes: number): Sliced<WireLines> {
  const scan = new LineScan(message);
  for (let from = 0; from < message.length; from += SLICE_BYTES) {
    if (from > 0) yield;
    scan.read(from, Math.min(from + SLICE_BYTES, message.length));
    if (scan.fault !== null) return { kind: 'faulty', fault: scan.fault };
  }
  scan.end();
  if (scan.fault !== null) return { kind: 'faulty', fault: scan.fault };
  const { sizeBytes, hasLeadingDot } = scan;
  if (sizeBytes > maxBytes) return { kind: 'too_large', sizeBytes };
  const bytes = sizeBytes === message.length ? message : yield* withCrlf(message, sizeBytes);
  return { kind: 'wire', message: { bytes, hasLeadingDot } };
}

/** Scans a message byte by byte, and requires the first line's ending of all lines. */
class LineScan {
  fault: Fault | null = null;
  hasLeadingDot = false;
  readonly #message: Buffer;
  readonly #isCrlf: boolean;
  #ended = 0;
  #lineStart = 0;

  constructor(message: Buffer) {
    this.#message = message;
    const first = message.indexOf(LF);
    this.#isCrlf = first > 0 && message[first - 1] === CR;
  }

  /** Bytes of the wire form, once everything is read. */
  get sizeBytes(): number {
    const { length } = this.#message;
    const added = this.#isCrlf ? 0 : this.#ended;
    return length + added + (this.#lineStart < length ? 2 : 0);
  }

  /** Continues reading; stops at the first fault. */
  read(from: number, to: number): void {
    const message = this.#message;
    for (let at = from; at < to && this.fault === null; at++) {
      const byte = message[at] as number;
      if (byte > CR) {
        if (byte === DOT && at === this.#lineStart) this.hasLeadingDot = true;
      } else if (byte === LF) this.#endLine(at);
      else if (byte === CR) {
        if (message[at + 1] !== LF) this.#refuse('bare_cr', 'has a CR without an LF; end lines in CRLF');
      } else if (byte === 0) this.#refuse('nul', 'has a NUL byte; encode binary content as base64');
    }
  }

  /** Checks a last line without an end. */
  end(): void {
    this.#holdLength(this.#message.length);
  }

  #endLine(at: number): void {
    const hasCr = at > this.#lineStart && this.#message[at - 1] === CR;
    if (hasCr !== this.#isCrlf) {
      const detail = 'ends differently from the first; end all lines in CRLF, or all in LF';
      this.#refuse('mixed_line_endings', detail);
      return;
    }
    this.#holdLength(hasCr ? at - 1 : at);
    this.#ended += 1;
    this.#lineStart = at + 1;
  }

  #holdLength(end: number): void {
    if (end - this.#lineStart <= HARD_LINE) return;
    const detail = `has more than ${HARD_LINE} bytes; encode it as quoted-printable or base64`;
    this.#refuse('line_too_long', detail);
  }

  #refuse(code: string, detail: string): void {
    this.fault ??= { code, detail: `Line ${this.#ended + 1} ${detail}.` };
  }
}

/** Copies a message, adding a CR before each LF that lacks one and ending the last line. */
function* withCrlf(message: Buffer, sizeBytes: number): Sliced<Buffer> {
  const copy = Buffer.allocUnsafe(sizeBytes);
  let length = 0;
  for (let from = 0; from < message.length; from += SLICE_BYTES) {
    if (from > 0) yield;
    length = copyLines(message.subarray(from, from + SLICE_BYTES), copy, length, message[from - 1]);
  }
  if (length < sizeBytes) copy.set([CR, LF], length);
  return copy;
}

/** Copies a piece of a message in which every CR precedes an LF; returns the end of the copy. */
function copyLines(piece: Buffer, copy: Buffer, start: number, byteBefore = 0): number {
  let length = start;
  let before = byteBefore;
  for (let at = 0; at < piece.length; at++) {
    const byte = piece[at] as number;
    if (byte === LF && before !== CR) copy[length++] = CR;
    copy[length++] = byte;
    before = byte;
  }
  return length;
}
