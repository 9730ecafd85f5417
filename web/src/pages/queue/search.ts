import { readSearch, text } from '../../search.ts';

/** The search of `/queue`. */
export const search = readSearch({ relay: text });
