import { Problem } from './problem.ts';

/** A method and a path pattern, with the value found there (usually a handler). */
export interface Route<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Segments are literal text, or `{name}`, which matches any one non-empty segment. */
  readonly path: string;
  readonly target: T;
}

/** The match of a path, before the method is considered. */
export interface Match<T> {
  /** The pattern that matched; fit for log lines and metric labels. */
  readonly pattern: string;
  /** Value of the `Allow` header. */
  readonly allow: string;
  /** Named segments, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly targets: ReadonlyMap<string, T>;
}

/** One pattern with all its methods. */
interface Resource<T> {
  readonly pattern: string;
  readonly names: readonly string[];
  readonly targets: Map<string, T>;
  allow: string;
}

/** A step of the lookup tree: literal children first, then the named one. */
interface Branch<T> {
  readonly literal: Map<string, Branch<T>>;
  named: Branch<T> | null;
  resource: Resource<T> | null;
}

const NO_PARAMS: Readonly<Record<string, string>> = {};

/**
 * A static table of routes. Matching a path and choosing by method are two steps, because the source address is checked
 * between them (contract §5): `match` → null is 404, {@link targetOf} throws 405.
 */
export class Router<T> {
  readonly #root: Branch<T> = newBranch();
  /** Paths without named segments: found by one look-up. */
  readonly #literal = new Map<string, Match<T>>();

  constructor(routes: readonly Route<T>[]) {
    for (const route of routes) this.#add(route);
  }

  /** The match of a path (without query), or null. A trailing slash makes another path. */
  match(path: string): Match<T> | null {
    return this.#literal.get(path) ?? this.#search(path);
  }

  #add(route: Route<T>): void {
    const names: string[] = [];
    let branch = this.#root;
    for (const segment of route.path.split('/').slice(1)) {
      const [, name] = /^\{(\w+)\}$/.exec(segment) ?? [];
      if (name !== undefined) {
        names.push(name);
        branch.named ??= newBranch();
        branch = branch.named;
      } else {
        const next: Branch<T> = branch.literal.get(segment) ?? newBranch();
        branch.literal.set(segment, next);
        branch = next;
      }
    }
    branch.resource ??= { pattern: route.path, names, targets: new Map(), allow: '' };
    const { resource } = branch;
    resource.targets.set(route.method, route.target);
    if (route.method === 'GET') resource.targets.set('HEAD', route.target);
    resource.allow = [...resource.targets.keys(), 'OPTIONS'].join(', ');
    if (names.length === 0) this.#literal.set(route.path, { ...resource, params: NO_PARAMS });
  }

  #search(path: string): Match<T> | null {
    const segments = decodeSegments(path);
    if (segments === null) return null;
    const values: string[] = [];
    const resource = walk(this.#root, segments, 0, values);
    if (resource === null) return null;
    const params = Object.fromEntries(resource.names.map((name, i) => [name, values[i] ?? '']));
    return { pattern: resource.pattern, allow: resource.allow, targets: resource.targets, params };
  }
}

/**
 * The value for a method; `HEAD` finds that of `GET`. Throws the 405 problem with `Allow`. The caller answers
 * `OPTIONS`: 204 with the match's `allow`.
 */
export function targetOf<T>(match: Match<T>, method: string): T {
  const target = match.targets.get(method);
  if (target === undefined)
    throw new Problem(405, 'method_not_allowed', `${match.pattern} takes ${match.allow}.`, {
      headers: { Allow: match.allow },
    });
  return target;
}

function newBranch<T>(): Branch<T> {
  return { literal: new Map(), named: null, resource: null };
}

/** The path's segments, each decoded separately so that `%2F` stays inside one; null if one is malformed. */
function decodeSegments(path: string): string[] | null {
  if (!path.startsWith('/')) return null;
  const segments = path.slice(1).split('/');
  if (!path.includes('%')) return segments;
  try {
    return segments.map(decodeURIComponent);
  } catch {
    return null;
  }
}

function walk<T>(
  branch: Branch<T>,
  segments: readonly string[],
  depth: number,
  values: string[],
): Resource<T> | null {
  const segment = segments[depth];
  if (segment === undefined) return branch.resource;
  const next = branch.literal.get(segment);
  const found = next === undefined ? null : walk(next, segments, depth + 1, values);
  if (found !== null || branch.named === null || segment === '') return found;
  values.push(segment);
  const below = walk(branch.named, segments, depth + 1, values);
  if (below === null) values.pop();
  return below;
}
