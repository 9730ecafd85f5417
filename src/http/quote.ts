const MAX_QUOTED = 64;
/** Longer than any name that is taken. */
const MAX_TOKEN = 128;

/** Text from the client, cut so that an answer never outgrows its request; an ellipsis shows the cut. */
export function shorten(text: string, maxCharacters: number): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters - 1).toWellFormed()}…` : text;
}

/** A name from the client, bounded, for an error's text. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text, MAX_QUOTED));
}

/** One reference token of a JSON pointer, escaped (RFC 6901 §3); of a name too long to be one of ours, the start. */
export function pointerToken(text: string): string {
  return shorten(text, MAX_TOKEN).replaceAll('~', '~0').replaceAll('/', '~1');
}
