import { readWholeBody } from '../http/body.ts';
import type { Exchange } from '../http/exchange.ts';
import { parseJson } from '../http/json.ts';
import { isUtf8, parseMediaType } from '../http/media-type.ts';
import { Problem } from '../http/problem.ts';
import type { Share } from '../lib/budget.ts';

/** Far beyond what any request needs: the largest is a message with its fields. */
const JSON_LIMITS = { maxDepth: 32, maxValues: 100_000 };

/**
 * Throws 415 for a body that does not say it is JSON. A form of another site can send other types without asking first;
 * never this one.
 */
export function requireJson({ headers }: Pick<Exchange, 'headers'>): void {
  const mediaType = parseMediaType(headers['content-type']);
  if (mediaType?.type === 'application/json' && isUtf8(mediaType)) return;
  throw new Problem(415, 'unsupported_media_type', 'Content-Type must be application/json.', {
    headers: { Accept: 'application/json' },
  });
}

/** Reads a JSON body. Throws the problems 415, 413, 400 and 503, and what reading a body throws. */
export async function readJson(exchange: Exchange, maxBytes: number, budget: Share): Promise<unknown> {
  requireJson(exchange);
  return parseJson(await readWholeBody(exchange, { maxBytes, budget }), JSON_LIMITS);
}
