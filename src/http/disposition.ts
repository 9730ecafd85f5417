/** Most characters of a suggested name. */
const MAX_NAME = 150;
/** Tries a run at the end only from its beginning: otherwise a long name would take quadratic time. */
const NOT_AT_ENDS = /^[. ]+|(?<![. ])[. ]+$/g;
/** Names of devices on Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * `Content-Disposition` for a download (RFC 6266, RFC 8187) under a name that may come from a stranger: without a path,
 * without controls or direction marks that could hide its extension, and never empty. `fallback` is a name of ours.
 */
export function attachmentHeader(name: string, fallback: string): string {
  const safe = safeName(name) ?? fallback;
  const ascii = safe.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_');
  const plain = `attachment; filename="${ascii}"`;
  return ascii === safe ? plain : `${plain}; filename*=UTF-8''${encodeExtended(safe)}`;
}

function safeName(name: string): string | null {
  const last = name.toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const printable = last.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '').replace(/[<>:"|?*]/g, '_');
  const trimmed = printable.replace(NOT_AT_ENDS, '');
  const short = shortened(trimmed);
  if (short === '') return null;
  return DEVICE.test(short) ? `_${short}` : short;
}

/** Keeps the extension, which says what the file is. */
function shortened(name: string): string {
  const characters = [...name];
  if (characters.length <= MAX_NAME) return name;
  const ending = /\.[\p{L}\p{N}]{1,10}$/u.exec(name)?.[0] ?? '';
  // The former middle is at the end now.
  return `${characters.slice(0, MAX_NAME - ending.length).join('')}${ending}`.replace(NOT_AT_ENDS, '');
}

/** RFC 8187 §3.2.1: characters that `encodeURIComponent` leaves and the grammar forbids. */
function encodeExtended(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
