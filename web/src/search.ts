/**
 * What the part of an address after `?` says, typed: the state of every list is in its URL. A route names its fields,
 * `readSearch({ q: text, status: oneOf('queued', 'failed'), all: flag })`, and what cannot be read is left out.
 */

/** Reads one field; undefined when it is absent or not to be understood. */
type Read<Value> = (values: readonly string[]) => Value | undefined;

/** Any text but the empty one. */
export const text: Read<string> = (values) => values[0] || undefined;

/** True for `1` or `true`. */
export const flag: Read<true> = (values) => (values[0] === '1' || values[0] === 'true' ? true : undefined);

/** One of these words. */
export function oneOf<const Word extends string>(...words: readonly Word[]): Read<Word> {
  return (values) => words.find((word) => word === values[0]);
}

/** How the fields of an address are read. */
export type SearchFields = Readonly<Record<string, Read<unknown>>>;

/** The search of an address whose fields are read like this. A field that is set to undefined is left out. */
export type SearchOf<Fields extends SearchFields> = {
  readonly [Name in keyof Fields]?: NonNullable<ReturnType<Fields[Name]>> | undefined;
};

/** Makes the `validateSearch` of a route. */
export function readSearch<const Fields extends SearchFields>(
  fields: Fields,
): (raw: Record<string, unknown>) => SearchOf<Fields> {
  return (raw) => {
    const entries = Object.entries(fields).flatMap(([name, read]) => {
      const value = read(asTexts(raw[name]));
      return value === undefined ? [] : [[name, value]];
    });
    // Sound because each value comes from its own field's reader.
    return Object.fromEntries(entries) as SearchOf<Fields>;
  };
}

function asTexts(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  return value === undefined || value === null ? [] : [String(value)];
}

/** The search of an address as texts; a field that comes several times is a list. */
export function parseSearch(search: string): Record<string, string | string[]> {
  const parsed: Record<string, string | string[]> = {};
  for (const [name, value] of new URLSearchParams(search)) {
    const earlier = parsed[name];
    parsed[name] = earlier === undefined ? value : [earlier, value].flat();
  }
  return parsed;
}

/** The opposite of {@link parseSearch}: plain words, as a person would write them. */
export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    for (const item of Array.isArray(value) ? value : [value])
      if (item !== undefined && item !== null && item !== false && item !== '')
        parameters.append(name, item === true ? '1' : String(item));
  // Colons, commas and at signs are allowed in a query, and addresses are read by people.
  const written = parameters.toString().replace(/%(3A|40|2C|2F)/gi, (code) => decodeURIComponent(code));
  return written === '' ? '' : `?${written}`;
}

/** What a list shows, as its address says it: its fields as texts. */
export type Shown = Readonly<Record<string, string>>;

/** What is open is no part of what a list shows. */
const OPENED = ['id', 'view', 'event'];

/** What an address says of what a list shows. */
export function shownOf(search: Readonly<Record<string, unknown>>): Shown {
  const fields = Object.entries(parseSearch(stringifySearch(search)));
  const kept = fields.filter(([name]) => !OPENED.includes(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, [value].flat()[0] ?? '']));
}

/** Whether two addresses show the same. */
export function isSame(one: Shown, other: Shown): boolean {
  const sorted = (shown: Shown) => JSON.stringify(Object.entries(shown).sort());
  return sorted(one) === sorted(other);
}
