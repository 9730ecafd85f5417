import type { Evidence } from '../domain/attempt.ts';
import type { BodyFlags, Envelope } from '../domain/message.ts';
import type { Outcome, Reply } from '../domain/outcome.ts';
import type { StopSignal } from '../lib/stop.ts';

/**
 * A way to hand a message to a next hop. One instance per relay; it owns that relay's connections.
 *
 * `deliver` never throws for network or protocol trouble: throwing means a bug, and is settled as a deferral.
 * It must await `gate` and find true before anything that could make the peer take responsibility (the final
 * dot, the last byte of an HTTP body); on false it gives up and reports every recipient as deferred. When
 * `signal` aborts it ends soon: deferred before the final dot, unknown after it.
 */
export interface Transport {
  deliver(job: TransportJob, signal: StopSignal): Promise<TransportResult>;
  /**
   * Finds out whether the next hop can be spoken to, without sending anything. Never throws for what the peer does. Absent
   * where there is no one hop to ask.
   */
  probe?(signal: AbortSignal): Promise<ProbeResult>;
  /** Connections open now, idle ones too. */
  connections(): number;
  /** Closes idle connections at once and those at work when they are done. */
  close(): Promise<void>;
}

/** What a hop said that was asked without mail how it is. */
export interface ProbeResult {
  /** Whom was spoken to. */
  readonly host: string;
  /** What keeps it from taking mail; null: nothing. */
  readonly trouble: Reply | null;
}

/** One attempt's task. */
export interface TransportJob {
  /** Our id of the message: what a repeat is known by, where the next hop can know one. */
  readonly messageId: string;
  /** With only the recipients this attempt is for. */
  readonly envelope: Envelope;
  readonly content: TransportContent;
  /**
   * True once the attempt is durably marked as begun, at once where it is; false when it must not be sent. Asked with `content` it lets
   * a large content begin, and is asked again before the end: until then the attempt can still be broken off without harm.
   */
  readonly gate: (point?: 'content') => boolean | Promise<boolean>;
  /**
   * Aborts as soon as it is known that `gate` will never open: the message was cancelled, or the lease lost. The
   * attempt then ends at once, with as little harm to the connection as its state allows.
   */
  readonly refused: StopSignal;
  /**
   * Called when all is sent and only the hop's answer is missing, if the next message may begin behind this one over the same
   * connection: another job may be delivered from now on as if this one had ended.
   */
  readonly sent?: () => void;
}

/** The message's bytes, from memory on the short way, else from the spool. */
export interface TransportContent {
  readonly sizeBytes: number;
  readonly flags: BodyFlags;
  chunks(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** Whether the pieces of a content are all in memory: then nobody need wait for any. */
export function isInMemory(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): chunks is Iterable<Uint8Array> {
  return Symbol.iterator in chunks;
}

/** What became of the job. */
export interface TransportResult {
  /** One per recipient, in the envelope's order. */
  readonly outcomes: readonly Outcome[];
  readonly evidence: Evidence;
  /**
   * Set when the trouble was the hop's (no connection, TLS, AUTH, 421), not the message's: the lane should
   * pause before it tries anything else.
   */
  readonly hopFailed: boolean;
  /** The hop asked to be left alone for so long (`Retry-After`), in ms; null when it did not. Only with `hopFailed`. */
  readonly restMs: number | null;
  /** The hop was not asked anything: the result says nothing about it. */
  readonly unspoken?: true;
}

/** One thing that was tried, for a person to read. */
export interface ProbeStep {
  /**
   * `RESOLVE`, `CONNECT`, `TLS`, an SMTP verb, or `CHECK` of a provider's credentials; `READY` for the good end, else the
   * failure's cause.
   */
  readonly name: string;
  /** What to search for, of a step that failed: `connect_refused`, `provider_401`. */
  readonly code?: string;
  /** False for a step that failed. A probe may go on after one, by another way: its last step tells how it ended. */
  readonly ok: boolean;
  readonly detail: string;
  /** Milliseconds since the probe began. */
  readonly atMs: number;
}

/** Tells of a step: its name, whether it is good, what there is to say, and what to search for where it is not the name. */
export type Tell = (name: string, ok: boolean, detail: string, code?: string) => void;

/** Yields what `run` tells, as it is told, until it ends. `mono`: monotonic ms. */
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
      /** How long the token endpoint asks to be left alone, in ms; null: it does not. */
      readonly restMs: number | null;
    };

/** Who has the access tokens of one relay. */
export interface TokenDesk {
  /**
   * The token that is good now. Where it has to be asked for, one request serves all who wait, and `tell` is told of it,
   * in words without secrets. Never throws for what the endpoint does; ends soon after `signal`.
   */
  get(signal: AbortSignal, tell?: (text: string) => void): Promise<TokenResult>;
  /** The token was refused: whoever needs one asks anew. */
  drop(token: string): void;
  /** Closes its connections. */
  close(): Promise<void>;
}
