/** How an operation that takes a while tells of its steps, and learns that nobody waits for it any more. */
export interface Progress<Step> {
  /** Tells of a step, plain JSON, as it happens. */
  tell(step: Step): void;
  /** Aborts when whoever asked has gone away. */
  readonly signal: AbortSignal;
}

/** For whom the result is enough. */
export const UNWATCHED: Progress<unknown> = { tell() {}, signal: new AbortController().signal };
