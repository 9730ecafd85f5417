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
  readonly dnsMs: number | null;
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  readonly transferMs: number | null;
  readonly totalMs: number;
}

/** Evidence of one try to hand a message to a next hop. */
export interface Evidence {
  /** Name of the host spoken to; null when none was reached or the relay is local. */
  readonly host: string | null;
  readonly address: string | null;
  /** Negotiated protocol and cipher, such as `TLSv1.3 TLS_AES_256_GCM_SHA384`; null without TLS. */
  readonly tls: string | null;
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
