/** The rules for header fields that a client sets (contract §2). */
import { parseAddressList, parseMailbox } from '../domain/mailbox.ts';
import { breaksLine, HARD_LINE, tokenWords } from './field.ts';
import { isDate } from './trace.ts';

/** A header field as a client gave it. */
export type HeaderField = readonly [name: string, value: string];

/** Why something was refused: a stable code and a sentence for the client. */
export interface Fault {
  readonly code: string;
  readonly detail: string;
}

/** Limits on the number of custom header fields, and on the bytes of names and values together. */
export interface HeaderLimits {
  readonly maxHeaders: number;
  readonly maxHeaderBytes: number;
}

/** The syntax of a field's value, which decides how it is checked and written. */
export type HeaderKind = 'addresses' | 'tokens' | 'unstructured';

/** A longer name would leave no room for a value on its line. */
const MAX_NAME = 76;
const MAX_MESSAGE_ID = 900;
/** In characters: twice RFC 5322's longest line, and far more than any program shows. */
const MAX_SUBJECT = 2000;
/** Directional embeddings, overrides and isolates: they make text look different from what it is. */
const TURNS_TEXT = /[\u202a-\u202e\u2066-\u2069]/;
const FIELD_NAME = /^[\x21-\x39\x3b-\x7e]+$/;
const VISIBLE_ASCII = /^[\t\x20-\x7e]*$/;
/** RFC 5322 §3.6.4, without the obsolete forms. */
const MESSAGE_ID =
  /^<[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*|\[[\x21-\x5a\x5e-\x7e]*\])>$/;

/** Fields that the composer writes from the submission's own. */
const FIELD_NAMES = new Set(['from', 'to', 'cc', 'bcc', 'subject']);
/** Fields that the composer, the trace or a signer writes. */
const WRITTEN_NAMES = new Set([
  'mime-version',
  'received',
  'return-path',
  'dkim-signature',
  'authentication-results',
]);
const WRITTEN_PREFIXES = ['content-', 'resent-', 'x-waybill-', 'arc-'];

const ADDRESS_NAMES = new Set([
  'reply-to',
  'sender',
  'disposition-notification-to',
  'errors-to',
  'mail-followup-to',
  'mail-reply-to',
]);
const TOKEN_NAMES = new Set(['date', 'message-id', 'in-reply-to', 'references']);
/** RFC 5322 §3.6, RFC 2369 §3: at most one of each. */
const SINGLE_NAMES = new Set(['date', 'message-id', 'in-reply-to', 'references', 'reply-to', 'sender']);
const LIST_PREFIX = 'list-';

/** The kind of a field by its name, in any letter case. */
export function headerKind(name: string): HeaderKind {
  const lower = name.toLowerCase();
  if (ADDRESS_NAMES.has(lower)) return 'addresses';
  return TOKEN_NAMES.has(lower) || lower.startsWith(LIST_PREFIX) ? 'tokens' : 'unstructured';
}

/** Checks one custom header field by itself. Null if it may be written. */
export function checkHeader(name: string, value: string): Fault | null {
  if (!FIELD_NAME.test(name) || name.length > MAX_NAME)
    return fault(
      'header_name',
      `A header name is 1 to ${MAX_NAME} printable ASCII characters without blanks and ":", such as "X-Campaign".`,
    );
  const lower = name.toLowerCase();
  if (FIELD_NAMES.has(lower))
    return fault('header_forbidden', `The header ${name} cannot be set; use the field "${lower}".`);
  if (WRITTEN_NAMES.has(lower) || WRITTEN_PREFIXES.some((prefix) => lower.startsWith(prefix)))
    return fault(
      'header_forbidden',
      `The header ${name} cannot be set, because only the server writes it; leave it out.`,
    );
  if (breaksLine(value))
    return fault(
      'header_value',
      `The value of ${name} must not contain CR, LF or NUL; write it on one line.`,
    );
  if (lower === 'date' && !isDate(value))
    return fault('header_date', 'Date must be a date as in "Fri, 20 Nov 2026 11:15:00 +0000".');
  if (lower === 'message-id' && !isMessageId(value))
    return fault('header_message_id', 'Message-ID must have the form <unique@example.com>, or be left out.');
  return checkValue(name, lower, value);
}

/** Checks the subject. Null if it may be written. */
export function checkSubject(subject: string): Fault | null {
  if (subject.length > MAX_SUBJECT)
    return fault(
      'subject_too_long',
      `The subject must not be longer than ${MAX_SUBJECT} characters; this one has ${subject.length}.`,
    );
  if (breaksLine(subject))
    return fault('subject_value', 'The subject must not contain CR, LF or NUL; write it on one line.');
  return TURNS_TEXT.test(subject)
    ? fault(
        'subject_value',
        'The subject must not contain marks that turn its direction (U+202A to U+202E, U+2066 to U+2069); remove them. Hebrew and Arabic need none.',
      )
    : null;
}

/** Checks the custom header fields together: number, size, repeats. */
export function checkHeaderTotals(headers: readonly HeaderField[], limits: HeaderLimits): Fault | null {
  if (headers.length > limits.maxHeaders)
    return fault(
      'header_count',
      `There are ${headers.length} headers; at most ${limits.maxHeaders} are accepted.`,
    );
  let bytes = 0;
  const seen = new Set<string>();
  for (const [name, value] of headers) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
    if (bytes > limits.maxHeaderBytes)
      return fault(
        'header_size',
        `All header names and values together must not exceed ${limits.maxHeaderBytes} bytes; shorten them.`,
      );
    const lower = name.toLowerCase();
    const isSingle = SINGLE_NAMES.has(lower) || lower.startsWith(LIST_PREFIX);
    if (isSingle && seen.has(lower))
      return fault('header_repeated', `The header ${name} must not be repeated; give it once.`);
    seen.add(lower);
  }
  return null;
}

/** Checks that a Sender is on the domain of From, in the form of `Mailbox.domain`. Null without a Sender, too. */
export function checkSenderDomain(headers: readonly HeaderField[], fromDomain: string): Fault | null {
  const value = findHeader(headers, 'sender');
  if (value === null) return null;
  const sender = parseMailbox(value);
  if (sender.ok && sender.value.domain === fromDomain) return null;
  return fault(
    'header_sender_domain',
    'Sender must be an address on the domain of From; leave it out, or use that domain.',
  );
}

/** The Message-ID of the composed message: the client's, otherwise `fallback`. */
export function effectiveMessageId(headers: readonly HeaderField[], fallback: string): string {
  return findHeader(headers, 'message-id') ?? fallback;
}

/** The first value of a field, by its lower-case name. */
export function findHeader(headers: readonly HeaderField[], lowerName: string): string | null {
  const field = headers.find(([name]) => name.toLowerCase() === lowerName);
  return field?.[1] ?? null;
}

/** Whether text is a message identifier with its angle brackets, and fits on one line. */
function isMessageId(text: string): boolean {
  return text.length <= MAX_MESSAGE_ID && MESSAGE_ID.test(text);
}

function checkValue(name: string, lower: string, value: string): Fault | null {
  const kind = headerKind(name);
  if (kind === 'addresses') return checkAddresses(name, lower, value);
  if (kind === 'unstructured') return null;
  // A field of tokens cannot be encoded, and can be folded only at its blanks.
  if (!VISIBLE_ASCII.test(value))
    return fault(
      'header_value',
      `The value of ${name} must be visible ASCII characters; encode others, a domain as xn--….`,
    );
  return tokenWords(value).every((word) => word.length < HARD_LINE - name.length - 2)
    ? null
    : fault(
        'header_value',
        `The value of ${name} has a part too long for a line; put blanks between its parts.`,
      );
}

function checkAddresses(name: string, lower: string, value: string): Fault | null {
  const parsed = lower === 'sender' ? parseMailbox(value) : parseAddressList(value);
  if (!parsed.ok) return fault('header_address', `${name}: ${parsed.detail}`);
  return value.trim() === ''
    ? fault('header_address', `${name}: An address is expected here, such as "Jane Doe <jane@example.com>".`)
    : null;
}

export function fault(code: string, detail: string): Fault {
  return { code, detail };
}
