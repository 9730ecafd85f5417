import type { RequestLine } from '../domain/request-line.ts';

/**
 * The log of requests to the ingestion API, and of SMTP sessions. Lines are written once and removed by age and number; a
 * crash may lose those of the last second. Times are wall ms. Errors are `StoreError`.
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

/** What a line is about. */
export type RequestKind = 'api' | 'smtp';

/** Which lines a page shows. */
export interface RequestQuery {
  /** Whose; null: everybody's. */
  readonly of: { readonly keyId: string | null } | null;
  /** Only those that were refused, or only those that were not; null: both. */
  readonly refused: boolean | null;
  /** Only requests to the API, or only SMTP sessions; null: both. */
  readonly kind: RequestKind | null;
  /** Only of this address; null: of any. */
  readonly sourceAddress: string | null;
  /** Only the session that accepted the message of this id, if it is noted; null: any. */
  readonly messageId: string | null;
  /** From this time on; 0: from the first. */
  readonly since: number;
  /** Before this time; null: to the newest. */
  readonly until: number | null;
  readonly after: RequestPlace | null;
  readonly limit: number;
  /** Lines that are looked at for the page, at most, where a filter has no index. */
  readonly looksAt: number;
}

/** A page, and where the next one starts: it may be short, or empty, where there are more to look at. */
export interface RequestPage {
  readonly lines: readonly StoredRequest[];
  /** Null: there is nothing further. */
  readonly next: RequestPlace | null;
}
