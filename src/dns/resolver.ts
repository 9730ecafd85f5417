/** The seam of the DNS: what is asked, and what comes back. Scripted in tests, over sockets in `dns/client`. */

/** A record's data, by type. */
export interface RecordData {
  /** IPv4 address. */
  readonly A: string;
  /** IPv6 address in its shortest form. */
  readonly AAAA: string;
  /** `exchange` is '' for the root: null MX (RFC 7505). */
  readonly MX: { readonly preference: number; readonly exchange: string };
  /** One record, its strings joined. */
  readonly TXT: string;
  /** A name, lower case, without the last dot. */
  readonly PTR: string;
  /** RFC 6698 §2.1. */
  readonly TLSA: {
    readonly usage: number;
    readonly selector: number;
    readonly matchingType: number;
    /** Hex, lower case. */
    readonly data: string;
  };
}

/** A type of record that can be asked for. Aliases (CNAME) are followed, and are no answer. */
export type RecordType = keyof RecordData;

/** What came of a question. */
export type DnsAnswer<T extends RecordType> =
  | {
      readonly kind: 'found';
      /** At least one, in the order in which they came. */
      readonly records: readonly RecordData[T][];
      /** Where aliases led to; the name asked for without any. */
      readonly canonicalName: string;
      /** The resolver says that it validated the answer (AD), and is trusted to have (`dns.trust_ad`). */
      readonly authenticated: boolean;
      /** For how long it may be used again, in seconds. */
      readonly ttlSeconds: number;
    }
  /** There is no such name, or no record of this type there. */
  | { readonly kind: 'nxdomain' | 'nodata'; readonly authenticated: boolean; readonly ttlSeconds: number }
  /** Nothing is known: to be asked again later. */
  | { readonly kind: 'failed'; readonly cause: DnsFailure; readonly text: string };

/** Why nothing is known. `invalid`: the name cannot be asked for. */
export type DnsFailure = 'dns_servfail' | 'dns_timeout' | 'dns_refused' | 'dns_malformed' | 'dns_invalid';

/** Asks the DNS. */
export interface Resolver {
  /** Never rejects: when `signal` aborts the answer is `dns_timeout`. `name` may be IDN; a trailing dot is ignored. */
  resolve<T extends RecordType>(name: string, type: T, signal: AbortSignal): Promise<DnsAnswer<T>>;
}
