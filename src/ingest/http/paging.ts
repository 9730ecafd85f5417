/** What every list has that is read page by page. */

/** The most that one page has. */
export const MAX_LIMIT = 200;

/** What a page tells of the next one. */
export interface NextPage {
  readonly hasMore: boolean;
  readonly nextCursor?: string | undefined;
}

/** Tells of the next page, whose cursor is given; undefined when there is none. */
export function nextPage(cursor: string | undefined): NextPage {
  return { hasMore: cursor !== undefined, nextCursor: cursor };
}

/** The `Link` header (RFC 8288) to the next page of the query at `path`. */
export function nextLink(
  path: string,
  query: URLSearchParams,
  cursor: string | undefined,
): Readonly<Record<string, string>> {
  if (cursor === undefined) return {};
  const next = new URLSearchParams(query);
  next.set('cursor', cursor);
  return { Link: `<${path}?${next}>; rel="next"` };
}
