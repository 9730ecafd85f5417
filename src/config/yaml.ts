import { type Document, isScalar, LineCounter, type Node, parseDocument, visit, type YAMLMap } from 'yaml';
import { readError } from '../lib/read-error.ts';

/** What a text says, null if nothing; or every fault that is found in it, as rules. */
export type ReadYaml =
  | { readonly ok: true; readonly root: unknown }
  | { readonly ok: false; readonly rules: readonly string[] };

/** Each is resolved among all anchors: more than anybody writes, and soon done. */
const MAX_ALIASES = 100;
/** Nodes around a node, pairs of maps too: far more than any setting has. */
const MAX_DEPTH = 64;
const TOO_DEEP = 'is nested too deeply';
/** What the engine says when calls have gone too deep. */
const OUT_OF_STACK = /call stack|stack overflow/i;

const LONE_CR = /\r(?!\n)/;

/** Reads YAML in time that grows as the text does: what the library compares with everything is looked at here. */
export function readYaml(text: string): ReadYaml {
  try {
    return readDocument(text);
  } catch (error) {
    if (error instanceof RangeError) return { ok: false, rules: [TOO_DEEP] };
    throw error;
  }
}

function readDocument(text: string): ReadYaml {
  // The library looks at each run of them once from each of its places.
  const lone = LONE_CR.exec(text);
  if (lone !== null) {
    const line = text.slice(0, lone.index).split('\n').length;
    return { ok: false, rules: [`has a carriage return without a line feed behind it at line ${line}`] };
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { logLevel: 'error', uniqueKeys: false, lineCounter: lines });
  const rules = document.errors.map(({ message }) => message.split('\n', 1)[0] ?? '');
  // The library goes into each level by a call, and takes what that throws for errors of the text, mostly.
  if (rules.some((rule) => OUT_OF_STACK.test(rule))) return { ok: false, rules: [TOO_DEEP] };
  if (rules.length === 0) rules.push(...faultsOfNodes(document, lines));
  if (rules.length > 0) return { ok: false, rules };
  try {
    // Throws for an alias of nothing, and for aliases of aliases that come to more than could be meant.
    return { ok: true, root: document.toJS() };
  } catch (error) {
    return { ok: false, rules: [`cannot be read: ${readError(error)}`] };
  }
}

/** Keys that stand twice in a map; what is nested too deeply; too many aliases, and such as stand within what they stand for. */
function faultsOfNodes(document: Document.Parsed, lines: LineCounter): string[] {
  const found: string[] = [];
  const anchored = new Map<string, Node>();
  let aliases = 0;
  let isEndless = false;
  let isDeep = false;
  visit(document, {
    Node: (_, node, around) => {
      isDeep ||= around.length > MAX_DEPTH;
      if ('anchor' in node && node.anchor !== undefined) anchored.set(node.anchor, node);
    },
    Map: (_, map) => {
      if (map.anchor !== undefined) anchored.set(map.anchor, map);
      for (const offset of repeatedKeys(map)) {
        const { line, col } = lines.linePos(offset);
        found.push(`Map keys must be unique at line ${line}, column ${col}`);
      }
    },
    Alias: (_, alias, around) => {
      aliases++;
      const meant = anchored.get(alias.source);
      isEndless ||= meant !== undefined && around.includes(meant);
    },
  });
  if (aliases > MAX_ALIASES) found.push(`has ${aliases} aliases, and may have ${MAX_ALIASES}`);
  else if (isDeep) found.push(TOO_DEEP);
  else if (isEndless) found.push('has an alias within what it stands for');
  return found;
}

/** Where the keys stand that another of the map made a value of before. */
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
