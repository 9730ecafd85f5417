import type { Outcome } from './outcome.ts';

/** One step of the session with a next hop, secrets removed: what we sent and what came back. */
export interface AttemptStep {
  readonly verb: string;
  readonly reply: string;
  /** Milliseconds since the attempt began. */
  readonly atMs: number;
}

/** How an attempt's time was spent, in milliseconds; null for what did not happen (a reused connection). */
export interface AttemptTimings {
  /** From being due, or accepted, to the start of the attempt. */
  readonly queueMs: number | null;
  readonly dnsMs: number | null;
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  /** From MAIL to the last reply to RCPT. */
  readonly mailMs: number | null;
  /** From DATA, or the first BDAT, to the final dot. */
  readonly transferMs: number | null;
  /** From the final dot to its reply. */
  readonly replyMs: number | null;
  readonly totalMs: number;
}

/** A DNS query that the attempt depended on, and its answer. */
export interface DnsLookup {
  readonly name: string;
  /** `MX`, `A`, `AAAA`, `TXT`, `TLSA`. */
  readonly type: string;
  /** `found`, `nodata`, `nxdomain`, or the failure's cause. */
  readonly result: string;
  /** Records as text, such as `10 mx1.example.net`; a limited number of them. */
  readonly answers: readonly string[];
  /** The resolver validated it (RFC 4035 AD). */
  readonly authenticated: boolean;
}

/** The decision on the security of the connection to the host, and why. */
export interface TransportSecurity {
  /**
   * `verified`: the certificate is the host's; `dane`: it matches a TLSA record; `unverified`: encrypted only; `none`:
   * in clear; null: there was no session, so that no mail was sent.
   */
  readonly verdict: 'verified' | 'dane' | 'unverified' | 'none' | null;
  /** The recipient domain's MTA-STS policy (RFC 8461): `enforce`, `testing`, `none`, or null: not looked up. */
  readonly mtaSts: string | null;
  /** Its TLSA records (RFC 7672): `usable`, `unusable`, `none`, or null: not looked up. */
  readonly dane: string | null;
}

/** Evidence of one attempt to transfer a message to a next hop. */
export interface Evidence {
  /** Name of the connected host; null if none was reached or the relay is local. */
  readonly host: string | null;
  readonly address: string | null;
  /** Negotiated protocol and cipher, such as `TLSv1.3 TLS_AES_256_GCM_SHA384`; null without TLS. */
  readonly tls: string | null;
  /** Our own address on the connection; null if there was none. */
  readonly localAddress: string | null;
  /** Null if the connection failed before any decision, and for attempts recorded before this field existed. */
  readonly security: TransportSecurity | null;
  /** Empty if the system's resolver was used. */
  readonly dns: readonly DnsLookup[];
  readonly reused: boolean;
  readonly timings: AttemptTimings;
  readonly steps: readonly AttemptStep[];
}

/** An append-only record: one attempt for one message on one lane, with the outcome for each recipient. */
export interface Attempt {
  /** Wall time in ms at which it began. */
  readonly startedAt: number;
  readonly relay: string;
  readonly evidence: Evidence;
  readonly results: readonly AttemptResult[];
}

/** An attempt's outcome for one recipient. */
export interface AttemptResult {
  /** The recipient's place in the envelope. */
  readonly index: number;
  readonly outcome: Outcome;
}

/** The evidence of an attempt that connected to nobody. */
export const NO_EVIDENCE: Evidence = {
  host: null,
  address: null,
  localAddress: null,
  tls: null,
  security: null,
  dns: [],
  reused: false,
  timings: {
    queueMs: null,
    dnsMs: null,
    connectMs: null,
    tlsMs: null,
    mailMs: null,
    transferMs: null,
    replyMs: null,
    totalMs: 0,
  },
  steps: [],
};
