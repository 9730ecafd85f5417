/** Finds in the source which codes requests are refused with, and whether the tables of codes have them. */
import { isNamed, list, type Node, property, readSource, sourceFiles, texts, walkFile } from './syntax.ts';

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

/** Every code that stands as a text where something is refused. */
export function thrownCodes(): ThrownCode[] {
  return [...REFUSING, ...JUDGING].flatMap((pattern) => sourceFiles(pattern).flatMap(codesIn));
}

/** Every text in the source, to find codes that are passed around before they are thrown. */
export function textsInSource(): ReadonlySet<string> {
  const paths = sourceFiles('src/{http,ingest,mail,domain,engine,control,app,templates}/**/*.ts');
  const inTables = /openapi\/(?:http-problem|problem|fault)-codes\.ts$/;
  const texts = paths
    .filter((path) => !inTables.test(path))
    .flatMap((path) => [...readSource(path).matchAll(/'([a-z0-9_]+)'/g)].map(([, text = '']) => text));
  return new Set(texts);
}

function codesIn(path: string): ThrownCode[] {
  const found: ThrownCode[] = [];
  walkFile(path, (node) => {
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
