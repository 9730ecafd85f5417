import { oneOf, readSearch } from '../../search.ts';

/** The search of `/routes`. */
export const search = readSearch({ tab: oneOf('rules', 'explain', 'versions') });
