import { readSearch, text } from '../../search.ts';

/** The search of `/messages`: the query as typed, tokens and all. */
export const search = readSearch({ q: text });
