/** Reads the source as syntax, to find in it what documents must tell. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vitest/node';

const ROOT = join(import.meta.dirname, '..', '..');

/** A node of the syntax tree (ESTree). */
export interface Node {
  readonly type: string;
  readonly [property: string]: unknown;
}

/** Files of the repository, relative to its root, without tests, in order. */
export function sourceFiles(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT })
    .filter((path) => !path.endsWith('.test.ts'))
    .sort();
}

/** The text of a file, by its path from the root. */
export function readSource(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Visits every node of a TypeScript file. */
export function walkFile(path: string, visit: (node: Node) => void): void {
  walk(parseAst(readSource(path), { lang: 'ts' }), visit);
}

/** Visits a node, or each of a list, and all below. */
export function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) for (const item of value) walk(item, visit);
  const node = asNode(value);
  if (node === undefined) return;
  visit(node);
  for (const child of Object.values(node)) walk(child, visit);
}

/** What an object's property is set to. */
export function property(object: Node, name: string): Node | undefined {
  const found = list(object['properties']).find(({ key }) => asNode(key)?.['name'] === name);
  return asNode(found?.['value']);
}

/** A literal text, or both of a choice. */
export function texts(node: Node | undefined): string[] {
  if (node?.type === 'ConditionalExpression')
    return [...texts(asNode(node['consequent'])), ...texts(asNode(node['alternate']))];
  return node?.type === 'Literal' && typeof node['value'] === 'string' ? [node['value']] : [];
}

/** Whether this is a name, or the member of something, that fits. */
export function isNamed(value: unknown, name: RegExp): boolean {
  const node = asNode(value);
  const text = node?.type === 'MemberExpression' ? asNode(node['property'])?.['name'] : node?.['name'];
  return typeof text === 'string' && name.test(text);
}

export function asNode(value: unknown): Node | undefined {
  return typeof value === 'object' && value !== null && 'type' in value ? (value as Node) : undefined;
}

export function list(value: unknown): Node[] {
  return Array.isArray(value) ? value : [];
}
