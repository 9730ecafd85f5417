/** The operations of operators, as scripts ask for them over HTTP with a key. What each takes and gives is not known here. */

/** The key that asks, and where from. */
export interface AdminCaller {
  readonly keyName: string;
  readonly sourceAddress: string;
}

/** Hears of the steps of work that takes a while, and tells when nobody waits for it any more. */
export interface AdminProgress {
  tell(step: unknown): void;
  readonly signal: AbortSignal;
}

/** See this file's comment. What is refused is a `Problem`. */
export interface AdminDoor {
  /** Bytes that a request of this operation may have; null: there is no such operation. */
  maxRequestBytes(operation: string): number | null;
  /** Does it. Gives plain JSON. */
  call(caller: AdminCaller, operation: string, request: unknown, progress: AdminProgress): Promise<unknown>;
  /** As {@link call}, for what the API has an endpoint for: a refusal has the code that this endpoint gives. */
  act(caller: AdminCaller, operation: string, request: unknown): Promise<unknown>;
}
