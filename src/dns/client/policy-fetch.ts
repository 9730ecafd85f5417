/** Fetches MTA-STS policy files (RFC 8461 §3.3). */
import { type Clock, within } from '../../lib/clock.ts';
import { getByHttps, type HttpsHead } from '../../lib/https-get.ts';
import { lookUpAddresses } from '../hosts.ts';
import type { PolicyFetch } from '../mta-sts.ts';
import type { Resolver } from '../resolver.ts';

/** What fetching needs. */
export interface PolicyFetchParts {
  readonly resolver: Resolver;
  readonly clock: Clock;
  /** Whether an address may be connected to: private ones only if allowed. */
  readonly isAllowed: (address: string) => boolean;
  /** Roots to trust as PEM, and the port: for tests. Default the system's, and 443. */
  readonly ca?: string;
  readonly port?: number;
}

type Fetched = Awaited<ReturnType<PolicyFetch>>;

const PATH = '/.well-known/mta-sts.txt';
const MAX_BYTES = 65_536;
/** RFC 8461 §3.3 suggests a minute in all; this many addresses share it. */
const MAX_ADDRESSES = 3;
const ADDRESS_MS = 20_000;

/**
 * Fetches `https://mta-sts.DOMAIN/.well-known/mta-sts.txt`: a verified certificate, status 200, text/plain, no
 * redirect, at most 64 KiB and 60 s. Of several addresses, the first that answers is used.
 */
export function createPolicyFetch(parts: PolicyFetchParts): PolicyFetch {
  return async (domain, signal) => {
    const host = `mta-sts.${domain}`;
    const found = await lookUpAddresses(parts.resolver, host, 'any', signal);
    if (found.kind !== 'addresses') return failed(found.reply.text);
    const allowed = found.addresses.filter(parts.isAllowed).slice(0, MAX_ADDRESSES);
    let last = failed(`${host} has no address that Waybill may connect to`);
    for (const address of allowed) {
      last = await within(parts.clock, ADDRESS_MS, signal, (limit) => get(host, address, parts, limit));
      if (last.kind === 'fetched' || signal.aborted) return last;
    }
    return last;
  };
}

async function get(
  host: string,
  address: string,
  { ca, port }: PolicyFetchParts,
  signal: AbortSignal,
): Promise<Fetched> {
  const accept = 'text/plain';
  const asked = { host, path: PATH, address, port, ca, accept, maxBytes: MAX_BYTES, flawOf, signal };
  const answer = await getByHttps(asked);
  return answer.kind === 'answer' ? { kind: 'fetched', body: answer.body.toString() } : answer;
}

/** The fault of an answer's head; null if there is none. */
function flawOf({ status, type }: HttpsHead): string | null {
  if (status !== 200) return `answers with status ${status}`;
  return /^text\/plain[ \t]*(?:;|$)/i.test(type) ? null : 'answers with something other than text/plain';
}

function failed(text: string): Fetched {
  return { kind: 'failed', text };
}
