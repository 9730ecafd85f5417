import { feedbackText } from '../domain/feedback.ts';
import { parseAddress } from '../domain/mailbox.ts';
import { decodeWords, withoutComments } from './field-values.ts';
import { fieldValue } from './header-block.ts';
import { decodeXtext, type ReportAction } from './report-parts.ts';
import { type ReportField, readFieldGroups } from './report-reading.ts';

/** Reads message/delivery-status (RFC 3464) and message/global-delivery-status (RFC 6533) as other servers write them. */

/** What was done for a recipient (RFC 3464 §2.3.3). */
export type DeliveryAction = ReportAction | 'expanded';

/** An address of a report. Hostile: a peer wrote it. */
export interface ReportedAddress {
  /** In lower case, mostly `rfc822` or `utf-8`; null if none is given. */
  readonly type: string | null;
  /** As {@link parseAddress} writes it, where it is an address: UTF-8, without needless quotes and comments. */
  readonly address: string;
  /** The same with xtext undone: some servers forget it, but `ann+2B@example.org` may be meant as it stands. */
  readonly decoded: string;
}

/** What a report says of one recipient. */
export interface RecipientStatus {
  /** From Status or the reply's code if there is no valid Action; null if nothing tells. */
  readonly action: DeliveryAction | null;
  /** As given, without a comment; null if it is not a status code (RFC 3463). */
  readonly status: string | null;
  /** The type of Diagnostic-Code in lower case, mostly `smtp`; null without one. */
  readonly diagnosticType: string | null;
  /** The reply code of SMTP; null if none is told. */
  readonly code: number | null;
  /** Status, or what the reply says in place of a Status of x.0.0; null if neither tells. */
  readonly enhancedCode: string | null;
  /** The reply's text, as {@link feedbackText} writes it; '' without one. */
  readonly text: string;
  readonly originalRecipient: ReportedAddress | null;
  readonly finalRecipient: ReportedAddress | null;
  /** The name or address literal of the server that replied. */
  readonly remoteMta: string | null;
}

/** What a report says of the whole message; null for what it does not say. */
export interface MessageStatus {
  readonly reportingMta: string | null;
  readonly receivedFromMta: string | null;
  readonly originalEnvelopeId: string | null;
  /** As written. */
  readonly arrivalDate: string | null;
}

/** The content of a delivery status; at least one recipient. */
export interface DeliveryStatus {
  readonly message: MessageStatus;
  readonly recipients: readonly RecipientStatus[];
}

/** Characters of an address to read, with its quotes and escapes; none is longer than 254 octets. */
export const MAX_REPORTED_ADDRESS = 1024;
/** Characters of a host's name and of other short values to keep. */
const MAX_SHORT = 255;
const ACTIONS: readonly string[] = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'];
const FAILURES: readonly DeliveryAction[] = ['failed', 'delayed'];
/** What only a recipient's group has. */
const OF_RECIPIENT: readonly string[] = ['final-recipient', 'original-recipient'];
/** Where there is no Action. A class 4 does not tell whether it was the last attempt. */
const ACTION_OF_CLASS: Readonly<Record<string, DeliveryAction>> = {
  '2': 'delivered',
  '4': 'delayed',
  '5': 'failed',
};
const TYPED = /^[ \t]*([A-Za-z0-9-]{1,32})[ \t]*;(.*)$/s;
const STATUS = /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.]*\d)/;
/** `host mx.example.org[192.0.2.1] said: 550 …`, as Postfix wrote it under a type of its own. */
const SAID = /\bsaid: (?=[245]\d\d[ -])/;
const FAILURE_CODE = /(?<![\d.])([45]\d\d)(?:[ -]|$)/;
const SUCCESS_CODE = /(?<![\d.])(2\d\d)(?:[ -]|$)/;
/** Some write `#5.1.1`, `(5.1.1)` or `'5.1.1`. */
const ENHANCED = /^[ #'"(<-]{0,4}([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)[)>:]?/;
/** At the end of a text, as qmail writes it. */
const HASHED = /#([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/;

/** Reads the body of the part; null if it tells of no recipient. */
export function readDeliveryStatus(body: Buffer): DeliveryStatus | null {
  const groups = readFieldGroups(body);
  // Some leave out the blank line after the message's fields, or these fields.
  const recipients = groups.filter((group) =>
    group.some(({ lowerName }) => OF_RECIPIENT.includes(lowerName)),
  );
  const [first] = groups;
  if (first === undefined || recipients.length === 0) return null;
  return {
    message: {
      reportingMta: hostOf(first, 'reporting-mta'),
      receivedFromMta: hostOf(first, 'received-from-mta'),
      originalEnvelopeId: shortOf(first, 'original-envelope-id'),
      arrivalDate: shortOf(first, 'arrival-date'),
    },
    recipients: recipients.map(recipientStatus),
  };
}

function recipientStatus(group: readonly ReportField[]): RecipientStatus {
  const status = STATUS.exec(fieldValue(group, 'status') ?? '')?.[0] ?? null;
  const action = namedAction(group);
  const codes = action === null || FAILURES.includes(action) ? FAILURE_CODE : SUCCESS_CODE;
  const diagnostic = diagnosticOf(fieldValue(group, 'diagnostic-code') ?? '', codes);
  const { code, enhancedCode, text } = diagnostic;
  // What the other server said is more than a status that says nothing.
  const isSaid = status === null || status.endsWith('.0.0');
  return {
    action: action ?? ACTION_OF_CLASS[(status ?? enhancedCode ?? `${code}`).charAt(0)] ?? null,
    status,
    diagnosticType: diagnostic.type,
    code,
    enhancedCode: isSaid ? (enhancedCode ?? (code === null ? status : null)) : status,
    text,
    originalRecipient: addressOf(group, 'original-recipient'),
    finalRecipient: addressOf(group, 'final-recipient'),
    remoteMta: hostOf(group, 'remote-mta'),
  };
}

function namedAction(group: readonly ReportField[]): DeliveryAction | null {
  const value = withoutComments(fieldValue(group, 'action') ?? '');
  const word = value.trim().toLowerCase();
  // Twilio SendGrid has an action of its own for what it gave up.
  if (word === 'expired') return 'failed';
  return isAction(word) ? word : null;
}

function isAction(word: string): word is DeliveryAction {
  return ACTIONS.includes(word);
}

/** A reply, as far as text has one. */
export interface SpokenReply {
  readonly code: number | null;
  readonly enhancedCode: string | null;
  /** What follows the codes, or the whole without a code; one line. */
  readonly text: string;
}

/** A Diagnostic-Code (RFC 3464 §2.3.6); without a type it is read as `smtp`. */
function diagnosticOf(value: string, codes: RegExp): SpokenReply & { readonly type: string | null } {
  const [, type, rest = ''] = TYPED.exec(value) ?? [null, null, value];
  const lowerType = type?.toLowerCase() ?? null;
  const words = decodeWords(rest);
  if (lowerType === null || lowerType === 'smtp') return { type: lowerType, ...readReply(words, codes) };
  // The numbers of other types are not SMTP's.
  const said = SAID.exec(words);
  const reply = said === null ? null : readReply(words.slice(said.index + said[0].length), codes);
  return { type: lowerType, ...(reply ?? { code: null, enhancedCode: null, text: feedbackText(words) }) };
}

/**
 * The first reply in a text. The codes that other lines of the same reply begin with are left out. `codes` matches a
 * reply code as its first group.
 */
export function readReply(text: string, codes: RegExp): SpokenReply {
  const found = codes.exec(text);
  if (found === null)
    return { code: null, enhancedCode: STATUS.exec(text)?.[0] ?? null, text: feedbackText(text) };
  const [whole, code = ''] = found;
  const rest = withoutRepeats(text.slice(found.index + whole.length), code);
  const enhanced = ENHANCED.exec(rest);
  const words = enhanced === null ? rest : rest.slice(enhanced[0].length);
  const before = text.slice(0, found.index);
  const prefix = enhanced?.[1] ?? '';
  const isRepeated = whole.endsWith('-') || prefix !== '';
  return {
    code: Number(code),
    enhancedCode: prefix || (HASHED.exec(rest)?.[1] ?? STATUS.exec(before)?.[0] ?? null),
    text: feedbackText(isRepeated ? withoutPrefixes(words, code, prefix) : words),
  };
}

/** Gmail gives the code of a reply twice. */
function withoutRepeats(text: string, code: string): string {
  return text.startsWith(`${code} `) || text.startsWith(`${code}-`) ? text.slice(code.length + 1) : text;
}

/** The text of a reply in several lines, each of which began with the codes (RFC 5321 §4.2.1, RFC 2034 §4). */
function withoutPrefixes(text: string, code: string, enhanced: string): string {
  return [`${code}-${enhanced}`, `${code} ${enhanced}`].reduce(
    (rest, prefix) => rest.replaceAll(` ${prefix}`, ' ').replaceAll(`\n${prefix}`, '\n'),
    text,
  );
}

function shortOf(group: readonly ReportField[], name: string): string | null {
  const value = fieldValue(group, name);
  return value === null ? null : feedbackText(value).slice(0, MAX_SHORT) || null;
}

/** The name of an MTA (RFC 3464 §2.1.2) without its type and what follows in comments. */
function hostOf(group: readonly ReportField[], name: string): string | null {
  const value = fieldValue(group, name);
  if (value === null) return null;
  const [host = ''] = feedbackText(withoutComments(TYPED.exec(value)?.[2] ?? value)).split(' ');
  return host.replace(/\.$/, '').slice(0, MAX_SHORT) || null;
}

// Addresses with their type (RFC 3464 §2.3.1, RFC 6533 §3), as they are in practice.

const SOURCE_ROUTE = /^@[^:]*:/;
const UNITEXT = /\\x\{([0-9A-Fa-f]{2,6})\}/g;
const MAX_CODE_POINT = 0x10_ffff;
const LONE_SURROGATE = /\p{Cs}/u;

function addressOf(group: readonly ReportField[], name: string): ReportedAddress | null {
  const value = fieldValue(group, name);
  return value === null ? null : readTypedAddress(value);
}

/** Reads `type; address`, or an address alone; null if it is empty or too long. */
export function readTypedAddress(value: string): ReportedAddress | null {
  const [, type, rest = ''] = TYPED.exec(value) ?? [null, null, value];
  const bare = unwrapped(withoutComments(rest.slice(0, MAX_REPORTED_ADDRESS + 1)).trim());
  if (bare === '' || bare.length > MAX_REPORTED_ADDRESS) return null;
  return {
    type: type?.toLowerCase() ?? null,
    address: canonical(withoutUnitext(bare)),
    decoded: canonical(withoutUnitext(decodeXtext(bare))),
  };
}

/** Without angle brackets, a source route, and quotes around the whole. */
function unwrapped(text: string): string {
  const inner = text.startsWith('<') && text.endsWith('>') ? text.slice(1, -1) : text;
  const direct = inner.replace(SOURCE_ROUTE, '').trim();
  const quote = direct.charAt(0);
  const isQuoted = direct.length > 2 && (quote === '"' || quote === "'") && direct.endsWith(quote);
  return isQuoted ? direct.slice(1, -1) : direct;
}

function withoutUnitext(text: string): string {
  return text.replace(UNITEXT, (whole, hex: string) => {
    const point = Number.parseInt(hex, 16);
    const char = point <= MAX_CODE_POINT ? String.fromCodePoint(point) : whole;
    return LONE_SURROGATE.test(char) ? whole : char;
  });
}

function canonical(text: string): string {
  const parsed = parseAddress(text);
  return parsed.ok ? parsed.value.address : feedbackText(text);
}
