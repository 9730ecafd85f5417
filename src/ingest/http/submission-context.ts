import type { ProviderName } from '../../domain/drop-in.ts';
import { type ApiKey, maySendFrom } from '../../domain/key.ts';
import type { Recipient, Submission } from '../../domain/message.ts';
import { Problem } from '../../http/problem.ts';
import type { Sliced } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import { authorsOf } from '../../mail/field-values.ts';
import type { FieldSpan } from '../../mail/header-block.ts';
import { receivedHeader } from '../../mail/trace.ts';
import { SUPPRESSION_SCOPE } from '../message-rules.ts';
import { type UnsubscribeTerms, withOwnCopies } from '../unsubscribing.ts';
import type { Call } from './call.ts';
import { faultyFields } from './fields.ts';
import type { SubmitDeps } from './hand-over.ts';
import { messageTooLarge } from './read-fields.ts';

/** What all ways to submit share: the submission's origin, and the rights of its key. */

/** Where and when a submission came from, and its identifiers. */
export interface SubmissionContext {
  readonly key: ApiKey;
  /** The provider whose API it came through; null: ours. */
  readonly door: ProviderName | null;
  readonly sourceAddress: string;
  readonly requestId: string | null;
  /** It came over TLS. */
  readonly secure: boolean;
  /** Wall ms. */
  readonly now: number;
  readonly random: Random;
  /** Our host name, in Message-ID and Received. */
  readonly hostname: string;
  /** Unique; identifies the message in its Message-ID and its Received field. */
  readonly token: string;
  /** Identifies the client's repeats; null without one. */
  readonly idempotencyKey: string | null;
  /** A message id, for a message whose text contains it. */
  readonly newId: () => string;
  readonly unsubscribing: () => UnsubscribeTerms;
}

/** The context of a call's submission. */
export function submissionContext(
  { exchange, caller, sourceAddress, door }: Call,
  idempotencyKey: string | null,
  deps: Pick<SubmitDeps, 'clock' | 'random' | 'options' | 'nextToken' | 'intake' | 'unsubscribing'>,
): SubmissionContext {
  return {
    key: caller.key,
    door,
    sourceAddress,
    requestId: exchange.requestId,
    secure: exchange.secure,
    now: deps.clock.wall(),
    random: deps.random,
    hostname: deps.options.hostname,
    token: deps.nextToken(),
    idempotencyKey,
    newId: () => deps.intake.newId(),
    unsubscribing: deps.unsubscribing,
  };
}

/**
 * A submission's origin. `hash` is what repeats are compared by, null without an idempotency key; `capture` captures
 * the message whatever the key, otherwise only a test key's mail is captured.
 */
export function originOf(
  { key, door, idempotencyKey, sourceAddress, requestId }: SubmissionContext,
  { hash, capture = false }: { readonly hash: string | null; readonly capture?: boolean },
) {
  return {
    source: 'api' as const,
    ...(door !== null && { door }),
    sourceAddress,
    requestId,
    keyId: key.id,
    keyName: key.name,
    // HTTP clients ask for the status instead.
    reportable: false,
    signing: signingOf(key),
    test: key.mode === 'test' || capture,
    idempotency: idempotencyKey === null || hash === null ? null : { key: idempotencyKey, hash },
  } satisfies Partial<Submission>;
}

/** The author domains for which the key's mail may be signed. */
export function signingOf({ senderDomains }: ApiKey): Submission['signing'] {
  return senderDomains.length === 0 ? 'any' : senderDomains;
}

/** The envelope of a submission over HTTP, which asks for no reports (RFC 3461). */
export function envelopeOf(reversePath: string, recipients: readonly Recipient[]): Submission['envelope'] {
  return { reversePath, recipients, ret: null, envid: null };
}

/** The Received field on top of a submission. */
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

/** Throws the problem 413 if the message would be too large as sent. */
export function refuseTooLarge(sizeBytes: number, maxMessageBytes: number): void {
  if (sizeBytes > maxMessageBytes) throw messageTooLarge(sizeBytes, maxMessageBytes);
}

/** Where a client finds what keeps recipients from unsubscribing. */
export interface UnsubscribePointers {
  readonly unsubscribe: string;
  readonly header: (name: string) => string;
}

/**
 * The submission with a copy for each recipient, from which it can unsubscribe; the submission itself without a stream.
 * Throws the problem 400 if that cannot be, 413 if all copies together are too large.
 */
export function* individually(
  submission: Submission,
  stream: string | null,
  { newId, unsubscribing }: SubmissionContext,
  maxMessageBytes: number,
  pointTo: UnsubscribePointers,
): Sliced<Submission> {
  if (stream === null) return submission;
  const made = yield* withOwnCopies(
    { ...submission, id: submission.id ?? newId() },
    stream,
    unsubscribing(),
    maxMessageBytes,
  );
  switch (made.kind) {
    case 'individual':
      return made.submission;
    case 'unavailable':
      throw unavailable(pointTo.unsubscribe, made.detail);
    case 'forbidden':
      throw faultyFields('invalid_submission', [
        { pointer: pointTo.header(made.field), code: 'header_forbidden', detail: made.detail },
      ]);
    case 'too_large':
      throw copiesTooLarge(made.sizeBytes, submission.envelope.recipients.length, maxMessageBytes);
  }
}

function copiesTooLarge(sizeBytes: number, copies: number, maxMessageBytes: number): Problem {
  return new Problem(
    413,
    'message_too_large',
    `All copies together may have at most ${maxMessageBytes} bytes, but these ${copies} have ${sizeBytes}. Send to fewer recipients at once, or raise api.max_message_bytes.`,
  );
}

function unavailable(pointer: string, detail: string): Problem {
  const code = 'unsubscribe_unavailable';
  return new Problem(400, code, detail, { errors: [{ pointer, code, detail }] });
}

/** Throws the problem 403 for a domain that the key may not send from. */
export function refuseSender(key: ApiKey, domain: string): void {
  if (!maySendFrom(key, domain))
    throw new Problem(403, 'sender_not_allowed', `This key may not send as ${domain}.`);
}

/** Throws the problem 403 if the message is to ignore the suppression list, and the key may not ask for that. */
export function refuseIgnoring(key: ApiKey, ignoresSuppression: boolean): void {
  if (ignoresSuppression && !key.scopes.includes('suppressions:write'))
    throw new Problem(403, 'scope_missing', SUPPRESSION_SCOPE);
}

/**
 * Throws the problem 403 for an author (From, Sender) on a domain that the key may not send from, and for a field that
 * some programs may parse differently. `written` returns the fields, and is called only if the key is bound to domains.
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
      'From or Sender is ambiguous, and this key may only send from some domains; write each as in "Jane <jane@example.com>", with neither "@" nor quotes in the name, or use another key.',
    );
  for (const { domain } of authors) refuseSender(key, domain);
}
