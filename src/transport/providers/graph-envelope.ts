import type { Envelope } from '../../domain/envelope.ts';
import { type Mailbox, parseAddressList } from '../../domain/mailbox.ts';
import { localReply, type Reply } from '../../domain/outcome.ts';
import { writeField } from '../../mail/field.ts';
import { withoutComments } from '../../mail/field-values.ts';
import { type FieldSpan, readLooseHeader } from '../../mail/header-block.ts';

/**
 * Microsoft Graph knows no envelope: it sends to whom the header names, as whom the header names. So the envelope must be
 * what the header says. What differs is refused; only blind copies, whom no header of ours names, are told by a Bcc field
 * of the copy that is handed over. Exchange takes that out of what recipients get.
 */
export type GraphSender =
  | {
      readonly ok: true;
      /** The address in From. */
      readonly from: string;
      /** A field that names the blind copies, to stand above the message; '' where there are none. */
      readonly bcc: string;
    }
  | { readonly ok: false; readonly reply: Reply };

/** Bytes of a header that is looked at: more than any way in takes. */
const MAX_HEADER_BYTES = 1024 * 1024;
/** Addresses of all fields together: more than a message may have recipients. */
const MAX_ADDRESSES = 2000;
const RECIPIENT_FIELDS: ReadonlySet<string> = new Set(['to', 'cc', 'bcc']);
/** A group of nobody (RFC 5322 §3.4), such as `undisclosed-recipients:;`, which the composer writes too. */
const EMPTY_GROUP = /^[^:;,<>@"]*:[\t ]*;$/;
const HEADER_END = Buffer.from('\r\n\r\n');
/** Exchange looks at letters alone, not at their case (RFC 5321 §2.4 leaves that to the receiving host). */
const keyOf = (address: string) => address.toLowerCase();

/** Holds an envelope against the header of its message. Never throws. */
export function graphSender(envelope: Envelope, content: Buffer): GraphSender {
  const fields = headerFields(content);
  if (fields === null) return differs('the header is too large to be compared with the envelope');
  const authors = fields.filter(({ lowerName }) => lowerName === 'from');
  const from = authors.length === 1 ? addressesOf(authors) : null;
  const [author] = from ?? [];
  if (author === undefined || from?.length !== 1) return differs('From is not exactly one address');
  if (keyOf(author.address) !== keyOf(envelope.reversePath))
    return differs('the reverse-path is not the address in From');
  const named = addressesOf(fields.filter(({ lowerName }) => RECIPIENT_FIELDS.has(lowerName)));
  if (named === null) return differs('To, Cc or Bcc cannot be read as addresses');
  return withRecipients(envelope, author.address, new Set(named.map(({ address }) => keyOf(address))));
}

function withRecipients(envelope: Envelope, from: string, named: ReadonlySet<string>): GraphSender {
  const unnamed = envelope.recipients.filter(({ address }) => !named.has(keyOf(address)));
  if (unnamed.some(({ kind }) => kind !== 'bcc'))
    return differs('a recipient stands neither in To nor in Cc, and is no blind copy');
  const recipients = new Set(envelope.recipients.map(({ address }) => keyOf(address)));
  if (![...named].every((address) => recipients.has(address)))
    return differs('To or Cc names somebody who is no recipient of this delivery');
  const words = unnamed.map(({ address }, index) => (index < unnamed.length - 1 ? `${address},` : address));
  return { ok: true, from, bcc: words.length === 0 ? '' : writeField('Bcc', words) };
}

/** The fields of the message's header; null when it is too large. */
function headerFields(content: Buffer): readonly FieldSpan[] | null {
  const blank = content.indexOf(HEADER_END);
  const end = blank < 0 ? content.length : blank + 2;
  if (end > MAX_HEADER_BYTES) return null;
  return readLooseHeader(content.toString('latin1', 0, end), MAX_HEADER_BYTES)?.fields ?? null;
}

/** All addresses of these fields; null when one is not understood. */
function addressesOf(fields: readonly FieldSpan[]): readonly Mailbox[] | null {
  const found: Mailbox[] = [];
  for (const { value } of fields) {
    const text = withoutComments(value).trim();
    if (EMPTY_GROUP.test(text)) continue;
    const parsed = parseAddressList(text, MAX_ADDRESSES - found.length);
    if (!parsed.ok) return null;
    found.push(...parsed.value);
  }
  return found;
}

function differs(why: string): GraphSender {
  const text = `Microsoft Graph takes sender and recipients from the header: ${why}`;
  return { ok: false, reply: localReply('envelope_differs', '5.6.0', text) };
}
