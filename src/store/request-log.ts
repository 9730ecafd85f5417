import type { RequestLine } from '../domain/request-line.ts';

/**
 * The log of requests to the ingestion API. Lines are written once and removed by age and number; a crash may lose those
 * of the last second. Times are wall ms. Errors are `StoreError`.
 */
export interface RequestLog {
  /** Writes lines, in order. */
  writeRequests(lines: readonly RequestLine[]): Promise<void>;
  /** A page, newest first. */
  requests(query: RequestQuery): Promise<RequestPage>;
  /** The ids of keys that have lines; null for what names no known key. */
  keysOfRequests(): Promise<(string | null)[]>;
  /** Removes lines of a key but the newest `keep` that were refused, and as many others. At most `limit`; returns how many. */
  trimRequests(keyId: string | null, keep: number, limit: number): Promise<number>;
  /** Removes lines from before `before`, and all but the newest `keep`. At most `limit`; returns how many. */
  forgetRequests(before: number, keep: number, limit: number): Promise<number>;
}

/** A line as it is stored. */
export interface StoredRequest extends RequestLine {
  /** Differs for every line. */
  readonly number: number;
}

/** Where a page begins: behind this line. */
export type RequestPlace = Pick<StoredRequest, 'at' | 'number'>;

/** Which lines a page shows. */
export interface RequestQuery {
  /** Whose; null: everybody's. */
  readonly of: { readonly keyId: string | null } | null;
  /** Only those that were refused, or only those that were not; null: both. */
  readonly refused: boolean | null;
  /** From this time on; 0: from the first. */
  readonly since: number;
  /** Before this time; null: to the newest. */
  readonly until: number | null;
  readonly after: RequestPlace | null;
  readonly limit: number;
}

/** A page, and where the next one starts. */
export interface RequestPage {
  readonly lines: readonly StoredRequest[];
  /** Null: there is nothing further. */
  readonly next: RequestPlace | null;
}
