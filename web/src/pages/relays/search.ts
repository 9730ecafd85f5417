import { oneOf, readSearch, text } from '../../search.ts';

/** The search of `/relays` and of a relay. */
export const search = readSearch({ add: text, tab: oneOf('overview', 'edit', 'history') });
