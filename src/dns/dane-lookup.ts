/** DANE for SMTP (RFC 7672): whether a host's records ask for TLS with a certificate that matches them. */
import type { HostAddresses } from './addresses.ts';
import { isUsable, type Tlsa } from './dane.ts';
import { type DnsRefusal, deferred } from './refusal.ts';
import type { DnsAnswer, Resolver } from './resolver.ts';

/**
 * What DANE asks of the connection to a host.
 * - `opportunistic`: DANE does not apply, `why` says for what reason.
 * - `mandatory`: TLS, with a chain that `matchTlsa` accepts; nothing else is checked.
 * - `mandatory_unauthenticated`: TLS, any certificate: there are records, and none is usable (RFC 7672 §2.2).
 * - `deferred`: this host may not be used now, since its records could not be had.
 */
export type DaneDecision =
  | { readonly kind: 'opportunistic'; readonly why: 'insecure' | 'no_records' }
  | {
      readonly kind: 'mandatory';
      /** Usable ones, at least one. */
      readonly records: readonly Tlsa[];
      /** The host's name in the question that found them: SNI, and one of the names for usage 2. */
      readonly baseDomain: string;
    }
  | { readonly kind: 'mandatory_unauthenticated'; readonly baseDomain: string }
  | DnsRefusal;

/** The host DANE is looked up for. */
export interface DaneHost {
  /** The MX answer, or the proof that there is none, was validated (`MxHosts.authenticated`). */
  readonly mxAuthenticated: boolean;
  /** The host's name, as the MX record has it. */
  readonly name: string;
  readonly port: number;
  readonly addresses: HostAddresses;
}

/** Of more records the first count: each may cost a check of a signature. */
const MAX_RECORDS = 16;
/**
 * Asks for TLSA records, where MX and addresses were validated, and decides. Where the host's name is an alias, the
 * name behind it is asked for first, then its own (RFC 7672 §2.2.2). Records that were not validated count as none.
 * When a question has no answer, somebody may be keeping it back: deferred, 4.7.5 `dane_lookup_failed`.
 */
export async function lookUpDane(
  resolver: Resolver,
  host: DaneHost,
  signal: AbortSignal,
): Promise<DaneDecision> {
  const { addresses, name, port } = host;
  if (!host.mxAuthenticated || !addresses.authenticated) return { kind: 'opportunistic', why: 'insecure' };
  for (const baseDomain of new Set([addresses.canonicalName, name])) {
    const answer = await resolver.resolve(`_${port}._tcp.${baseDomain}`, 'TLSA', signal);
    const decision = decide(answer, baseDomain);
    if (decision !== null) return decision;
  }
  return { kind: 'opportunistic', why: 'no_records' };
}

/** Null: there is nothing at this name. */
function decide(answer: DnsAnswer<'TLSA'>, baseDomain: string): DaneDecision | null {
  if (answer.kind === 'failed') {
    if (answer.cause === 'dns_invalid') return null;
    const text = `The TLSA records of ${baseDomain} are not known: ${answer.text}`;
    return deferred('dane_lookup_failed', '4.7.5', text);
  }
  if (answer.kind !== 'found' || !answer.authenticated) return null;
  const records = answer.records.filter(isUsable).slice(0, MAX_RECORDS);
  return records.length === 0
    ? { kind: 'mandatory_unauthenticated', baseDomain }
    : { kind: 'mandatory', records, baseDomain };
}
