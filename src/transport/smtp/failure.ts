/** What went wrong with a hop, in an operator's terms. */
import { localReply, type Outcome, type Reply } from '../../domain/outcome.ts';
import { errorCode } from '../../lib/error.ts';
import { withCure } from '../../smtp/auth.ts';
import type { OpeningAction } from '../../smtp/opening.ts';
import { describeReply, type ReplyFault } from '../../smtp/reply.ts';
import { notForThisHop } from '../../smtp/verdict.ts';
import { noTlsText } from '../tls-words.ts';
import type { TimedVerb } from './deadline.ts';

/** No session could be opened. That says nothing about any message. */
export class HopFailure extends Error {
  /** The answer to record. */
  readonly reply: Reply;
  /** How long the hop asked us to pause, in ms; null: it did not. */
  readonly restMs: number | null;

  constructor(reply: Reply, options: ErrorOptions & { readonly restMs?: number | null } = {}) {
    super(reply.text, options);
    this.name = 'HopFailure';
    this.reply = reply;
    this.restMs = options.restMs ?? null;
  }
}

/** The name did not resolve, or the connection was not made. */
export function connectFailure(error: unknown, host: string, port: number): HopFailure {
  const code = errorCode(error) ?? 'unknown error';
  const where = `${host}:${port}`;
  if (isDnsError(error))
    return failure('dns_failed', '4.4.3', `The name ${host} could not be resolved (${code})`, error);
  if (isBindError(error))
    return failure(
      'source_ip_unusable',
      '4.3.5',
      `${sourceOf(error)} of source_ips cannot be used: it is not an address of this machine (${code})`,
      error,
    );
  if (code === 'ERR_IP_BLOCKED')
    return failure(
      'address_not_allowed',
      '4.4.1',
      `${where} is a link-local address; to allow it, name the relay in delivery.private_relays`,
      error,
    );
  if (code === 'ECONNREFUSED')
    return failure('connect_refused', '4.4.1', `${where} refuses connections; is the server running?`, error);
  if (code === 'ETIMEDOUT') return failure('timeout_connect', '4.4.1', `${where} does not answer`, error);
  return failure('connect_failed', '4.4.1', `${where} cannot be reached (${code})`, error);
}

/** The handshake failed, or the certificate is not valid. */
export function tlsFailure(error: unknown, host: string): HopFailure {
  return failure('tls_failed', '4.7.5', noTlsText(host, error), error);
}

/** The connection was cut during the handshake: the next one may not be. */
const CUT: ReadonlySet<string | null> = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

/**
 * The outcome of a message that demands TLS all the way, where the server has none, or not one that is
 * authenticated: it is not for this hop (RFC 8689 §4.2.1). Null for a failure that may pass.
 */
export function refusalForLackOfTls({ reply, cause }: HopFailure): Outcome | null {
  if (reply.cause !== 'tls_failed' || (reply.code !== null && reply.code < 500)) return null;
  return CUT.has(errorCode(cause)) ? null : notForThisHop({ ...reply, enhanced: '5.7.10' });
}

/** The session machine gave up. */
export function openingFailure(action: Extract<OpeningAction, { kind: 'failed' }>, host: string): HopFailure {
  const { cause, text, reply, cure } = action;
  if (reply === null) return failure(cause, cause === 'tls_failed' ? '4.7.4' : '4.7.0', `${host} ${text}`);
  const said = `${host} ${text}: ${describeReply(reply, 500)}`;
  const own = localReply(cause, reply.enhanced ?? '4.3.2', withCure(said, cure));
  return new HopFailure({ ...own, code: reply.code });
}

export function timeoutReply(verb: TimedVerb, host: string, ms: number): Reply {
  return localReply(`timeout_${verb}`, '4.4.2', `${host} gave no answer to ${SPOKEN[verb]} within ${ms} ms`);
}

export function lostReply(host: string, error: unknown): Reply {
  const why = error === null ? 'closed the connection' : `was lost (${errorCode(error) ?? 'unknown error'})`;
  return localReply('connection_lost', '4.4.2', `${host} ${why}`);
}

/** The peer's bytes cannot be an SMTP reply. */
export function badReply(host: string, fault: ReplyFault): Reply {
  return localReply('bad_reply', '4.5.0', `${host} does not speak SMTP (${fault.replaceAll('_', ' ')})`);
}

/** We were told to stop. */
export const ABORTED: Reply = localReply('aborted', '4.3.2', 'The attempt was stopped');

/** The lease was lost, or the message cancelled, before the message could be accepted. */
export const LEASE_LOST: Reply = localReply(
  'lease_lost',
  '4.3.0',
  'The message was cancelled, or its lease lost, before it was sent',
);

const SPOKEN: Readonly<Record<TimedVerb, string>> = {
  connect: 'the connection',
  tls: 'the TLS handshake',
  greeting: 'the connection (no greeting)',
  ehlo: 'EHLO',
  helo: 'HELO',
  starttls: 'STARTTLS',
  auth: 'AUTH',
  mail: 'MAIL',
  rcpt: 'RCPT',
  data: 'DATA',
  content: 'the content',
  dot: 'the end of the message',
  rset: 'RSET',
  quit: 'QUIT',
  idle: 'nothing',
};

function failure(cause: string, enhanced: string, text: string, error?: unknown): HopFailure {
  return new HopFailure(localReply(cause, enhanced, text), { cause: error });
}

function isBindError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error && error.syscall === 'bind';
}

function sourceOf(error: Error): string {
  return 'address' in error ? String(error.address) : 'An address';
}

function isDnsError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'getaddrinfo';
}
