import { quote } from '../domain/address-entry.ts';
import { parseDomain } from '../domain/domain-name.ts';
import { feedbackText } from '../domain/feedback.ts';
import { parseAddress, parseAddressList } from '../domain/mailbox.ts';
import { withoutComments } from './field-values.ts';
import { fieldValue } from './header-block.ts';
import type { ReportField } from './report-reading.ts';
import { parseDate } from './trace.ts';

/**
 * The fields of a feedback report (RFC 5965 §3) and of the message that it returns, as values. Every member is hostile:
 * anybody can write a report. What cannot be read is left out.
 */

/** Addresses that one report may name; of more, the first. */
export const MAX_REPORTED_RECIPIENTS = 100;
/** Domains that one report may name. */
export const MAX_REPORTED_DOMAINS = 20;
/** URIs of a List-Unsubscribe to look at. */
export const MAX_UNSUBSCRIBE_URIS = 10;
/** Characters of a field with addresses, a token or a URI; a longer one is not read. */
export const MAX_REPORTED_VALUE = 1000;
/** Characters of a program's name to keep. */
export const MAX_USER_AGENT = 200;

/** What the part for programs says. */
export interface ReportedFacts {
  /** Lower case, as `abuse`; '' without one, or if it is no token. */
  readonly feedbackType: string;
  /** The reporting program and its version; '' without one. */
  readonly userAgent: string;
  /** The reverse-path of the reported message, without angle brackets, '' for the null one; null if not told. */
  readonly originalMailFrom: string | null;
  /** Original-Rcpt-To, else Removal-Recipient (an early draft of ARF). */
  readonly recipients: readonly string[];
  /** With angle brackets; not in any standard, but some write it. */
  readonly messageId: string | null;
  /** Wall ms at which the reported message came in: Arrival-Date, else Received-Date (an early draft). */
  readonly arrivedAt: number | null;
  /** The address that it came from. */
  readonly sourceIp: string | null;
  readonly reportedDomains: readonly string[];
  /** How many messages like this one the report stands for; at least 1. */
  readonly incidents: number;
  /** What failed (RFC 6591 §3.1, RFC 7489 §7.3), lower case: `dkim`, `spf`, `dmarc`, …; null if not told. */
  readonly authFailure: string | null;
  /** What the receiver did with the message (RFC 6591 §3.2), lower case; null if not told. */
  readonly deliveryResult: string | null;
}

const TOKEN = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const COUNT = /^[1-9]\d{0,8}$/;
/** An address as RFC 5965 and RFC 5321 §4.1.3 write it. */
const IP_ADDRESS = /^\[?(?:IPv6:)?([0-9a-f.:]{2,45})\]?$/i;

/** Reads the fields of a message/feedback-report. */
export function readFacts(fields: readonly ReportField[]): ReportedFacts {
  const first = (...names: string[]) =>
    names.map((name) => shortValue(fields, name)).find((value) => value !== null) ?? null;
  const arrival = first('arrival-date', 'received-date');
  const incidents = first('incidents') ?? '';
  const mailFrom = first('original-mail-from');
  const recipients = readAddresses(fields, 'original-rcpt-to');
  return {
    feedbackType: tokenOf(first('feedback-type')) ?? '',
    userAgent: feedbackText((fieldValue(fields, 'user-agent') ?? '').slice(0, MAX_USER_AGENT)),
    originalMailFrom: mailFrom === null ? null : addressIn(mailFrom),
    recipients: recipients.length > 0 ? recipients : readAddresses(fields, 'removal-recipient'),
    messageId: readMessageIdField(first('original-message-id', 'message-id')),
    arrivedAt: arrival === null ? null : parseDate(arrival),
    sourceIp: IP_ADDRESS.exec(first('source-ip') ?? '')?.[1]?.toLowerCase() ?? null,
    reportedDomains: domainsOf(fields),
    incidents: COUNT.test(incidents) ? Number(incidents) : 1,
    authFailure: tokenOf(first('auth-failure')),
    deliveryResult: tokenOf(first('delivery-result')),
  };
}

/** What the header of the returned message says that may lead to the message and its recipient. */
export interface ReturnedFacts {
  /** Addresses that the receiver wrote down as its reverse-path, the surest first. */
  readonly reversePaths: readonly string[];
  /** With angle brackets. */
  readonly messageId: string | null;
  /** What the service that sent it called it, where its own fields tell: Amazon SES, Postmark. */
  readonly providerMessageId: string | null;
  /** The author's address; null unless there is exactly one. */
  readonly from: string | null;
  readonly to: readonly string[];
  /** The URIs of List-Unsubscribe (RFC 2369 §3.2). */
  readonly unsubscribe: readonly string[];
  /** The mailbox that it came to, as its receiver wrote it down; null if it did not. */
  readonly deliveredTo: string | null;
}

/** Where receivers write the reverse-path, other than in Return-Path (RFC 8601 §2.7.2, RFC 7208 §9.1). */
const ELSEWHERE: readonly (readonly [name: string, place: RegExp])[] = [
  ['return-path', /^(.*)$/s],
  ['x-envelope-from', /^(.*)$/s],
  ['authentication-results', /\bsmtp\.mail(?:from)?=["<]?([^\s<>;"]{3,320})/i],
  ['received-spf', /\benvelope-from=["<]*([^\s<>;"]{3,320})/i],
];
/**
 * Where receivers write the mailbox, the surest first: Outlook.com in complaints, Yahoo, and others at delivery. Not
 * in To: there the sender writes whom it likes.
 */
const MAILBOX_FIELDS = [
  'x-hmxmroriginalrecipient',
  'x-apparently-to',
  'x-original-to',
  'envelope-to',
  'delivered-to',
];
/** SES replaces the Message-ID of what it sends: by its own id, at its domain in the region. */
const SES_ID = /^<([0-9a-f-]{20,100})@(?:[a-z0-9-]{1,30}\.)?amazonses\.com>$/;
/** `ann@yahoo.com via 192.0.2.1; Tue, …` */
const FIRST_WORD = /^[^\s;,]*/;
const URI = /<([^<>]{1,1000})>/g;
const BLANKS = /\s+/g;
const PRINTABLE = /^[!-~]+$/;

/** Reads the header of the returned message. */
export function readReturned(fields: readonly ReportField[]): ReturnedFacts {
  const reversePaths = ELSEWHERE.flatMap(([name, place]) => {
    const found = place.exec(shortValue(fields, name) ?? '')?.[1];
    return addressIn(found ?? '') ?? [];
  }).filter((path) => path !== '');
  const mailbox = MAILBOX_FIELDS.map((name) => {
    const value = shortValue(fields, name);
    return value === null
      ? null
      : addressIn(value.includes('<') ? value : (FIRST_WORD.exec(value)?.[0] ?? ''));
  });
  const authors = readAddresses(fields, 'from');
  const messageId = readMessageIdField(shortValue(fields, 'message-id'));
  return {
    reversePaths: [...new Set(reversePaths)],
    messageId,
    providerMessageId: sesIdOf(messageId) ?? tokenOf(shortValue(fields, 'x-pm-message-id')),
    from: authors.length === 1 ? (authors[0] ?? null) : null,
    to: readAddresses(fields, 'to'),
    unsubscribe: urisIn(shortValue(fields, 'list-unsubscribe') ?? ''),
    deliveredTo: mailbox.find((address) => address !== null && address !== '') ?? null,
  };
}

/** The value of a field that must be short; null without it, or if it is not. */
function shortValue(fields: readonly ReportField[], name: string): string | null {
  const value = fieldValue(fields, name);
  return value === null || value === '' || value.length > MAX_REPORTED_VALUE ? null : value;
}

function tokenOf(value: string | null): string | null {
  const text = withoutComments(value ?? '')
    .replace(/;\s*$/, '')
    .trim()
    .toLowerCase();
  return TOKEN.test(text) ? text : null;
}

const MESSAGE_ID = /<([!-;=?-~]{1,250})>/;
const BARE_MESSAGE_ID = /^[!-;=?-~]{1,250}$/;

/** The Message-ID in a value, with angle brackets, which some programs leave out; null without one. */
export function readMessageIdField(value: string | null): string | null {
  if (value === null) return null;
  const found = MESSAGE_ID.exec(value)?.[1] ?? BARE_MESSAGE_ID.exec(value)?.[0];
  return found === undefined ? null : `<${found}>`;
}

function domainsOf(fields: readonly ReportField[]): readonly string[] {
  const domains = fields
    .filter(({ lowerName }) => lowerName === 'reported-domain')
    .slice(0, MAX_REPORTED_DOMAINS)
    .map(({ value }) =>
      value.length > MAX_REPORTED_VALUE ? null : parseDomain(withoutComments(value).trim()),
    );
  return [...new Set(domains.filter((domain) => domain !== null))];
}

/** Amazon SES's own id in the Message-ID that it gave to a message; null if it did not. */
export function sesIdOf(messageId: string | null): string | null {
  return SES_ID.exec(messageId ?? '')?.[1] ?? null;
}

function urisIn(value: string): readonly string[] {
  const uris = Array.from(value.matchAll(URI), ([, uri = '']) => uri.replace(BLANKS, ''));
  return uris.filter((uri) => PRINTABLE.test(uri)).slice(0, MAX_UNSUBSCRIBE_URIS);
}

/** All addresses in the fields of this name (lower case), each once; at most {@link MAX_REPORTED_RECIPIENTS}. */
export function readAddresses(fields: readonly ReportField[], name: string): readonly string[] {
  const found = new Set<string>();
  for (const field of fields) {
    // The value of a field costs something each time.
    const value = field.lowerName === name ? field.value : '';
    if (value === '' || value.length > MAX_REPORTED_VALUE) continue;
    for (const address of addressesIn(value)) if (found.size < MAX_REPORTED_RECIPIENTS) found.add(address);
    if (found.size === MAX_REPORTED_RECIPIENTS) break;
  }
  return [...found];
}

function addressesIn(value: string): readonly string[] {
  const list = parseAddressList(withoutComments(value), MAX_REPORTED_RECIPIENTS);
  if (list.ok) return list.value.map(({ address }) => address);
  const address = addressIn(value);
  return address === null || address === '' ? [] : [address];
}

/** As in a delivery status notification: `rfc822;ann@example.org`. */
const ADDRESS_TYPE = /^(?:rfc822|utf-8|smtp)[ \t]*;/i;

/** The address in a field's value, whatever is around it; '' for `<>`; null if there is none. */
function addressIn(value: string): string | null {
  const text = withoutComments(value).trim().replace(ADDRESS_TYPE, '').trim();
  const close = text.lastIndexOf('>');
  const open = text.lastIndexOf('<', close);
  const inner = open >= 0 && close > open ? text.slice(open + 1, close).trim() : text;
  if (inner === '' && open >= 0) return '';
  const plain = parseAddress(inner);
  if (plain.ok) return plain.value.address;
  // Some mailboxes end in a dot, against the grammar; their addresses were accepted in quotes.
  const at = inner.lastIndexOf('@');
  const quoted = at < 1 ? plain : parseAddress(quote(inner.slice(0, at)) + inner.slice(at));
  return quoted.ok ? quoted.value.address : null;
}
