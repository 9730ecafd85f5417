/** Names of HTML that make a difference to values. A file of its own, because the reading of tags is long enough. */

/** Elements whose content has no tags. */
export const RAW: ReadonlySet<string> = new Set([
  'script',
  'style',
  'title',
  'textarea',
  'xmp',
  'iframe',
  'noembed',
  'noframes',
]);
/** Attributes with several URLs, or other things beside them. */
const LISTS = new Set(['ping', 'srcset']);
/** Attributes that lead somewhere. */
export const URLS: ReadonlySet<string> = new Set(
  'action background cite classid codebase data dynsrc formaction href icon longdesc lowsrc manifest ping poster profile src srcset usemap xlink:href'.split(
    ' ',
  ),
);
/** Those of them whose whole value is one URL. */
export const ONE_URL: ReadonlySet<string> = new Set([...URLS].filter((name) => !LISTS.has(name)));
/** Elements of other languages. */
export const FOREIGN: ReadonlySet<string> = new Set(['svg', 'math']);
