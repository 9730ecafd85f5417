import {
  type Document,
  isMap,
  isNode,
  isScalar,
  Lexer,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLParseError,
} from 'yaml';
import { readError } from '../lib/error.ts';

/** The value of a text, null if it is empty; or all faults found in it, as rules. */
export type ReadYaml =
  | {
      readonly ok: true;
      readonly root: unknown;
      /** The line of what is nearest to a path of names and places in lists; null: there is nothing. */
      lineOf(path: readonly (string | number)[]): number | null;
    }
  | { readonly ok: false; readonly rules: readonly string[] };

/** Resolving each one searches all anchors: this many are more than anybody writes, and still fast. */
const MAX_ALIASES = 100;
/** Levels of nesting, counting pairs of maps: far more than any setting has. */
const MAX_DEPTH = 64;
/** Keys of all maps together, unless more are expected: far more than there are settings, relays and rules. */
const MAX_KEYS = 20_000;
const TOO_DEEP = 'is nested too deeply';
/** The engine's message for calls nested too deeply. */
const OUT_OF_STACK = /call stack|stack overflow/i;

const LONE_CR = /\r(?!\n)/;

/** Reads YAML in linear time: checks that the library makes by comparing everything with everything are made here. */
export function readYaml(text: string, maxKeys = MAX_KEYS): ReadYaml {
  try {
    return readDocument(text, maxKeys);
  } catch (error) {
    if (error instanceof RangeError) return { ok: false, rules: [TOO_DEEP] };
    throw error;
  }
}

function readDocument(text: string, maxKeys: number): ReadYaml {
  // The library scans each run of them once from each of its positions.
  const lone = LONE_CR.exec(text);
  if (lone !== null) {
    const line = text.slice(0, lone.index).split('\n').length;
    return { ok: false, rules: [`has a carriage return without a line feed after it at line ${line}`] };
  }
  if (hasTooManyColons(text, maxKeys)) return { ok: false, rules: [tooManyKeys(maxKeys)] };
  const lines = new LineCounter();
  const document = parseDocument(text, { logLevel: 'error', uniqueKeys: false, lineCounter: lines });
  const rules = document.errors.map(({ message }) => message);
  // The library recurses into each level, and mostly reports the resulting exception as a fault of the text.
  if (rules.some((rule) => OUT_OF_STACK.test(rule))) return { ok: false, rules: [TOO_DEEP] };
  const [first] = document.errors;
  // Further faults mostly follow from the first.
  if (first !== undefined) return { ok: false, rules: [inPlainWords(first, document.errors, text)] };
  rules.push(...faultsOfNodes(document, lines, maxKeys));
  if (rules.length > 0) return { ok: false, rules };
  try {
    // Throws for an alias without an anchor, and for aliases of aliases that expand too far.
    return { ok: true, root: document.toJS(), lineOf: (path) => lineOf(document, path, lines) };
  } catch (error) {
    return { ok: false, rules: [`cannot be read: ${readError(error)}`] };
  }
}

function tooManyKeys(maxKeys: number): string {
  return `has more than ${maxKeys} keys; remove some`;
}

function lineOf(
  document: Document.Parsed,
  path: readonly (string | number)[],
  lines: LineCounter,
): number | null {
  for (let length = path.length; length > 0; length--) {
    const within = document.getIn(path.slice(0, length - 1), true);
    const last = path[length - 1];
    const node = isMap(within)
      ? within.items.find(({ key }) => isScalar(key) && key.value === last)?.key
      : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return null;
}

/** Whether there are more values after colons than keys allowed: ten times as fast as parsing everything. */
function hasTooManyColons(text: string, maxKeys: number): boolean {
  let colons = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === ':') colons++;
    if (colons > maxKeys) return true;
  }
  return false;
}

/**
 * Faults of nodes: repeated keys, too many keys, too deep nesting, too many aliases, aliases inside their own anchors.
 */
function faultsOfNodes(document: Document.Parsed, lines: LineCounter, maxKeys: number): string[] {
  const found: string[] = [];
  const anchored = new Map<string, Node>();
  let aliases = 0;
  let keys = 0;
  let isEndless = false;
  let isDeep = false;
  visit(document, {
    Node: (_, node, around) => {
      isDeep ||= around.length > MAX_DEPTH;
      if ('anchor' in node && node.anchor !== undefined) anchored.set(node.anchor, node);
    },
    Map: (_, map) => {
      keys += map.items.length;
      if (keys > maxKeys) return visit.BREAK;
      if (map.anchor !== undefined) anchored.set(map.anchor, map);
      const own = map.items.flatMap(({ key }) => (isScalar(key) && key.value === '__proto__' ? [key] : []));
      for (const { range } of own)
        found.push(`The name __proto__ is not allowed at line ${lines.linePos(range?.[0] ?? 0).line}`);
      for (const offset of repeatedKeys(map)) {
        const { line, col } = lines.linePos(offset);
        found.push(`Map keys must be unique at line ${line}, column ${col}`);
      }
      return undefined;
    },
    Alias: (_, alias, around) => {
      aliases++;
      const meant = anchored.get(alias.source);
      isEndless ||= meant !== undefined && around.includes(meant);
    },
  });
  if (keys > maxKeys) return [tooManyKeys(maxKeys)];
  if (aliases > MAX_ALIASES) found.push(`has ${aliases} aliases; at most ${MAX_ALIASES} are allowed`);
  else if (isDeep) found.push(TOO_DEEP);
  else if (isEndless) found.push('has an alias within its own value');
  return found;
}

/** The positions of keys that already occurred in the same map. */
function repeatedKeys({ items }: YAMLMap): number[] {
  const seen = new Set<unknown>();
  const repeated: number[] = [];
  for (const { key } of items) {
    if (!isScalar(key)) continue;
    if (seen.has(key.value)) repeated.push(key.range?.[0] ?? 0);
    seen.add(key.value);
  }
  return repeated;
}

/** What breaks the text, where, and what was expected there. */
function inPlainWords(error: YAMLParseError, all: readonly YAMLParseError[], text: string): string {
  const lines = text.split('\n');
  const { line, col } = error.linePos?.[0] ?? { line: 1, col: 1 };
  const at = `line ${line}, column ${col}`;
  switch (error.code) {
    case 'TAB_AS_INDENT':
      return `${at}: is indented by a tab; YAML allows only spaces, such as two for each level`;
    case 'BAD_SCALAR_START':
      return `${at}: a value cannot begin with ${lines[line - 1]?.[col - 1] ?? 'this'}; put it in quotes`;
    case 'MULTIPLE_DOCS':
      return `${at}: a second document begins; only one is allowed, so remove the line ---`;
    case 'MULTILINE_IMPLICIT_KEY':
      return `${at}: expected a colon and a blank after the name, as in "port: 8025"`;
    case 'BLOCK_AS_IMPLICIT_KEY': {
      // If a line with several keys follows, that line is indented too deeply; otherwise this line has two keys.
      const under = all.find(({ code }) => code === 'MULTILINE_IMPLICIT_KEY')?.linePos?.[1]?.line ?? line;
      return under > line
        ? wrongIndentation(lines, under)
        : `${at}: a second key is in this line; put a value that contains a colon and a blank in quotes`;
    }
    case 'BAD_INDENT':
      return /^Flow /.test(error.message) ? `${at}: ${unclosed(error)}` : wrongIndentation(lines, line);
    case 'MISSING_CHAR':
      if (/^Sequence item/.test(error.message)) return wrongIndentation(lines, line);
      return /quote/.test(error.message)
        ? `${at}: the text ends within quotes; the closing quote is missing`
        : inItsWords(error, at);
    default:
      return inItsWords(error, at);
  }
}

/** The library's words, after the place as in ours. */
function inItsWords({ message }: YAMLParseError, at: string): string {
  const [words = ''] = message.split('\n', 1);
  return `${at}: ${words.replace(/ at line \d+, column \d+:?$/, '')}`;
}

function unclosed({ message }: YAMLParseError): string {
  const bracket = / end with an? (\S)/.exec(message)?.[1] ?? 'bracket';
  return `expected ${bracket === '}' ? ', or }: a { further up' : ', or ]: a [ further up'} is not closed`;
}

/** Says that a line is wrongly indented, and where it could begin: as deep as a line above that it may belong to. */
function wrongIndentation(lines: readonly string[], from: number): string {
  const isBlank = (content: string) => /^\s*(#|$)/.test(content);
  const line =
    from +
    Math.max(
      0,
      lines.slice(from - 1).findIndex((content) => !isBlank(content)),
    );
  const own = columnsBefore(lines[line - 1]);
  const levels: string[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (let above = line - 1; above > 0 && least > 0; above--) {
    const content = lines[above - 1] ?? '';
    if (isBlank(content)) continue;
    const columns = columnsBefore(content);
    // The text after a list's hyphen is a level of its own.
    const behind = /^ *(- +)\S/.exec(content)?.[1]?.length ?? 0;
    for (const level of behind > 0 ? [columns + behind, columns] : [columns])
      if (level < least) {
        levels.push(`${level} as in line ${above}`);
        least = level;
      }
  }
  const expected = levels.length > 0 ? `; expected ${levels.slice(0, MAX_LEVELS).join(', or ')}` : '';
  return `line ${line}, column ${own + 1}: is indented by ${own} ${own === 1 ? 'space' : 'spaces'}, like no line above that it could belong to${expected}`;
}

/** Most levels to mention. */
const MAX_LEVELS = 3;

function columnsBefore(content = ''): number {
  return content.length - content.trimStart().length;
}
