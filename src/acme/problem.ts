/** What an authority's refusals (RFC 8555 §6.7) mean to us. */
import type { OrderFaultCode } from '../domain/certificate.ts';
import { memberOf, textOf } from '../lib/decode.ts';

const TYPE_PREFIX = 'urn:ietf:params:acme:error:';
/** Characters of a message from outside. */
const MAX_TEXT = 500;
const MAX_PARTS = 3;
const MAX_TYPE = 200;
const CONTROL = /[\p{Cc}\p{Cf}]+/gu;

/** An order that failed. The message is fit for a log line. */
export class AcmeError extends Error {
  readonly code: OrderFaultCode;
  /** The authority's own word for it, such as `badNonce`; null: it is not the authority that complains. */
  readonly type: string | null;
  /** How long the authority wants to be left alone. */
  readonly retryAfterMs: number | null;

  constructor(
    code: OrderFaultCode,
    message: string,
    told: { readonly type?: string | null; readonly retryAfterMs?: number | null } = {},
  ) {
    super(clean(message));
    this.name = 'AcmeError';
    this.code = code;
    this.type = told.type ?? null;
    this.retryAfterMs = told.retryAfterMs ?? null;
  }
}

const CODES: Readonly<Record<string, OrderFaultCode>> = {
  accountDoesNotExist: 'account_refused',
  caa: 'caa_forbids',
  connection: 'not_reached',
  dns: 'dns_failed',
  externalAccountRequired: 'account_binding',
  incorrectResponse: 'challenge_failed',
  invalidContact: 'account_refused',
  rateLimited: 'rate_limited',
  rejectedIdentifier: 'name_refused',
  serverInternal: 'authority_failed',
  tls: 'not_reached',
  unauthorized: 'challenge_failed',
  unsupportedContact: 'account_refused',
  unsupportedIdentifier: 'name_refused',
  userActionRequired: 'terms_not_agreed',
};

/** The refusal in a problem document, of an answer or of a challenge; `during`: what was being done. */
export function refusal(problem: unknown, during: string, retryAfterMs: number | null): AcmeError {
  const type = (textOf(problem, 'type', MAX_TYPE) ?? '').replace(TYPE_PREFIX, '');
  const code = Object.hasOwn(CODES, type) ? CODES[type] : undefined;
  const detail = textOf(problem, 'detail', 100_000) ?? (type === '' ? 'without a reason' : type);
  const parts = [memberOf(problem, 'subproblems')].flat().slice(0, MAX_PARTS).flatMap(subproblem);
  const text = [`${during}: ${detail}`, ...parts].join('; ');
  return new AcmeError(code ?? 'order_failed', text, { type, retryAfterMs });
}

function subproblem(part: unknown): string[] {
  const detail = textOf(part, 'detail', 100_000);
  const name = textOf(memberOf(part, 'identifier'), 'value', 300);
  if (detail === null) return [];
  return [name === null ? detail : `${name}: ${detail}`];
}

/** Text from outside on one line, and not too long. */
function clean(text: string): string {
  const line = text.replaceAll(CONTROL, ' ').trim();
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT - 1)}…` : line;
}
