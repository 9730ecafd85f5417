import type { z } from 'zod';

/**
 * What can still be checked of a JSON submission whose schema found faults: the good elements of a list beside the
 * faulty ones, the other properties of an attachment, so that all faults are told at once (contract §5).
 */

type Path = readonly PropertyKey[];

/** What is left of a body. */
export interface Left {
  /** By field; it has the right shape. */
  readonly json: Readonly<Record<string, unknown>>;
  /** Of lists that lost elements: where each that is left stood. */
  readonly places: ReadonlyMap<string, readonly number[]>;
}

/** Takes out what `issues` of the schema are about, and all that is none of the `fields`. */
export function withoutFaulty(
  body: object,
  fields: readonly string[],
  issues: readonly z.core.$ZodIssue[],
): Left {
  const paths = issues.flatMap((issue) => faultyPaths(issue));
  const json: Record<string, unknown> = {};
  const places = new Map<string, readonly number[]>();
  for (const field of fields) {
    const inside = below(paths, field);
    if (!Object.hasOwn(body, field) || isFaulty(inside)) continue;
    const value: unknown = Reflect.get(body, field);
    if (inside.length === 0) json[field] = value;
    else if (Array.isArray(value)) {
      const kept = goodElements(value, inside);
      json[field] = kept.map(({ element }) => element);
      places.set(
        field,
        kept.map(({ place }) => place),
      );
    } else json[field] = goodProperties(value, inside);
  }
  return { json, places };
}

/** Where the faults of an issue stand. */
function faultyPaths(issue: z.core.$ZodIssue, above: Path = []): Path[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => [...path, key]);
  if (issue.code !== 'invalid_union') return [path];
  // As in `schemaFaults`: what is inside is told where something is, else the whole.
  const deeper = issue.errors.flat().filter((inner) => inner.path.length > 0);
  return deeper.length > 0 ? deeper.flatMap((inner) => faultyPaths(inner, path)) : [path];
}

function below(paths: readonly Path[], name: PropertyKey): Path[] {
  return paths.filter(([first]) => first === name).map((path) => path.slice(1));
}

/** Whether one of the paths ends here. */
function isFaulty(paths: readonly Path[]): boolean {
  return paths.some((path) => path.length === 0);
}

function goodElements(list: readonly unknown[], paths: readonly Path[]) {
  // Once for all elements: a list may have as many as there are faults.
  const byPlace = Map.groupBy(paths, ([place]) => place);
  return list.flatMap((element, place) => {
    const inside = (byPlace.get(place) ?? []).map((path) => path.slice(1));
    if (isFaulty(inside)) return [];
    return [{ place, element: inside.length === 0 ? element : goodProperties(element, inside) }];
  });
}

/** An object without its faulty properties; the content of an attachment, which must be there, is empty then. */
function goodProperties(value: unknown, paths: readonly Path[]): unknown {
  const faulty = new Set(paths.map(([name]) => String(name)));
  const good = Object.entries(Object(value)).filter(([name]) => !faulty.has(name));
  return Object.fromEntries(faulty.has('content') ? [...good, ['content', '']] : good);
}
