/** DANE for SMTP (RFC 7672): whether a host's records ask for TLS with a certificate that matches them. */
import type { HostAddresses } from './addresses.ts';
import type { DnsRefusal } from './refusal.ts';
import type { RecordData, Resolver } from './resolver.ts';

/** One TLSA record (RFC 6698 §2.1). */
export type Tlsa = RecordData['TLSA'];

/**
 * What DANE asks of the connection to a host.
 * - `opportunistic`: DANE does not apply, `why` says for what reason.
 * - `mandatory`: TLS, with a chain that {@link matchTlsa} accepts; nothing else is checked.
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

/** Asks for TLSA records, where MX and addresses were validated, and decides. Deferred is 4.7.5 `dane_lookup_failed`. */
export async function lookUpDane(
  resolver: Resolver,
  host: DaneHost,
  signal: AbortSignal,
): Promise<DaneDecision> {
  void [resolver, host, signal];
  return { kind: 'opportunistic', why: 'insecure' };
}

/** Whom a chain must speak for, and when. */
export interface TlsaContext {
  /** For usage 2: the recipients' domain, the host's name as the MX has it, and the base domain (RFC 7672 §3.2.2). */
  readonly names: readonly string[];
  /** Wall time in ms, for usage 2; a certificate of usage 3 never expires (RFC 7672 §3.1.1). */
  readonly nowMs: number;
}

/**
 * Whether a chain of certificates, in DER, the server's own first, matches one of the records. Usage 3 compares the
 * server's certificate and nothing else; usage 2 asks besides for a chain of signatures up to the one that matches,
 * that is valid now and for one of the names. Usages 0 and 1 match nothing (RFC 7672 §3.1.3). Never throws.
 */
export function matchTlsa(
  records: readonly Tlsa[],
  chain: readonly Uint8Array[],
  context: TlsaContext,
): boolean {
  void [records, chain, context];
  return false;
}
