import type { Exchange } from '../../../http/exchange.ts';
import { Problem } from '../../../http/problem.ts';
import { faultsText } from '../providers/submitting.ts';

/** Mailpit's errors: a status and `{"Error"}` (contract-2 §G2). Its own servers know 400, 401 and 404 only. */

/** Answers a refusal as Mailpit does. */
export function refuseAsMailpit(exchange: Exchange, { status, detail, errors, headers }: Problem): void {
  const text = status === 400 && errors.length > 0 ? faultsText(errors) : detail;
  exchange.json(status, { Error: text }, headers);
}

/** A request that cannot be understood, in a sentence. */
export function badRequest(detail: string): Problem {
  return new Problem(400, 'invalid_request', detail);
}

/** What Mailpit can do and this server does not, with the reason. */
// biome-ignore format: a table
const REFUSED = {
  release:      'Mail of a test key never leaves. To send it, submit it again with a live key.',
  'html-check': 'HTML is checked by POST /api/v1/preflight, and in the dashboard.',
  'link-check': 'Links are not followed here: nothing in a message is ever fetched.',
  'sa-check':   'There is no SpamAssassin here.',
  thumb:        'There are no thumbnails here; fetch the part itself.',
  chaos:        'There is no chaos here. Addresses such as bounce@shop.test have outcomes on demand.',
  events:       'There is no web socket here. GET /api/v1/inbox/wait waits for a message.',
} as const;

/** What is refused, whoever asks. */
export type Refused = keyof typeof REFUSED;

/** Makes the handler of an endpoint that is refused. */
export function refusing(what: Refused): () => Promise<void> {
  return () => Promise.reject(badRequest(REFUSED[what]));
}
