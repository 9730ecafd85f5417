/** What a response says to a question: aliases followed, times to live, the kind of emptiness (RFC 2308). */
import { CODE, type DnsResponse } from './message.ts';
import type { DnsRecord } from './record.ts';
import type { DnsAnswer, DnsFailure, RecordData, RecordType } from './resolver.ts';

/** Longest run of aliases that is followed, within an answer and over several. */
export const MAX_ALIASES = 10;
/** An answer is used for at most a day, and for at least a second, whatever it says. */
const MAX_TTL_SECONDS = 86_400;
/** RFC 2308 §5: an hour to three for what is not there. */
const MAX_NEGATIVE_TTL_SECONDS = 3600;
const MIN_TTL_SECONDS = 1;

/** What a response says. `alias`: the name is another one's, of which it says nothing; that one is to be asked for. */
export type Reading<T extends RecordType> =
  | DnsAnswer<T>
  | {
      readonly kind: 'alias';
      readonly target: string;
      readonly authenticated: boolean;
      readonly ttlSeconds: number;
    };

/**
 * Reads the answer for `name` (lower case) out of a response that is known to answer it. Records of other names and
 * types, which nobody asked for, are not looked at. `trusted`: AD counts.
 */
export function readAnswer<T extends RecordType>(
  response: DnsResponse,
  name: string,
  type: T,
  trusted: boolean,
): Reading<T> {
  const { code } = response;
  if (code !== CODE.noError && code !== CODE.noSuchName) return refusal(code);
  const authenticated = trusted && response.authenticated;
  const chain = followAliases(response.answers, name);
  if (chain === null)
    return failed('dns_malformed', `gives aliases of ${name} that go in a circle or too far`);
  const found = recordsOf(response.answers, chain.name, type);
  if (found.length > 0 && code === CODE.noError) {
    const ttl = Math.min(chain.ttl, ...found.map((record) => record.ttl));
    const records = found.map(({ data }) => data);
    const ttlSeconds = Math.max(MIN_TTL_SECONDS, ttl);
    return { kind: 'found', records, canonicalName: chain.name, authenticated, ttlSeconds };
  }
  const soa = response.authorities.find((record) => record.type === 'SOA');
  if (code === CODE.noError && soa === undefined) {
    if (isReferral(response)) return failed('dns_refused', 'does not ask others (no recursion)');
    if (chain.name !== name)
      return {
        kind: 'alias',
        target: chain.name,
        authenticated,
        ttlSeconds: Math.max(MIN_TTL_SECONDS, chain.ttl),
      };
  }
  // Without SOA it says nothing of how long it holds (RFC 2308 §5).
  const negative = soa?.type === 'SOA' ? Math.min(soa.ttl, soa.data, MAX_NEGATIVE_TTL_SECONDS) : 0;
  const ttlSeconds = Math.max(MIN_TTL_SECONDS, Math.min(negative, chain.ttl));
  return { kind: code === CODE.noSuchName ? 'nxdomain' : 'nodata', authenticated, ttlSeconds };
}

function followAliases(
  answers: readonly DnsRecord[],
  asked: string,
): { readonly name: string; readonly ttl: number } | null {
  let name = asked;
  let ttl = MAX_TTL_SECONDS;
  for (let steps = 0; steps <= MAX_ALIASES; steps++) {
    const alias = answers.find((record) => record.type === 'CNAME' && record.name === name);
    if (alias?.type !== 'CNAME') return { name, ttl };
    name = alias.data;
    ttl = Math.min(ttl, alias.ttl);
  }
  return null;
}

function recordsOf<T extends RecordType>(
  answers: readonly DnsRecord[],
  name: string,
  type: T,
): { readonly data: RecordData[T]; readonly ttl: number }[] {
  return answers.flatMap((record) => (record.name === name && isOf(record, type) ? [record] : []));
}

function isOf<T extends RecordType>(
  record: DnsRecord,
  type: T,
): record is DnsRecord & { readonly type: T; readonly data: RecordData[T] } {
  return record.type === type;
}

/** A server that only knows its own zones points to others, which is no word on whether there is a record. */
function isReferral({ authoritative, recursionAvailable, authorities }: DnsResponse): boolean {
  return !authoritative && !recursionAvailable && authorities.some(({ type }) => type === 'NS');
}

function refusal(code: number): Reading<never> {
  return code === CODE.serverFailure
    ? failed('dns_servfail', 'could not find out (SERVFAIL)')
    : failed('dns_refused', code === CODE.refused ? 'refuses (REFUSED)' : `says code ${code}`);
}

function failed(cause: DnsFailure, text: string): { kind: 'failed'; cause: DnsFailure; text: string } {
  return { kind: 'failed', cause, text };
}
