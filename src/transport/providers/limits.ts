/** How long a provider is waited for, and how much of what it says is read. */

const SECOND = 1000;

/** Longest wait for each step, in milliseconds. */
export interface ProviderTimeouts {
  /** Name, address and TCP. */
  readonly connect: number;
  readonly tls: number;
  /** Without progress, while the request is written. */
  readonly send: number;
  /** From the request's last byte to the head of the answer. */
  readonly answer: number;
  /** For all of the answer's body. */
  readonly body: number;
}

/** To give up after the last byte makes a message ambiguous: an answer is waited for longer than anybody takes. */
export const PROVIDER_TIMEOUTS: ProviderTimeouts = {
  connect: 30 * SECOND,
  tls: 30 * SECOND,
  send: 60 * SECOND,
  answer: 180 * SECOND,
  body: 30 * SECOND,
};

/** An idle connection is closed after so long: before most servers would, so that few requests meet a closed one. */
export const KEEP_ALIVE_MS = 4 * SECOND;

/** Where a server says for how long it keeps a connection, it is believed up to so long. */
export const KEEP_ALIVE_MAX_MS = 60 * SECOND;

/** Bytes read of an answer's head. */
export const MAX_HEAD_BYTES = 16 * 1024;

/** Bytes read of an answer's body; then the connection is dropped. */
export const MAX_BODY_BYTES = 64 * 1024;

/** Longest time that a provider's Retry-After is honoured for. */
export const MAX_REST_MS = 3_600 * SECOND;

/** Memory for messages on their way to providers, of all relays together. */
export const PROVIDER_MEMORY = { capacity: 256 * 1024 * 1024, maxWaiters: 2_000 };

/** Longest wait for a share of it. */
export const MEMORY_WAIT_MS = 20 * SECOND;

/** A message, its request, and what is in between: so many times its bytes. */
export const MEMORY_FACTOR = 3;
