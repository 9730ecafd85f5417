import type { Outcome } from './outcome.ts';

/** One step of the conversation with a next hop, secrets removed: what we said and what came back. */
export interface AttemptStep {
  readonly verb: string;
  readonly reply: string;
  /** Milliseconds since the attempt began. */
  readonly atMs: number;
}

/** Where an attempt's time went, in milliseconds; null for what did not happen (a reused connection). */
export interface AttemptTimings {
  /** From being due, or accepted, to the attempt's begin. */
  readonly queueMs: number | null;
  readonly dnsMs: number | null;
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  /** From MAIL to the last answer to RCPT. */
  readonly mailMs: number | null;
  /** From DATA, or the first BDAT, to the final dot. */
  readonly transferMs: number | null;
  /** From the final dot to its answer. */
  readonly replyMs: number | null;
  readonly totalMs: number;
}

/** A question to the DNS that the attempt was decided by, and its answer. */
export interface DnsLookup {
  readonly name: string;
  /** `MX`, `A`, `AAAA`, `TXT`, `TLSA`. */
  readonly type: string;
  /** `found`, `nodata`, `nxdomain`, or the failure's cause. */
  readonly result: string;
  /** Records as text, such as `10 mx1.example.net`; a bounded number of them. */
  readonly answers: readonly string[];
  /** The resolver vouches for it (RFC 4035 AD). */
  readonly authenticated: boolean;
}

/** What was decided about the security of the way to the host, and why. */
export interface TransportSecurity {
  /**
   * `verified`: the certificate is the host's; `dane`: it matches a TLSA record; `unverified`: encrypted only;
   * `none`: in clear; null: no session came about, so that no mail was sent.
   */
  readonly verdict: 'verified' | 'dane' | 'unverified' | 'none' | null;
  /** What the recipient's domain asks for by MTA-STS (RFC 8461): `enforce`, `testing`, `none`, or null: not looked at. */
  readonly mtaSts: string | null;
  /** What its TLSA records ask for (RFC 7672): `usable`, `unusable`, `none`, or null: not looked at. */
  readonly dane: string | null;
}

/** Evidence of one try to hand a message to a next hop. */
export interface Evidence {
  /** Name of the host spoken to; null when none was reached or the relay is local. */
  readonly host: string | null;
  readonly address: string | null;
  /** Negotiated protocol and cipher, such as `TLSv1.3 TLS_AES_256_GCM_SHA384`; null without TLS. */
  readonly tls: string | null;
  /** Our own address on the connection; null when there was none. */
  readonly localAddress: string | null;
  /** Null when nothing was decided before the connection failed, and of attempts recorded before this was. */
  readonly security: TransportSecurity | null;
  /** Empty where the system's resolver was asked. */
  readonly dns: readonly DnsLookup[];
  readonly reused: boolean;
  readonly timings: AttemptTimings;
  readonly steps: readonly AttemptStep[];
}

/** An append-only fact: one try for one message over one lane, with what it did for each recipient. */
export interface Attempt {
  /** Wall time in ms at which it began. */
  readonly startedAt: number;
  readonly relay: string;
  readonly evidence: Evidence;
  readonly results: readonly AttemptResult[];
}

/** What an attempt did for one recipient of the message. */
export interface AttemptResult {
  /** The recipient's place in the envelope. */
  readonly index: number;
  readonly outcome: Outcome;
}

/** What can be said of an attempt that spoke to nobody. */
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
