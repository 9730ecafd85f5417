/** A fault of the configuration. The server refuses to start with faults, and prints one line for each. */
export interface Fault {
  /** The key, such as `api.port` or `relays[0].host`; the file's path if it cannot be read as a whole. */
  readonly key: string;
  /** The offending value as JSON; null if there is none to show, or if it is secret. */
  readonly value: string | null;
  /** The rule it breaks, as a phrase that follows the key and the value. */
  readonly rule: string;
  /** The source, such as `environment WAYBILL_API__PORT`. */
  readonly source: string;
}

const MAX_SHOWN = 100;
/** Most characters of a key, a rule or a source: longer ones are mistakes, or malicious. */
const MAX_PIECE = 500;

/** Would move a terminal's cursor, or break the line: a mistaken name may contain anything. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/gu;

/** A fault as one line: bounded, with `\uXXXX` in place of unprintable characters. */
export function formatFault(fault: Fault): string {
  const [key, rule, source] = [
    shortKey(fault),
    shortened(fault.rule, MAX_PIECE),
    shortened(fault.source, MAX_PIECE),
  ];
  const value = fault.value === null ? '' : ` = ${fault.value}`;
  return `${key}${value}: ${rule} (${source})`.replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * A value for a fault's `value`: JSON on one line, shortened. Only for the value of one field or setting that is not
 * secret: a value in place of a whole section or relay may contain a password.
 */
export function showValue(value: unknown): string {
  return shortened(JSON.stringify(value) ?? String(value), MAX_SHOWN);
}

/** The key of a fault, for a log: a name may have any length. */
export function shortKey({ key }: Fault): string {
  return shortened(key, MAX_PIECE);
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** `rule` for a name that does not exist, with the nearest one that does, otherwise with the possible `choice`. */
export function unknownRule(what: string, name: string, known: readonly string[], choice = ''): string {
  const near = nearest(name, known);
  if (near === null) return choice === '' ? `no such ${what}` : `no such ${what}; there are ${choice}`;
  return `no such ${what}; did you mean ${near}?`;
}

/** The known name nearest to `name`, at most three edits and half its length away; null if there is none. */
export function nearest(name: string, known: readonly string[]): string | null {
  let best: string | null = null;
  let bestDistance = Math.min(4, Math.floor(name.length / 2) + 1);
  for (const candidate of known) {
    // The difference in length is a lower bound of edits, and measuring such candidates would take as long as the name.
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein distance: single characters added, removed or replaced. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
