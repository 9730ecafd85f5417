/** Fetches MTA-STS policy files (RFC 8461 §3.3). */
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { Clock } from '../../lib/clock.ts';
import { lookUpAddresses } from '../hosts.ts';
import type { PolicyFetch } from '../mta-sts.ts';
import type { Resolver } from '../resolver.ts';
import { within } from './ask.ts';

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

const HTTPS_PORT = 443;
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

function get(
  host: string,
  address: string,
  { ca, port = HTTPS_PORT }: PolicyFetchParts,
  signal: AbortSignal,
): Promise<Fetched> {
  return new Promise((resolve) => {
    const asking = request({
      host: address,
      port,
      servername: host,
      path: '/.well-known/mta-sts.txt',
      headers: { host, accept: 'text/plain' },
      agent: false,
      // Set explicitly: the environment (NODE_TLS_REJECT_UNAUTHORIZED) can switch the default off.
      rejectUnauthorized: true,
      signal,
      ...(ca === undefined ? {} : { ca }),
    });
    const finish = (fetched: Fetched) => {
      resolve(fetched);
      asking.destroy();
    };
    const fail = (error: Error) =>
      finish(failed(signal.aborted ? `${host} does not answer` : `${host}: ${error.message}`));
    asking.on('error', fail);
    asking.on('response', (response) => {
      const reason = flawOf(response);
      if (reason !== null) return finish(failed(`${host} ${reason}`));
      readBody(response, host, finish, fail);
    });
    asking.end();
  });
}

function readBody(
  response: IncomingMessage,
  host: string,
  finish: (fetched: Fetched) => void,
  fail: (error: Error) => void,
): void {
  const chunks: Buffer[] = [];
  let received = 0;
  response.on('error', fail);
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    received += chunk.length;
    if (received > MAX_BYTES) finish(failed(`${host} sends more than 64 KiB`));
  });
  response.on('end', () => finish({ kind: 'fetched', body: Buffer.concat(chunks).toString() }));
}

/** The fault of an answer's head; null if there is none. */
function flawOf({ statusCode, headers }: IncomingMessage): string | null {
  if (statusCode !== 200) return `answers with status ${statusCode}`;
  const type = headers['content-type'] ?? '';
  return /^text\/plain[ \t]*(?:;|$)/i.test(type) ? null : 'answers with something other than text/plain';
}

function failed(text: string): Fetched {
  return { kind: 'failed', text };
}
