import type { Reply } from '../domain/outcome.ts';
import { formatDate } from './date.ts';
import { foldableWords, writeField } from './field.ts';
import type { Report, ReportAction, ReportedRecipient } from './report.ts';
import { addressLiteral } from './trace.ts';

/** The part of a report that programs read: message/delivery-status (RFC 3464 §2). Always ASCII. */

/** Characters of a peer's reply that are told. */
const MAX_REPLY = 500;
/** Characters of a host's name that are told; no name is longer. */
const MAX_HOST = 255;
/** What no name looks like. */
const IP_ADDRESS = /^[\d.]+$|:/;
const NOT_PRINTABLE_ASCII = /[^\x20-\x7e]+/g;
const BLANKS = / {2,}/g;
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
const XTEXT_ESCAPE = /\+([0-9A-F]{2})/g;
const ENHANCED = /^([245])\.\d{1,3}\.\d{1,3}$/;
/** RFC 3463 §3.5: delivery time expired. */
const EXPIRED = '4.4.7';
/** What RFC 6533 §3 lets an address in its 7-bit form hold as it is. */
const UNSAFE_IN_ADDRESS = /[^!-*,-<>-[\]-~]/gu;

/** The class that the status of a recipient has (RFC 3463 §2), by what is told of it. */
const CLASSES: Readonly<Record<ReportAction, string>> = {
  failed: '5',
  delayed: '4',
  delivered: '2',
  relayed: '2',
};

/** The body of the part: the fields of the message, then a group for each recipient. */
export function deliveryStatus({ hostname, message, recipients }: Report): string {
  const { envid, id, arrivedAt } = message;
  const perMessage =
    writeField('Reporting-MTA', ['dns;', hostname]) +
    (envid === null ? '' : writeField('Original-Envelope-Id', [decodeXtext(envid)])) +
    writeField('Arrival-Date', [formatDate(arrivedAt)]) +
    writeField('X-Waybill-Id', [id]);
  return [perMessage, ...recipients.map(perRecipient)].join('\r\n');
}

function perRecipient(reported: ReportedRecipient): string {
  const { recipient, action, reply, host, triedAt, triedUntil } = reported;
  const { address, orcpt } = recipient;
  const original = orcpt === null ? '' : writeField('Original-Recipient', originalRecipient(orcpt));
  const remote = reply === null || reply.code === null || host === null ? null : plainLine(host, MAX_HOST);
  return (
    original +
    writeField('Final-Recipient', typedAddress('rfc822', address)) +
    writeField('Action', [action]) +
    writeField('Status', [statusOf(reported)]) +
    (remote === null || remote === '' ? '' : writeField('Remote-MTA', ['dns;', hostName(remote)])) +
    (reply === null ? '' : writeField('Diagnostic-Code', diagnostic(reply))) +
    (triedAt === null ? '' : writeField('Last-Attempt-Date', [formatDate(triedAt)])) +
    (action === 'delayed' ? writeField('Will-Retry-Until', [formatDate(triedUntil)]) : '')
  );
}

/** A host that was named by its address has no name: RFC 3464 §2.3.5 wants the literal. */
function hostName(host: string): string {
  return IP_ADDRESS.test(host) ? addressLiteral(host) : host;
}

/** The status code of a recipient (RFC 3464 §2.3.4): the reply's, where it says the same as the action. */
export function statusOf({
  action,
  expired,
  reply,
}: Pick<ReportedRecipient, 'action' | 'expired' | 'reply'>): string {
  if (expired) return EXPIRED;
  const enhanced = reply?.enhanced ?? '';
  const wanted = CLASSES[action];
  return ENHANCED.exec(enhanced)?.[1] === wanted ? enhanced : `${wanted}.0.0`;
}

/** The words of what the peer said, or of what we say where it could not. */
function diagnostic({ code, enhanced, cause, text }: Reply): string[] {
  const said = plainLine(text, MAX_REPLY);
  return foldableWords(plainLine(`${spoken()} ${said}`, 2 * MAX_REPLY));

  /** A provider's code is one of HTTP, which means something else in SMTP (RFC 3464 §2.3.6 names the kind). */
  function spoken(): string {
    if (code === null) return `x-waybill; ${cause}:`;
    return cause.startsWith('provider_') ? `x-http; ${code}` : `smtp; ${code} ${enhanced ?? ''}`;
  }
}

/** Hostile text as one line of printable ASCII without a run of blanks, so that it can be folded and nothing more. */
function plainLine(text: string, most: number): string {
  const plain = text.replace(NOT_PRINTABLE_ASCII, (run) => (/^\s+$/.test(run) ? ' ' : '?'));
  return plain.replace(BLANKS, ' ').trim().slice(0, most).trim();
}

/** What xtext says (RFC 3461 §4); as it is where that could not stand in a field. */
function decodeXtext(xtext: string): string {
  const decoded = xtext.replace(XTEXT_ESCAPE, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const isSafe = PRINTABLE_ASCII.test(decoded) && decoded.trim() === decoded && !decoded.includes('  ');
  return isSafe ? decoded : xtext;
}

/** The words of ORCPT as it was given: `rfc822;xtext`, or `utf-8;` and an address in either form (RFC 6533 §3). */
function originalRecipient(orcpt: string): string[] {
  const end = orcpt.indexOf(';');
  const type = orcpt.slice(0, end).toLowerCase();
  const address = orcpt.slice(end + 1);
  if (!PRINTABLE_ASCII.test(address)) return typedAddress('utf-8', address);
  return [`${type};`, type === 'utf-8' ? address : decodeXtext(address)];
}

/** An address with its type; one that is not ASCII in the 7-bit form of RFC 6533 §3. */
function typedAddress(type: string, address: string): string[] {
  if (PRINTABLE_ASCII.test(address)) return [`${type};`, address];
  const escaped = address.replace(UNSAFE_IN_ADDRESS, (char) => {
    const hex = (char.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return `\\x{${hex.padStart(2, '0')}}`;
  });
  return ['utf-8;', escaped];
}
