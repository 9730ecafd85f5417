import { oneOf, readSearch, text } from '../../search.ts';

/** The search of `/inbox` and of a message in it. */
export const search = readSearch({
  q: text,
  key: text,
  view: oneOf('html', 'phone', 'text', 'source', 'headers', 'attachments'),
});
