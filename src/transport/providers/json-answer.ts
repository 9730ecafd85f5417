/** A member of an object of JSON; null when it has none of that name, or is no object. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : null;
}

/** As {@link memberOf}, where it must be text of 1 to `maxLength` characters; null for anything else. */
export function textOf(value: unknown, name: string, maxLength: number): string | null {
  const text = memberOf(value, name);
  return typeof text === 'string' && text !== '' && text.length <= maxLength ? text : null;
}
