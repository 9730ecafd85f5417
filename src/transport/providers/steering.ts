/**
 * Header fields that are commands to a provider: they choose its streams, address pools and settings, or have it drop
 * the message. What they say is the operator's to say, in the relay's settings. A message that has one is refused, and
 * another relay may take it; to take the field out would change what the client sends without telling anybody.
 */
import { localReply, type Reply } from '../../domain/outcome.ts';
import type { ProviderType } from '../../domain/relay.ts';
import { type FieldSpan, readLooseHeader } from '../../mail/header-block.ts';

/** What such fields' names begin with, in lower case, by provider. */
export const STEERING_PREFIXES: Readonly<Record<ProviderType, readonly string[]>> = {
  ses: ['x-ses-'],
  mailgun: ['x-mailgun-'],
  postmark: ['x-pm-'],
  sendgrid: ['x-smtpapi', 'x-sg-'],
  resend: ['x-resend-', 'resend-'],
  graph: ['x-ms-exchange-organization-', 'x-ms-exchange-forest-'],
  webhook: [],
};

/** Bytes of a header that is looked at: more than any way in takes. */
const MAX_HEADER_BYTES = 1024 * 1024;
const CRLF_LENGTH = 2;
/** Characters of a field's name that a text repeats. */
const MAX_SHOWN = 76;

/** The header fields of a stored message, in order; null when its header is larger than any that is taken. */
export function fieldsOf(content: Buffer): readonly FieldSpan[] | null {
  const text = content.toString('latin1', 0, MAX_HEADER_BYTES + CRLF_LENGTH);
  return readLooseHeader(text, MAX_HEADER_BYTES)?.fields ?? null;
}

/** Why a provider is not given a message: a field of it steers that provider. Null where none does. */
export function steeringRefusal(content: Buffer, type: ProviderType): Reply | null {
  const prefixes = STEERING_PREFIXES[type];
  if (prefixes.length === 0) return null;
  const fields = fieldsOf(content);
  if (fields === null)
    return localReply('header_too_large', '5.3.4', 'The header is too large to be looked through');
  const steering = fields.find(({ lowerName }) => prefixes.some((prefix) => lowerName.startsWith(prefix)));
  if (steering === undefined) return null;
  const text = `The header field ${steering.name.slice(0, MAX_SHOWN)} is a command to the provider, which only the relay’s settings may give`;
  return localReply('steers_provider', '5.7.1', text);
}
