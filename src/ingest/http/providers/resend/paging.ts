import { z } from 'zod';
import { messageIdTime } from '../../../../lib/id.ts';
import { asInteger, invalidQuery, type ParameterValues, parameterFault } from '../../query.ts';

/** Pages of lists, the newest first, as all of Resend's have them: towards the older by `after`, back by `before`. */

/** What a page shows. */
interface PageAsked {
  readonly limit: number;
  /** Only what is older than this id, */
  readonly after: string | null;
  /** or the next newer ones. Never both. */
  readonly before: string | null;
}

/** What was found of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly hasMore: boolean;
}

/** The parameters of a list whose ids `readId` reads. */
export function pageParameters(readId: (text: string) => string | null) {
  const cursor = {
    schema: z
      .string()
      .transform((text) => readId(text) ?? '')
      .refine((id) => id !== '')
      .optional(),
    code: 'message_id',
    rule: 'the id of an item of the list',
    example: '0199c2f0-5c3e-4a11-8a3d-1f2e3d4c5b6a',
  };
  return {
    limit: {
      schema: z.int().min(1).max(100).default(20),
      fromText: asInteger,
      code: 'out_of_range',
      rule: 'an integer from 1 to 100',
      meaning: 'How many items.',
      example: '20',
    },
    after: { ...cursor, meaning: 'Only items older than this one.' },
    before: { ...cursor, meaning: 'The items that are next newer than this one.' },
  };
}

/** The page of these parameters. Throws a problem 400 for both cursors. */
export function pageAsked({
  limit,
  after,
  before,
}: ParameterValues<ReturnType<typeof pageParameters>>): PageAsked {
  if (after !== undefined && before !== undefined)
    throw invalidQuery([parameterFault('before', 'combination', 'Give after or before, not both.')]);
  return { limit, after: after ?? null, before: before ?? null };
}

/** A span of time in wall ms, from `since` up to, and without, `until`; null: to the newest. */
export interface Span {
  readonly since: number;
  readonly until: number | null;
}

/** Reads the newest items of a span, at most `count`; the newest first. */
export type ReadNewest<T> = (span: Span, count: number) => Promise<readonly T[]>;

const FIRST_SPAN_MS = 60_000;
/** Times in ids may be ahead of the clock. */
const SLACK_MS = 3_600_000;
/** So many are read at once. */
const ENOUGH = 400;
/** More items have never the same millisecond. */
const DENSE = 10_000;

/**
 * The items that are next newer than this id: lists can only be read from the newest on, so that a span of time is
 * searched for that has enough of them, and few more.
 */
export async function newerThan<T extends { readonly id: string }>(
  id: string,
  limit: number,
  now: number,
  read: ReadNewest<T>,
): Promise<Page<T>> {
  const since = messageIdTime(id);
  const all = Math.max(now - since, 0) + SLACK_MS;
  const newerIn = async (span: number, count: number) => {
    const items = await read({ since, until: span >= all ? null : since + span }, count);
    return { items: items.filter((item) => item.id > id), isWhole: items.length < count };
  };
  const pageOf = (items: readonly T[]) => ({ items: items.slice(-limit), hasMore: items.length > limit });
  let span = FIRST_SPAN_MS;
  let [short, long] = [0, Number.POSITIVE_INFINITY];
  while (long - short > 1) {
    const { items, isWhole } = await newerIn(span, ENOUGH);
    if (isWhole && (span >= all || items.length > limit)) return pageOf(items);
    if (isWhole) short = span;
    else long = span;
    span = long === Number.POSITIVE_INFINITY ? span * 8 : Math.floor((short + long) / 2);
  }
  return { ...pageOf((await newerIn(long, DENSE)).items), hasMore: true };
}
