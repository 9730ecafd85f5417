/** The sources as syntax trees, and who imports whom: for the tests of the house's order and for its measures. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseAst } from 'vitest/node';

const ROOT = join(import.meta.dirname, '..');

/** A node of a syntax tree, as ESTree has it. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [property: string]: unknown;
}

/** A module. */
export interface SourceFile {
  /** Relative to the root, such as `src/lib/clock.ts`. */
  readonly path: string;
  readonly text: string;
  readonly nodes: readonly Node[];
  /** Every module it imports or re-exports, as written. */
  readonly imports: readonly string[];
}

/** Reads the modules that a pattern matches, such as `src/**\/*.ts`, in the order of their paths. */
export function readTree(pattern: string): readonly SourceFile[] {
  return globSync(pattern, { cwd: ROOT, exclude: ['**/node_modules/**'] })
    .sort()
    .map(readSource);
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const nodes = nodesOf(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }));
  const imports = nodes.flatMap(({ source, type }) =>
    isNode(source) && source.type === 'Literal' && type !== 'Literal' ? [String(source['value'])] : [],
  );
  return { path, text, nodes, imports };
}

/** Every node of a tree, except names that only name a member or a property. */
export function nodesOf(tree: unknown): readonly Node[] {
  const nodes: Node[] = [];
  collect(tree, nodes);
  return nodes;
}

function collect(value: unknown, nodes: Node[]): void {
  if (Array.isArray(value)) for (const item of value) collect(item, nodes);
  if (!isNode(value)) return;
  nodes.push(value);
  for (const [property, child] of Object.entries(value)) {
    const isPlainName = (property === 'property' || property === 'key') && value['computed'] === false;
    if (!isPlainName) collect(child, nodes);
  }
}

/** Whether a value is a node of a syntax tree. */
export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** The path of what a module imports by a relative name. */
export function targetOf(path: string, name: string): string {
  return normalize(join(dirname(path), name));
}

/** The paths of our own modules that a module imports. */
export function localImports({ path, imports }: SourceFile): string[] {
  return imports.filter((name) => name.startsWith('.')).map((name) => targetOf(path, name));
}

/** The files of one circle in the graph; empty when there is none. */
export function findCycle(graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): readonly string[] => {
    const seenAt = trail.indexOf(path);
    if (seenAt >= 0) return [...trail.slice(seenAt), path];
    if (done.has(path)) return [];
    for (const next of graph.get(path) ?? []) {
      const cycle = visit(next, [...trail, path]);
      if (cycle.length > 0) return cycle;
    }
    done.add(path);
    return [];
  };
  for (const path of graph.keys()) {
    const cycle = visit(path, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}
