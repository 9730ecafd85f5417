import { oneOf, readSearch } from '../../search.ts';

/** The search of `/users`. */
export const search = readSearch({ tab: oneOf('users', 'sessions') });
