import { type ApiKey, maySendFrom } from '../../domain/key.ts';
import type { Recipient, Submission } from '../../domain/message.ts';
import { Problem } from '../../http/problem.ts';
import type { Random } from '../../lib/random.ts';
import { authorsOf } from '../../mail/field-values.ts';
import type { FieldSpan } from '../../mail/header-block.ts';
import { receivedHeader } from '../../mail/trace.ts';
import type { Call } from './call.ts';
import type { SubmitDeps } from './hand-over.ts';
import { messageTooLarge } from './read-fields.ts';

/** What is the same for every way to make a submission: where it comes from, and what its key may do. */

/** Where and when a submission came from, and what it is to be known by. */
export interface SubmissionContext {
  readonly key: ApiKey;
  readonly sourceAddress: string;
  readonly requestId: string | null;
  /** It came over TLS. */
  readonly secure: boolean;
  /** Wall ms. */
  readonly now: number;
  readonly random: Random;
  /** Our name, in Message-ID and Received. */
  readonly hostname: string;
  /** Unique: names the message in its Message-ID and its Received field. */
  readonly token: string;
  /** What the client's repeats are known by; null without one. */
  readonly idempotencyKey: string | null;
}

/** Where and when a call's submission comes from, and the names it is to have. */
export function submissionContext(
  { exchange, caller, sourceAddress }: Call,
  idempotencyKey: string | null,
  deps: Pick<SubmitDeps, 'clock' | 'random' | 'options' | 'nextToken'>,
): SubmissionContext {
  return {
    key: caller.key,
    sourceAddress,
    requestId: exchange.requestId,
    secure: exchange.secure,
    now: deps.clock.wall(),
    random: deps.random,
    hostname: deps.options.hostname,
    token: deps.nextToken(),
    idempotencyKey,
  };
}

/**
 * What a submission says of where it comes from. `hash` is what repeats are compared by, null without an idempotency
 * key; `capture`: captured whatever the key, else only a test key's mail is.
 */
export function originOf(
  { key, idempotencyKey, sourceAddress, requestId }: SubmissionContext,
  { hash, capture = false }: { readonly hash: string | null; readonly capture?: boolean },
) {
  return {
    source: 'api' as const,
    sourceAddress,
    requestId,
    keyId: key.id,
    keyName: key.name,
    // Who submits over HTTP asks for the status.
    reportable: false,
    signing: key.senderDomains.length === 0 ? ('any' as const) : key.senderDomains,
    test: key.mode === 'test' || capture,
    idempotency: idempotencyKey === null || hash === null ? null : { key: idempotencyKey, hash },
  } satisfies Partial<Submission>;
}

/** The envelope of a submission over HTTP, which asks for no reports (RFC 3461). */
export function envelopeOf(reversePath: string, recipients: readonly Recipient[]): Submission['envelope'] {
  return { reversePath, recipients, ret: null, envid: null };
}

/** The Received field that a submission begins with. */
export function traceOf(
  recipients: readonly Recipient[],
  { hostname, sourceAddress, secure, token, now }: SubmissionContext,
): string {
  const [only, ...others] = recipients;
  return receivedHeader({
    byHost: hostname,
    fromAddress: sourceAddress,
    protocol: secure ? 'HTTPS' : 'HTTP',
    id: token,
    date: now,
    ...(only !== undefined && others.length === 0 && { for: only.address }),
  });
}

/** Throws the problem 413 for a message that is too large as it would be sent. */
export function refuseTooLarge(sizeBytes: number, maxMessageBytes: number): void {
  if (sizeBytes > maxMessageBytes) throw messageTooLarge(sizeBytes, maxMessageBytes);
}

/** Throws the problem 403 for a domain that the key may not send from. */
export function refuseSender(key: ApiKey, domain: string): void {
  if (!maySendFrom(key, domain))
    throw new Problem(403, 'sender_not_allowed', `This key may not send as ${domain}.`);
}

/**
 * Throws the problem 403 for an author (From, Sender) on a domain that the key may not send from, and for a field that
 * some program may read otherwise than we do. `written` gives the fields, and is asked only where the key is bound to domains.
 */
export function refuseAuthors(
  key: ApiKey,
  written: () => readonly Pick<FieldSpan, 'lowerName' | 'value'>[],
): void {
  if (key.senderDomains.length === 0) return;
  const authors = authorsOf(written());
  if (authors === null)
    throw new Problem(
      403,
      'sender_not_allowed',
      'From or Sender cannot be read for certain, and this key may only send from some domains; write each as in "Jane <jane@example.com>", with neither "@" nor quotes in the name, or use another key.',
    );
  for (const { domain } of authors) refuseSender(key, domain);
}
