import { declaredLength, readWholeBody } from '../../http/body.ts';
import type { Exchange } from '../../http/exchange.ts';
import { parseJson } from '../../http/json.ts';
import { parseMediaType } from '../../http/media-type.ts';
import { Problem } from '../../http/problem.ts';
import type { Share } from '../../lib/budget.ts';

/** Requests that say all in their path. Many clients send `{}` with every POST, so that is taken too. */

/** `{}` needs two. */
const MAX_BYTES = 1024;
const JSON_LIMITS = { maxDepth: 4, maxValues: 100 };
const ADVICE = 'Send none, or {}: all that is needed is in the path.';

/** Reads a body that must be none, or `{}`. Throws 415, 413, 400, 503. */
export async function readNoBody(exchange: Exchange, budget: Share): Promise<void> {
  const bounds = { maxBytes: MAX_BYTES, advice: ADVICE, budget };
  if (hasBody(exchange)) refuseOtherTypes(exchange);
  if (declaredLength(exchange, bounds) === 0) return;
  const body = await readWholeBody(exchange, bounds);
  if (body.length === 0) return;
  const value = parseJson(body, JSON_LIMITS);
  const isEmpty = value !== null && typeof value === 'object' && !Array.isArray(value);
  if (isEmpty && Object.keys(value).length === 0) return;
  throw new Problem(400, 'body_not_empty', `This takes no fields. ${ADVICE}`);
}

function hasBody({ headers }: Exchange): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function refuseOtherTypes({ headers }: Exchange): void {
  const mediaType = parseMediaType(headers['content-type']);
  if (mediaType === null || mediaType.type === 'application/json') return;
  throw new Problem(415, 'unsupported_media_type', `Content-Type must be application/json. ${ADVICE}`, {
    headers: { Accept: 'application/json' },
  });
}
