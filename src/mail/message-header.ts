/** What the header of a stored message says, as one would say it anew to an API: addresses, subject, everything else. */
import { type Mailbox, parseAddressList } from '../domain/mailbox.ts';
import { isBlind } from './finished.ts';
import { type FieldSpan, type HeaderBlock, MAILBOX_LINE } from './header-block.ts';
import type { HeaderField } from './headers.ts';
import { decodedText, fieldValue } from './mime-entity.ts';
import { Refused } from './unrebuildable.ts';

/** A header that can be rebuilt. Names of mailboxes are decoded. */
export interface MessageHeader {
  readonly from: Mailbox;
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly replyTo: readonly Mailbox[];
  /** Decoded; empty when there is none. */
  readonly subject: string;
  /** With its angle brackets; null when there is none. */
  readonly messageId: string | null;
  /** As it stands; null when there is none. */
  readonly date: string | null;
  /**
   * All others in their order: unfolded, ASCII, encoded words left as they are. Without those that tell of the way the
   * message has come (Received, Return-Path, Delivered-To, Received-SPF, Authentication-Results, ARC), those that a
   * rebuild breaks or writes itself (DKIM-Signature, DomainKey-Signature, MIME-Version, Content-Type and its like), a
   * Sender that is the author, and blind copies.
   */
  readonly others: readonly HeaderField[];
}

/** More than a message may have recipients. */
const MAX_ADDRESSES = 2000;
/** A group of nobody (RFC 5322 §3.4), as in `undisclosed-recipients:;`. */
const EMPTY_GROUP = /^[^:;,<>@"]*:[\t ]*;$/;
/** RFC 5322 §3.6, and those of which only the first would be read here. */
const ONCE: ReadonlySet<string> = new Set(
  `date from sender reply-to to cc message-id in-reply-to references subject mime-version`.split(' '),
);
/** Those that have a place of their own in {@link MessageHeader}. */
const READ: ReadonlySet<string> = new Set(`date from sender reply-to to cc message-id subject`.split(' '));
const LEFT_OUT: ReadonlySet<string> = new Set(
  `mime-version content-type content-transfer-encoding content-disposition content-id content-md5 content-length
  lines dkim-signature domainkey-signature received received-spf return-path delivered-to x-original-to
  authentication-results`.split(/\s+/),
);
const NOT_ASCII = /[^\0-\x7f]/;
/** But the tab. */
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
const LEFT_OUT_PREFIX = 'arc-';
/** What a part of its own may say, and a rebuilt one does not. `Content-Language` is a header of the message as well. */
const CONTENT_PREFIX = 'content-';
const CONTENT_LANGUAGE = 'content-language';

/** Reads a header. Throws {@link Refused}. */
export function readMessageHeader({ fields }: HeaderBlock): MessageHeader {
  checkFields(fields);
  const [from, ...coauthors] = addresses(fields, 'from');
  if (from === undefined || coauthors.length > 0) throw new Refused('authors');
  checkSender(fields, from);
  const to = addresses(fields, 'to');
  const cc = addresses(fields, 'cc');
  const named = [...to, ...cc].map(({ address }) => address.toLowerCase());
  if (new Set(named).size < named.length) throw new Refused('address_repeated');
  return {
    from,
    to,
    cc,
    replyTo: addresses(fields, 'reply-to'),
    subject: decoded(fieldValue(fields, 'subject') ?? ''),
    messageId: plainValue(fields, 'message-id'),
    date: plainValue(fields, 'date'),
    others: fields.filter(isOther).map(plainField),
  };
}

function checkFields(fields: readonly FieldSpan[]): void {
  const seen = new Set<string>();
  for (const { lowerName } of fields) {
    if (lowerName === MAILBOX_LINE) throw new Refused('header');
    if (lowerName.startsWith('resent-')) throw new Refused('resent');
    if (ONCE.has(lowerName) && seen.has(lowerName)) throw new Refused('header_repeated');
    const isContent = lowerName.startsWith(CONTENT_PREFIX) && lowerName !== CONTENT_LANGUAGE;
    if (isContent && !LEFT_OUT.has(lowerName)) throw new Refused('content_fields');
    seen.add(lowerName);
  }
}

function isOther(field: FieldSpan): boolean {
  const { lowerName } = field;
  if (isBlind(field) || READ.has(lowerName) || LEFT_OUT.has(lowerName)) return false;
  return !lowerName.startsWith(LEFT_OUT_PREFIX);
}

/** A field that is handed over as it stands: text that every API can put into a header. */
function plainField({ name, value }: FieldSpan): HeaderField {
  if (NOT_ASCII.test(value)) throw new Refused('header_eight_bit');
  if (CONTROL.test(value)) throw new Refused('header');
  return [name, value];
}

function plainValue(fields: readonly FieldSpan[], wanted: string): string | null {
  const field = fields.find(({ lowerName }) => lowerName === wanted);
  return field === undefined ? null : plainField(field)[1] || null;
}

/** No API has a place for it. One that names the author says nothing. */
function checkSender(fields: readonly FieldSpan[], from: Mailbox): void {
  const [sender, ...others] = addresses(fields, 'sender');
  if (sender === undefined) return;
  if (others.length > 0 || sender.address.toLowerCase() !== from.address.toLowerCase())
    throw new Refused('sender');
}

function addresses(fields: readonly FieldSpan[], lowerName: string): Mailbox[] {
  const text = fieldValue(fields, lowerName) ?? '';
  if (EMPTY_GROUP.test(text)) return [];
  const parsed = parseAddressList(text, MAX_ADDRESSES);
  if (!parsed.ok) throw new Refused('address_form');
  return parsed.value.map((mailbox) => ({
    ...mailbox,
    name: mailbox.name === null ? null : decoded(mailbox.name),
  }));
}

function decoded(text: string): string {
  const read = decodedText(text);
  if (read === null) throw new Refused('header_words');
  return read;
}
