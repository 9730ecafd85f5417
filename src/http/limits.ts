/** Bounds on what clients may hold or send. */
export interface HttpLimits {
  /** Open connections over all addresses. One more takes a place of the source that has most, or is refused. */
  readonly maxConnections: number;
  /** From the first byte (or the connection) to the end of the header, and for a TLS handshake. */
  readonly headerTimeoutMs: number;
  /**
   * From the end of the header to the end of the body, roughly: checked once a second. And how long a client may
   * take nothing of its answer.
   */
  readonly bodyTimeoutMs: number;
  /** How long an idle connection is kept. */
  readonly keepAliveMs: number;
  /** Of a request's header, its first line included. */
  readonly maxHeaderBytes: number;
  /** Fields of a request's header, repeated ones counted each. */
  readonly maxHeaders: number;
  /** Requests of one connection at work at once; further ones are held back and the socket is not read. */
  readonly maxPipelinedRequests: number;
  /** Slowest pace of a body over ten seconds; 0 means any. Asked for anew each time. */
  readonly minBodyBytesPerSecond: number;
  /** Bytes of answers that clients have not taken yet; beyond it, who stands still longest is cut off. */
  readonly maxUnsentBytes: number;
}
