/** A value that changed, by its place. */
export interface Change {
  /** Such as `rules.1.via`; empty where the whole is no object. */
  readonly path: string;
  /** As JSON; null where there was, or is, no such value. */
  readonly before: string | null;
  readonly after: string | null;
}

/** More than these are not listed. */
const MAX_CHANGES = 200;

/** What differs between two plain JSON values, place by place, those of the first in their order. Null is as good as absent. */
export function changesBetween(before: unknown, after: unknown): readonly Change[] {
  const changes: Change[] = [];
  collect('', before ?? undefined, after ?? undefined, changes);
  return changes;
}

function collect(path: string, before: unknown, after: unknown, changes: Change[]): void {
  if (changes.length >= MAX_CHANGES || same(before, after)) return;
  const one = placesOf(before);
  const other = placesOf(after);
  if ((one ?? other) && (one || before === undefined) && (other || after === undefined)) {
    const names = new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})]);
    for (const name of names)
      collect(path === '' ? name : `${path}.${name}`, one?.[name], other?.[name], changes);
    return;
  }
  changes.push({ path, before: written(before), after: written(after) });
}

/** The values of an object, or of a list of objects, by name or number; null for what is shown in one piece. */
function placesOf(value: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value) && !value.some((item) => typeof item === 'object' && item !== null)) return null;
  // Sound because an array's and an object's own values are found by their names alike.
  return value as Readonly<Record<string, unknown>>;
}

function same(one: unknown, other: unknown): boolean {
  return (one ?? null) === (other ?? null) || JSON.stringify(one) === JSON.stringify(other);
}

function written(value: unknown): string | null {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
