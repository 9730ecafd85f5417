import { z } from 'zod';
import { parseTimestamp } from '../../../../lib/clock.ts';
import { asInteger, type ParameterTable, type ParameterValues, readParameters } from '../../query.ts';

/** What Postmark's queries have in common: names that ignore case, pages by offset, times without a zone. */

/** Most of a list that can be paged through. */
const MAX_PAGED = 10_000;
const MAX_COUNT = 500;

const DAY_MS = 86_400_000;
const DAY = /^\d{4}-\d\d-\d\d$/;
const ZONE = /(?:z|[+-]\d\d:?\d\d)$/i;

/** A time, or a day: its beginning, or with `end` its end. What has no zone is in UTC. */
function timeSchema(end: boolean) {
  return z.string().transform((text, context) => {
    const isDay = DAY.test(text);
    const ms = parseTimestamp(isDay ? `${text}T00:00:00Z` : ZONE.test(text) ? text : `${text}Z`);
    if (ms !== null) return isDay && end ? ms + DAY_MS : ms;
    context.issues.push({ code: 'custom', input: text, message: 'not a time' });
    return z.NEVER;
  });
}

const TIME_RULE = 'a day such as 2026-11-20, or a time such as 2026-11-20T11:15:00';

// biome-ignore format: a table
export const PERIOD_PARAMETERS = {
  fromdate: { schema: timeSchema(false).optional(), code: 'timestamp', rule: TIME_RULE, meaning: 'Only what is from this time or later.', example: '2026-11-20' },
  todate: { schema: timeSchema(true).optional(), code: 'timestamp', rule: TIME_RULE, meaning: 'Only what is from before this time, or from this day at the latest.', example: '2026-11-21' },
};

// biome-ignore format: a table
export const PAGE_PARAMETERS = {
  count: { schema: z.int().min(0).max(MAX_COUNT).default(100), fromText: asInteger, code: 'out_of_range', rule: `an integer from 0 to ${MAX_COUNT}`, meaning: 'How many.', example: '50' },
  offset: { schema: z.int().min(0).max(MAX_PAGED).default(0), fromText: asInteger, code: 'out_of_range', rule: `an integer from 0 to ${MAX_PAGED}`, meaning: 'How many to leave out.', example: '0' },
  // There is one, and everything is in it.
  messagestream: { schema: z.string().optional(), code: 'type', rule: 'a name', meaning: 'Without effect.', example: 'outbound' },
};

/** Reads a query by a table whose names are in lower case. Throws the problem 400. */
export function readQuery<Table extends ParameterTable>(
  query: URLSearchParams,
  table: Table,
): ParameterValues<Table> {
  const lower = [...query].map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  return readParameters(new URLSearchParams(lower), table);
}

/** A part of a list, and what is told of the whole. */
export interface Counted<T> {
  readonly items: readonly T[];
  /** Of the whole list; if it goes on after this part, only as many as are known, and one more. */
  readonly total: number;
}

/** A page of a list. Where too many records were examined for it, it has fewer items than there are. */
export interface Page<T, Place> {
  readonly items: readonly T[];
  /** Null at the end. */
  readonly next: Place | null;
  readonly isCut: boolean;
}

/** Pages of a list that are read for one part of it; and how many of them may be cut. */
const MAX_PAGES = 60;
const MAX_CUT = 5;

/** Reads a list page by page, up to the end of the part asked for, or until enough was examined. */
export async function partOf<T, Place>(
  { count, offset }: { readonly count: number; readonly offset: number },
  read: (before: Place | null) => Promise<Page<T, Place>>,
): Promise<Counted<T>> {
  const found: T[] = [];
  let before: Place | null = null;
  let cut = 0;
  for (let pages = 0; pages < MAX_PAGES && cut < MAX_CUT; pages++) {
    const { items, next, isCut }: Page<T, Place> = await read(before);
    found.push(...items);
    before = next;
    if (isCut) cut += 1;
    if (before === null || found.length > offset + count) break;
  }
  const end = Math.min(found.length, offset + count);
  const total = before === null || found.length > end ? found.length : found.length + 1;
  return { items: found.slice(offset, end), total };
}
