/** One line of the request log: what became of a request to the ingestion API. Never anything of its body. */
export interface RequestLine {
  /** When it was answered, wall ms. */
  readonly at: number;
  /** Whose key it named; null: no key that is known. */
  readonly keyId: string | null;
  readonly method: string;
  /** The path as it is shown, see `ingest/http/shown-path.ts`; without the query. */
  readonly path: string;
  /** As it was answered; null: the client left before. */
  readonly status: number | null;
  /** Why it was refused, as our own API says it; null if it was not. */
  readonly code: string | null;
  /** The first fields that were wrong, each with its code; null if none was. */
  readonly faults: string | null;
  readonly durationMs: number;
  readonly requestId: string;
  /** How many requests it stands for: itself, and those like it that were left out. */
  readonly weight: number;
}

/** Whether it was refused, or came to nothing. */
export function isRefused({ status }: Pick<RequestLine, 'status'>): boolean {
  return status === null || status >= 400;
}
