import { localReply, type Reply } from '../../domain/outcome.ts';
import type { ProviderType } from '../../domain/relay.ts';
import { type FieldSpan, readLooseHeader } from '../../mail/header-block.ts';

/** How long to wait for a provider, and how much of its answer to read. */

const SECOND = 1000;

/** Longest wait for each step, in milliseconds. */
export interface ProviderTimeouts {
  /** Name, address and TCP. */
  readonly connect: number;
  readonly tls: number;
  /** Without progress while writing the request. */
  readonly send: number;
  /** From the request's last byte to the head of the answer. */
  readonly answer: number;
  /** For all of the answer's body. */
  readonly body: number;
}

/** For requests without mail, which are simply made again: for each step of connecting, and for each of the exchange. */
export function shortTimeouts(connect: number, exchange: number): ProviderTimeouts {
  return { connect, tls: connect, send: exchange, answer: exchange, body: exchange };
}

/** Giving up after the last byte makes a message ambiguous: the wait for an answer exceeds any known delay. */
export const PROVIDER_TIMEOUTS: ProviderTimeouts = {
  connect: 30 * SECOND,
  tls: 30 * SECOND,
  send: 60 * SECOND,
  answer: 180 * SECOND,
  body: 30 * SECOND,
};

/** An idle connection is closed after this long: before most servers would, so that few requests meet a closed one. */
export const KEEP_ALIVE_MS = 4 * SECOND;

/** The longest keep-alive time of a server that is honoured. */
export const KEEP_ALIVE_MAX_MS = 60 * SECOND;

/** Most bytes to read of an answer's head. */
export const MAX_HEAD_BYTES = 16 * 1024;

/** Most bytes to read of an answer's body; then the connection is dropped. */
export const MAX_BODY_BYTES = 64 * 1024;

/** Most bytes to receive in answer to one request, whatever they are. A body in chunks of a byte takes six times its size. */
export const MAX_ANSWER_BYTES = 1024 * 1024;

/** The longest Retry-After that is honoured. */
export const MAX_REST_MS = 3_600 * SECOND;

/** Memory for messages on their way to providers, of all relays together. */
export const PROVIDER_MEMORY = { capacity: 256 * 1024 * 1024, maxWaiters: 2_000 };

/** The longest wait for a share of it. */
export const MEMORY_WAIT_MS = 20 * SECOND;

/** A message, its request and the intermediate forms together take this many times its bytes. */
export const MEMORY_FACTOR = 3;

// Header fields that are commands to a provider: they choose its streams, address pools and settings, or make it drop
// the message. Only the operator may give these, in the relay's settings. A message with one is refused, and another
// relay may take it; removing the field would silently change what the client sends.

/** The beginnings of such fields' names, in lower case, by provider. */
export const STEERING_PREFIXES: Readonly<Record<ProviderType, readonly string[]>> = {
  ses: ['x-ses-'],
  mailgun: ['x-mailgun-'],
  postmark: ['x-pm-'],
  sendgrid: ['x-smtpapi', 'x-sg-'],
  resend: ['x-resend-', 'resend-'],
  graph: ['x-ms-exchange-organization-', 'x-ms-exchange-forest-'],
  webhook: [],
};

/** Bytes of a header to examine: more than any listener accepts. */
const MAX_HEADER_BYTES = 1024 * 1024;
const CRLF_LENGTH = 2;
/** Characters of a field's name that a text quotes. */
const MAX_SHOWN = 76;

/** The header fields of a stored message, in order; null if its header is larger than any accepted. */
export function fieldsOf(content: Buffer): readonly FieldSpan[] | null {
  const text = content.toString('latin1', 0, MAX_HEADER_BYTES + CRLF_LENGTH);
  return readLooseHeader(text, MAX_HEADER_BYTES)?.fields ?? null;
}

/** Why a message is not given to a provider: one of its fields is a command to it. Null otherwise. */
export function steeringRefusal(content: Buffer, type: ProviderType): Reply | null {
  const prefixes = STEERING_PREFIXES[type];
  if (prefixes.length === 0) return null;
  const fields = fieldsOf(content);
  if (fields === null)
    return localReply('header_too_large', '5.3.4', 'The header is too large to be checked');
  const steering = fields.find(({ lowerName }) => prefixes.some((prefix) => lowerName.startsWith(prefix)));
  if (steering === undefined) return null;
  const text = `The header field ${steering.name.slice(0, MAX_SHOWN)} is a command to the provider, which only the relay’s settings may give`;
  return localReply('steers_provider', '5.7.1', text);
}
