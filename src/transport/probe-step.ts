/** One thing that was tried, for a person to read. */
export interface ProbeStep {
  /**
   * `RESOLVE`, `CONNECT`, `TLS`, an SMTP verb, or `CHECK` of a provider's credentials; `READY` for the good end, else the
   * failure's cause.
   */
  readonly name: string;
  /** What to search for, of a step that failed: `connect_refused`, `provider_401`. */
  readonly code?: string;
  /** False only for the last step of a probe that failed. */
  readonly ok: boolean;
  readonly detail: string;
  /** Milliseconds since the probe began. */
  readonly atMs: number;
}
