import { MESSAGE_STATUSES } from '../../domain/delivery.ts';
import type { MailQuery } from '../../domain/query.ts';
import { messageIdFloor } from '../../lib/id.ts';
import { areTroubled, hopWanted } from '../matching.ts';
import type { SearchQuery } from '../views.ts';
import type { Driver } from './driver.ts';
import { lower, NEWEST, type SliceEnd, search, walk } from './pages.ts';
import type { Source } from './paging.ts';
import { prepareSources } from './paging.ts';
import { ANY_ID, factMatcher, type IdBounds, indexedTerms, wordFinder } from './word-search.ts';

/**
 * Examines one slice of a query's candidates, as `FindSlice` does for lists: by the word index if the query has words,
 * else by the narrowest other index.
 */
export type FindFound = (
  query: SearchQuery,
  maxExamined: number,
  found: (seq: number) => void,
  isOver: () => boolean,
) => SliceEnd;

/** Mail of more keys than this is searched in the index of all mail. */
const MAX_KEYS = 8;
const START_OF_ID = /^msg_[0-9a-z]{0,26}$/;

/** Builds the search. */
export function foundFinder(db: Driver): FindFound {
  const matcherOf = factMatcher(db);
  const findWords = wordFinder(db, matcherOf);
  const sourcesOf = sourceFinder(db);
  return (wanted, maxExamined, found, isOver) => {
    const { query } = wanted;
    const bounds = idBounds(wanted);
    if (indexedTerms(query).length > 0 && hopWanted(query) === null && !query.terms.some(isIdStart))
      return findWords(wanted, bounds, maxExamined, found, isOver);
    const budget = { left: maxExamined };
    const before = lower(wanted.before ?? NEWEST, bounds.before);
    const sources = sourcesOf(query);
    if (sources.length === 0) return { next: null, examined: 0, reason: 'complete' };
    const entries = walk(sources, { before, floor: bounds.floor, limit: wanted.limit }, budget);
    const end = search(entries, matcherOf(query, budget), wanted, found, isOver);
    return { ...end, examined: maxExamined - budget.left };
  };
}

/** The ids that a query's times and id prefixes allow. */
function idBounds({ query, after }: SearchQuery): IdBounds {
  const { since, until, terms } = query;
  let { floor, before } = ANY_ID;
  if (since !== null) floor = messageIdFloor(since);
  if (until !== null) before = messageIdFloor(until);
  // Excludes `after` itself: no id is the prefix of another.
  if (after !== null && after >= floor) floor = `${after}!`;
  for (const term of terms) {
    if (!isIdStart(term)) continue;
    if (term.start > floor) floor = term.start;
    before = lower(before, `${term.start}${NEWEST}`);
  }
  return floor === ANY_ID.floor && before === ANY_ID.before ? ANY_ID : { floor, before };
}

function isIdStart(term: MailQuery['terms'][number]): term is Extract<typeof term, { kind: 'id' }> {
  return term.kind === 'id' && !term.not && START_OF_ID.test(term.start);
}

function sourceFinder(db: Driver): (query: MailQuery) => Source[] {
  const sql = prepareSources(db);
  return (query) => {
    const { terms, keys, statuses } = query;
    const hop = hopWanted(query);
    if (hop !== null) return [(...range) => sql.ofHop.all(hop, ...range)];
    const tag = terms.find((term) => term.kind === 'tag' && !term.not);
    if (tag?.kind === 'tag') return [(...range) => sql.ofTag.all(tag.tag, ...range)];
    if (keys !== null && keys.length <= MAX_KEYS)
      return keys.flatMap((key) => sql.ofKey(key, statuses ?? MESSAGE_STATUSES));
    if (statuses !== null && areTroubled(statuses)) return sql.ofTroubled(statuses);
    return [(...range) => sql.all.all(...range)];
  };
}
