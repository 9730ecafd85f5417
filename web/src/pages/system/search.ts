import { oneOf, readSearch, text } from '../../search.ts';

/** The search of `/system`: which tab is open, and what the log is filtered by. */
export const search = readSearch({
  tab: oneOf('health', 'storage', 'backup', 'log', 'doctor', 'about'),
  level: oneOf('debug', 'info', 'warn', 'error'),
  q: text,
});
