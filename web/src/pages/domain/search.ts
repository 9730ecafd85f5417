import { oneOf, readSearch } from '../../search.ts';

/** The search of `/domains/$name`. */
export const search = readSearch({ tab: oneOf('records', 'keys') });
