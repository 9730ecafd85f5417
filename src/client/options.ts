import type { Machine } from './machine.ts';

/**
 * How a client is made, and what its calls may be told. `null` equals absent. A file of its own, because the package
 * declares it, and what it stands with would be declared too, in words that older compilers do not know.
 */

/** The options of a client. */
export interface WaybillOptions {
  /**
   * Where the server answers, such as `https://mail.example.net:8026`; a path in front of `/api/v1` may follow.
   * May be undefined for the sake of environment variables only: one that is not set is a `TypeError`.
   */
  readonly url: string | undefined;
  /** The API key; undefined as with `url`. */
  readonly key: string | undefined;
  /** What to use instead of the platform's `fetch`. */
  readonly fetch?: typeof fetch | null | undefined;
  /** Milliseconds for a whole call, with all its tries; 90,000 unless told, and 1,000 more for each 64 KiB sent. */
  readonly timeoutMs?: number | null | undefined;
  /** Milliseconds for one try, until all of the answer is there; 30,000 unless told, and more as above. */
  readonly tryTimeoutMs?: number | null | undefined;
  /** How often a call is tried again at most; 4 unless told, 0 for never. */
  readonly maxRetries?: number | null | undefined;
  /**
   * What to ask for time and chance; for tests.
   * @internal
   */
  readonly machine?: Machine | undefined;
}

/** What every call may be told. */
export interface CallOptions {
  /** Ends the call when it aborts. */
  readonly signal?: AbortSignal | null | undefined;
  /** Milliseconds for the whole call, with all its tries. */
  readonly timeoutMs?: number | null | undefined;
}

/** What a call for a message's bytes may be told. */
export interface ContentOptions extends CallOptions {
  /** Whose copy, where recipients have copies of their own (`unsubscribe`); the first one's without it. */
  readonly recipient?: string | null | undefined;
}

/** What a call that sends may be told. */
export interface SendOptions extends CallOptions {
  /**
   * Names this very submission: within 24 hours, sending the same again under the same key gives the first answer
   * and sends nothing. Made by the client, anew for each call, unless given; give one that you keep when the
   * sending must survive the end of your own program.
   */
  readonly idempotencyKey?: string | null | undefined;
}

/** What waiting for a message's end may be told. */
export interface WaitOptions extends CallOptions {
  /** Milliseconds to wait for the end; 60,000 unless told. */
  readonly timeoutMs?: number | null | undefined;
}
