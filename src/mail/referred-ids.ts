import { SLICE_BYTES, type Sliced } from '../lib/clock.ts';

const REFERENCE = /cid:([^"'<>()\s]{1,900})/gi;
/** References of one text; of more, the others are not known. */
const MAX_REFERENCES = 10_000;

/** The Content-IDs that an HTML text refers to by `cid:` (RFC 2392), unescaped. */
export function* referredIds(html: string): Sliced<ReadonlySet<string>> {
  const ids = new Set<string>();
  REFERENCE.lastIndex = 0;
  for (let from = 0; from < html.length; from += SLICE_BYTES) {
    if (from > 0) yield;
    // One that begins in this slice may end in the next.
    const text = html.slice(from, from + SLICE_BYTES + 1000);
    for (const [, id = ''] of text.matchAll(REFERENCE)) {
      if (ids.size >= MAX_REFERENCES) return ids;
      ids.add(unescaped(id));
    }
  }
  return ids;
}

function unescaped(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
