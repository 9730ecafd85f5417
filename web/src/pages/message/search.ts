import { oneOf, readSearch } from '../../search.ts';

/** The search of `/messages/$id`: which tab of the contents is open. */
export const search = readSearch({
  view: oneOf('html', 'phone', 'text', 'source', 'headers', 'attachments'),
});
