import type { IncomingMessage } from 'node:http';
import { Problem } from './problem.ts';

/** What a request's header may have. */
export interface HeadLimits {
  /** Fields, repeated ones counted each. */
  readonly maxHeaders: number;
}

/** The longest request target taken; RFC 9112 §3 asks for 8,000 at least. */
export const MAX_TARGET_BYTES = 8192;

/** Fields of which a second one would have to be guessed about: Node keeps the first, or joins them. */
const SINGLE = new Set(['host', 'authorization', 'content-type', 'idempotency-key']);
const LONGEST_SINGLE = 'idempotency-key'.length;
/** A host and perhaps a port (RFC 9110 §7.2); empty where the target has no host. */
const HOST = /^(?:[\w.~%!$&'()*+,;=-]*|\[[\da-f:.]+\])(?::\d*)?$/i;

/**
 * What is wrong with a request before anybody looks at what it is for: RFC 9110 and 9112 want these refused, and
 * Node lets them pass. Null when all is well.
 */
export function checkHead(request: IncomingMessage, limits: HeadLimits): Problem | null {
  const { rawHeaders, headers, httpVersion } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return wrongVersion();
  if ((request.url ?? '').length > MAX_TARGET_BYTES) return targetTooLong();
  if (rawHeaders.length > 2 * limits.maxHeaders) return tooManyHeaders(limits.maxHeaders);
  const repeated = repeatedField(rawHeaders);
  if (repeated !== null)
    return new Problem(400, 'header_repeated', `The field ${repeated} may stand only once in a header.`);
  return checkHost(headers.host, httpVersion) ?? checkFraming(request);
}

/** The refusal of a request target that is too long. */
export function targetTooLong(): Problem {
  return new Problem(
    414,
    'target_too_long',
    `The request target may have at most ${MAX_TARGET_BYTES} bytes.`,
  );
}

/** The refusal of another version of HTTP (RFC 9110 §15.6.6). */
export function wrongVersion(): Problem {
  return new Problem(505, 'unsupported_http_version', 'Speak HTTP/1.1 to this port.');
}

function tooManyHeaders(max: number): Problem {
  return new Problem(
    431,
    'too_many_headers',
    `A request may have at most ${max} header fields (api.max_request_headers).`,
  );
}

/** The first single field that stands there twice. */
function repeatedField(rawHeaders: readonly string[]): string | null {
  let seen: string[] | null = null;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const raw = rawHeaders[i] ?? '';
    if (raw.length > LONGEST_SINGLE) continue;
    const name = raw.toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (seen?.includes(name)) return name;
    seen ??= [];
    seen.push(name);
  }
  return null;
}

function checkHost(host: string | undefined, httpVersion: string): Problem | null {
  if (host === undefined)
    return httpVersion === '1.1'
      ? new Problem(400, 'host_missing', 'An HTTP/1.1 request must name its Host.')
      : null;
  if (HOST.test(host)) return null;
  return new Problem(400, 'host_malformed', 'Host must be a host name or address, and perhaps a port.');
}

function checkFraming({ headers, httpVersion }: IncomingMessage): Problem | null {
  if (httpVersion === '1.0') {
    // RFC 9112 §6.1: where such a message ends cannot be trusted. And §10.1.1: its Expect is to be ignored.
    if (headers['transfer-encoding'] === undefined) return null;
    return new Problem(400, 'malformed_request', 'HTTP/1.0 has no Transfer-Encoding; send Content-Length.');
  }
  const { expect } = headers;
  if (expect === undefined || expect.toLowerCase() === '100-continue') return null;
  return new Problem(417, 'expectation_failed', 'The only expectation met is 100-continue.');
}
