/** Finds in the source which codes requests are refused with, and whether the tables of codes have them. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vitest/node';

const ROOT = join(import.meta.dirname, '..', '..');
/** Where requests to the ingestion API are refused. */
const REFUSING = ['src/http/**/*.ts', 'src/ingest/http/*.ts'];
/** Where fields are found faulty: what is refused there has a code and a detail too. */
const JUDGING = ['src/mail/*.ts', 'src/domain/mailbox.ts'];

/** A code, and where it is thrown. */
export interface ThrownCode {
  readonly code: string;
  /** HTTP status; null for a fault of a field, or where it is not told there. */
  readonly status: number | null;
  readonly path: string;
}

interface Node {
  readonly type: string;
  readonly [property: string]: unknown;
}

/** Every code that stands as a text where something is refused. */
export function thrownCodes(): ThrownCode[] {
  return [...REFUSING, ...JUDGING].flatMap((pattern) =>
    globSync(pattern, { cwd: ROOT })
      .filter((path) => !path.endsWith('.test.ts'))
      .sort()
      .flatMap(codesIn),
  );
}

/** Every text in the source, to find codes that are passed around before they are thrown. */
export function textsInSource(): ReadonlySet<string> {
  const paths = globSync('src/{http,ingest,mail,domain,engine,control,app}/**/*.ts', { cwd: ROOT });
  const inTables = /openapi\/(?:http-problem|problem|fault)-codes\.ts$|\.test\.ts$/;
  const texts = paths
    .filter((path) => !inTables.test(path))
    .flatMap((path) => [...read(path).matchAll(/'([a-z0-9_]+)'/g)].map(([, text = '']) => text));
  return new Set(texts);
}

function codesIn(path: string): ThrownCode[] {
  const found: ThrownCode[] = [];
  walk(parseAst(read(path), { lang: 'ts' }), (node) => {
    for (const [code, status] of codesOf(node)) found.push({ code, status, path });
  });
  return found;
}

function codesOf(node: Node): [string, number | null][] {
  if (node.type === 'NewExpression' && isNamed(node['callee'], /^Problem$/)) {
    const [status, code] = list(node['arguments']);
    return texts(code).map((text) => [text, typeof status?.['value'] === 'number' ? status['value'] : null]);
  }
  if (node.type === 'CallExpression' && isNamed(node['callee'], /[fF]ault|^malformed$|^refuse$|^reject$/))
    // Among the first arguments a code is the one that is written with underscores.
    return list(node['arguments'])
      .slice(0, 4)
      .flatMap((argument) => (argument.type === 'Literal' ? texts(argument) : []))
      .filter((text) => /^[a-z]+(_[a-z0-9]+)+$/.test(text))
      .map((text) => [text, null]);
  if (node.type !== 'ObjectExpression' || property(node, 'detail') === undefined) return [];
  return texts(property(node, 'code')).map((text) => [text, null]);
}

/** What an object's property is set to. */
function property(object: Node, name: string): Node | undefined {
  const found = list(object['properties']).find(({ key }) => asNode(key)?.['name'] === name);
  return asNode(found?.['value']);
}

/** A literal text, or both of a choice. */
function texts(node: Node | undefined): string[] {
  if (node?.type === 'ConditionalExpression')
    return [...texts(asNode(node['consequent'])), ...texts(asNode(node['alternate']))];
  return node?.type === 'Literal' && typeof node['value'] === 'string' ? [node['value']] : [];
}

function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) for (const item of value) walk(item, visit);
  const node = asNode(value);
  if (node === undefined) return;
  visit(node);
  for (const child of Object.values(node)) walk(child, visit);
}

function isNamed(value: unknown, name: RegExp): boolean {
  const node = asNode(value);
  const text = node?.type === 'MemberExpression' ? asNode(node['property'])?.['name'] : node?.['name'];
  return typeof text === 'string' && name.test(text);
}

function asNode(value: unknown): Node | undefined {
  return typeof value === 'object' && value !== null && 'type' in value ? (value as Node) : undefined;
}

function list(value: unknown): Node[] {
  return Array.isArray(value) ? value : [];
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
