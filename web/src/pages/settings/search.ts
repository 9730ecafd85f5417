import { flag, readSearch, text } from '../../search.ts';

/** The search of a section of the settings. */
export const search = readSearch({ q: text, revoked: flag });
