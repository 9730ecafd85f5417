import { createHash } from 'node:crypto';
import type { Exchange } from '../../../http/exchange.ts';
import { NO_PARAMETERS, readParameters } from '../query.ts';

/** `GET /api/v1/openapi.json`: the API's description, made when it is first asked for and then kept. */
export function descriptionEndpoint(): (exchange: Exchange) => Promise<void> {
  let making: ReturnType<typeof make> | null = null;
  return async (exchange) => {
    readParameters(exchange.query, NO_PARAMETERS);
    making ??= make();
    const made = await making;
    const headers = { ETag: made.etag, 'Cache-Control': 'no-cache' };
    if (namesTag(exchange.headers['if-none-match'], made.etag)) exchange.empty(304, headers);
    else exchange.send(200, 'application/json; charset=utf-8', made.bytes, headers);
  };
}

/**
 * Its bytes are encoded once: anybody may ask for them, as often as they like. What it is made of is loaded only then, too.
 */
async function make() {
  const { describeApi } = await import('./document.ts');
  const bytes = Buffer.from(JSON.stringify(describeApi()));
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
}

/** RFC 9110 §13.1.2; comparison is weak, so a proxy's `W/` makes no difference. */
function namesTag(given: string | undefined, etag: string): boolean {
  if (given === undefined) return false;
  const tags = given.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
