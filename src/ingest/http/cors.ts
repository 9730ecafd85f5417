import type { Headers } from '../../http/answer.ts';
import type { Exchange } from '../../http/exchange.ts';

/**
 * Cross-origin requests (the Fetch standard's CORS protocol), for pages of the origins in `api.cors_origins` only.
 * Credentials of the browser's own, such as cookies, are never allowed: a page brings its key itself.
 */

const REQUEST_HEADERS = 'authorization, content-type, idempotency-key, x-request-id, from, to, if-none-match';
/** What a page may read besides the body and what browsers show to all. */
const ANSWER_HEADERS = [
  ...['location', 'link', 'retry-after', 'allow', 'idempotency-replayed', 'x-request-id'],
  ...['etag', 'content-disposition'],
  ...['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'ratelimit-policy', 'ratelimit'],
].join(', ');
/** How long a browser may remember a preflight: a change of the setting holds everywhere after that. */
const MAX_AGE_SECONDS = 600;

/** Marks whatever answer comes, a refusal too, as one that a page of an allowed origin may read. */
export function markForOrigin(exchange: Exchange, origins: readonly string[]): void {
  if (origins.length === 0) return;
  exchange.setHeader('Vary', 'Origin');
  const origin = allowedOrigin(exchange, origins);
  if (origin === null) return;
  exchange.setHeader('Access-Control-Allow-Origin', origin);
  exchange.setHeader('Access-Control-Expose-Headers', ANSWER_HEADERS);
}

/** What the answer to `OPTIONS` says besides; nothing unless it is the preflight of an allowed origin. */
export function preflightHeaders(exchange: Exchange, origins: readonly string[], allow: string): Headers {
  const isPreflight = exchange.headers['access-control-request-method'] !== undefined;
  if (!isPreflight || allowedOrigin(exchange, origins) === null) return {};
  return {
    'Access-Control-Allow-Methods': allow,
    'Access-Control-Allow-Headers': REQUEST_HEADERS,
    'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
  };
}

function allowedOrigin({ headers }: Exchange, origins: readonly string[]): string | null {
  const { origin } = headers;
  return origin !== undefined && origins.includes(origin) ? origin : null;
}
