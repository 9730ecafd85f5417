import { readSearch, text } from '../../search.ts';

/** The search of `/activity`: filters that all must hold. */
export const search = readSearch({ actor: text, action: text, subject: text });
