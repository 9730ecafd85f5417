import type { Evidence } from '../domain/attempt.ts';
import type { BodyFlags, Envelope, TlsDemand } from '../domain/message.ts';
import type { Outcome, Reply } from '../domain/outcome.ts';
import type { StopSignal } from '../lib/stop.ts';

/**
 * Hands messages to a next hop. One instance per relay; it owns that relay's connections.
 *
 * `deliver` never throws for network or protocol errors: throwing means a bug, and is settled as a deferral. It must
 * await `gate` and find true before anything that could make the peer take responsibility (the final dot, the last byte
 * of an HTTP body); on false it gives up and reports every recipient as deferred. When `signal` aborts it ends soon:
 * deferred before the final dot, unknown after it.
 */
export interface Transport {
  deliver(job: TransportJob, signal: StopSignal): Promise<TransportResult>;
  /**
   * Finds out whether the next hop would accept mail, without sending any. Never throws for peer errors. Absent where
   * there is no single hop to ask.
   */
  probe?(signal: AbortSignal): Promise<ProbeResult>;
  /** Open connections, including idle ones. */
  connections(): number;
  /** Closes idle connections at once, busy ones when they are done. */
  close(): Promise<void>;
}

/** The result of asking a hop, without mail, how it is. */
export interface ProbeResult {
  /** The host that was asked. */
  readonly host: string;
  /** Why it does not accept mail; null if it does. */
  readonly trouble: Reply | null;
}

/** One attempt's task. */
export interface TransportJob {
  /** Our id of the message: identifies a repeat, where the next hop supports that. */
  readonly messageId: string;
  /** Only the recipients of this attempt. */
  readonly envelope: Envelope;
  readonly content: TransportContent;
  /** What the message demands of the way; absent: nothing. */
  readonly tls?: TlsDemand | undefined;
  /**
   * True once the attempt is durably marked as begun, synchronously if it already is; false when it must not be sent.
   * With `content` it lets a large content begin, and is asked again before the end: until then the attempt can still
   * be broken off without harm.
   */
  readonly gate: (point?: 'content') => boolean | Promise<boolean>;
  /**
   * Aborts as soon as it is known that `gate` will never open: the message was cancelled, or the lease lost. The
   * attempt then ends at once, with as little harm to the connection as its state allows.
   */
  readonly refused: StopSignal;
  /**
   * Called when everything is sent and only the hop's answer is missing, if the next message may begin behind this one
   * over the same connection: from then on another job may be delivered as if this one had ended.
   */
  readonly sent?: () => void;
}

/** The message's bytes, from memory if they are still there, otherwise from the spool. */
export interface TransportContent {
  readonly sizeBytes: number;
  readonly flags: BodyFlags;
  chunks(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** Whether all pieces of a content are in memory, so that reading never waits. */
export function isInMemory(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): chunks is Iterable<Uint8Array> {
  return Symbol.iterator in chunks;
}

/** The result of a job. */
export interface TransportResult {
  /** One per recipient, in the envelope's order. */
  readonly outcomes: readonly Outcome[];
  readonly evidence: Evidence;
  /** Set when the hop failed (no connection, TLS, AUTH, 421), not the message: the lane should pause. */
  readonly hopFailed: boolean;
  /** How long the hop asked us to pause (`Retry-After`), in ms; null when it did not. Only with `hopFailed`. */
  readonly restMs: number | null;
  /** The hop was not contacted: the result says nothing about it. */
  readonly unspoken?: true;
}

/** One step of a probe, for people. */
export interface ProbeStep {
  /**
   * `RESOLVE`, `CONNECT`, `TLS`, an SMTP verb, or `CHECK` of a provider's credentials; `READY` at a good end, otherwise
   * the failure's cause.
   */
  readonly name: string;
  /** The search term for a failed step: `connect_refused`, `provider_401`. */
  readonly code?: string;
  /** False for a failed step. A probe may continue by another way after one: its last step tells how it ended. */
  readonly ok: boolean;
  readonly detail: string;
  /** Milliseconds since the probe began. */
  readonly atMs: number;
}

/** Reports a step: its name, whether it succeeded, the text, and the search term if that is not the name. */
export type Tell = (name: string, ok: boolean, detail: string, code?: string) => void;

/** Yields what `run` reports, as it happens, until it ends. `mono`: monotonic ms. */
export async function* probeSteps(
  mono: () => number,
  run: (tell: Tell) => Promise<void>,
): AsyncGenerator<ProbeStep> {
  const steps: ProbeStep[] = [];
  let heard = Promise.withResolvers<void>();
  const startedAt = mono();
  const tell: Tell = (name, ok, detail, code = name) => {
    const atMs = Math.round(mono() - startedAt);
    steps.push(ok ? { name, ok, detail, atMs } : { name, ok, code, detail, atMs });
    heard.resolve();
  };
  let done = false;
  const running = run(tell).finally(() => {
    done = true;
    heard.resolve();
  });
  while (!done || steps.length > 0) {
    if (steps.length === 0) await heard.promise;
    heard = Promise.withResolvers();
    yield* steps.splice(0);
  }
  await running;
}

/** An access token, or why there is none. */
export type TokenResult =
  | { readonly ok: true; readonly token: string }
  | {
      readonly ok: false;
      readonly reply: Reply;
      /** How long the token endpoint asks us to pause, in ms; null: it does not. */
      readonly restMs: number | null;
    };

/** Keeps the access tokens of one relay. */
export interface TokenDesk {
  /**
   * A valid token. If it must be requested, one request serves all who wait, and `tell` gets a text without secrets.
   * Never throws for errors of the endpoint; ends soon after `signal`.
   */
  get(signal: AbortSignal, tell?: (text: string) => void): Promise<TokenResult>;
  /** Drops a refused token: the next caller requests a new one. */
  drop(token: string): void;
  close(): Promise<void>;
}
