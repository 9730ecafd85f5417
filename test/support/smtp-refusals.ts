/** Finds in the source what the SMTP listener replies, and by which codes it logs whom it denies something. */
import { WITHHELD } from '../../src/smtp/receiver/session-reply.ts';
import {
  asNode,
  isNamed,
  list,
  type Node,
  readSource,
  sourceFiles,
  texts,
  walk,
  walkFile,
} from './syntax.ts';

const LISTENER = 'src/ingest/smtp/*.ts';
const RECEIVER = 'src/smtp/receiver/*.ts';
/** A reply that is written whole, such as `250 2.0.0 OK`. */
const WHOLE_REPLY = /^([2-5]\d\d)(?: ([245]\.\d+\.\d+))?[ -]/;
const ENHANCED = /^[245]\.\d+\.\d+$/;

/** Every code by which somebody is logged as denied. One that cannot be read here names its file instead. */
export function deniedCodes(): ReadonlySet<string> {
  const codes = new Set<string>(WITHHELD.values());
  for (const path of sourceFiles(LISTENER))
    walkFile(path, (node) => {
      if (node.type === 'CallExpression' && isNamed(node['callee'], /^deny$/)) {
        const found = codeTexts(path, list(node['arguments'])[0]);
        for (const code of found.length > 0 ? found : [`? in ${path}`]) codes.add(code);
      }
      if (isDeclared(node, 'DENIED_ENDS')) for (const code of literals(node)) codes.add(code);
    });
  return codes;
}

/** Every code by which a message is logged as refused. One that cannot be read here names its file instead. */
export function refusedCodes(): ReadonlySet<string> {
  const codes = new Set([
    ...typeTexts('src/smtp/receiver/effect.ts', /^ContentReason$/),
    ...typeTexts('src/smtp/receiver/content-scanner.ts', /^ContentFault$/),
  ]);
  for (const path of sourceFiles(LISTENER))
    walkFile(path, (node) => {
      if (node.type !== 'CallExpression' || !isNamed(node['callee'], /^decline$/)) return;
      const [code] = list(node['arguments']);
      const found = isNamed(code, /^code$/) ? suspensionCodes() : codeTexts(path, code);
      for (const text of found.length > 0 ? found : [`? in ${path}`]) codes.add(text);
    });
  return codes;
}

/** Every code of a session in the log of requests that is no refusal's: why it ended, or came to nothing. */
export function sessionCodes(): ReadonlySet<string> {
  const codes = new Set(typeTexts('src/smtp/receiver/effect.ts', /^CloseReason$/));
  for (const path of ['src/ingest/smtp/session-note.ts', 'src/ingest/smtp/session-log.ts'])
    walkFile(path, (node) => {
      for (const text of node.type === 'Literal' ? texts(node) : []) codes.add(text);
    });
  return codes;
}

/** Why nothing can be sent for now. */
function suspensionCodes(): string[] {
  const path = 'src/engine/contract.ts';
  const found: string[] = [];
  walkFile(path, (node) => {
    if (node.type === 'TSInterfaceDeclaration' && isNamed(node['id'], /^Suspension$/))
      found.push(...literals(node));
  });
  return found;
}

/** Replies of which the code stands in the source, with the enhanced status code where that does too. */
export function sourceReplies(): ReadonlySet<string> {
  const replies = new Set<string>();
  for (const path of [LISTENER, RECEIVER].flatMap(sourceFiles))
    walkFile(path, (node) => {
      for (const reply of [...repliesCalled(node), ...replyWritten(node)]) replies.add(reply);
    });
  return replies;
}

/** Every enhanced status code in the source. */
export function enhancedCodes(): ReadonlySet<string> {
  const codes = [LISTENER, RECEIVER]
    .flatMap(sourceFiles)
    .flatMap((path) => [...readSource(path).matchAll(/\b[245]\.\d+\.\d+\b/g)].map(([code]) => code));
  return new Set(codes);
}

/** The first cells of a document's table, by the beginning of its head. */
export function firstCells(document: string, head: string): string[] {
  const lines = readSource(document).split('\n');
  const begin = lines.findIndex((line) => line.startsWith(`| ${head} |`)) + 2;
  const end = lines.findIndex((line, place) => place >= begin && !line.startsWith('|'));
  return lines.slice(begin, end < 0 ? undefined : end).map((line) => line.split(' | ', 1)[0]?.slice(2) ?? '');
}

/** `deny('code', 550, '5.7.1', …)`, `sessionReply(550, '5.7.1', …)` and the like. */
function repliesCalled(node: Node): string[] {
  if (node.type !== 'CallExpression') return [];
  const given = list(node['arguments']);
  return given.flatMap(({ value }, place) => {
    if (typeof value !== 'number' || value < 200 || value > 599) return [];
    const [enhanced = ''] = texts(given[place + 1]);
    return [ENHANCED.test(enhanced) ? `${value} ${enhanced}` : String(value)];
  });
}

function replyWritten(node: Node): string[] {
  const text = node.type === 'TemplateLiteral' ? cooked(node) : (texts(node)[0] ?? '');
  const [, code, enhanced] = WHOLE_REPLY.exec(text) ?? [];
  if (code === undefined) return [];
  return [enhanced === undefined ? code : `${code} ${enhanced}`];
}

/** What a template begins with. */
function cooked(node: Node): string {
  const value: unknown = list(node['quasis'])[0]?.['value'];
  if (typeof value !== 'object' || value === null || !('cooked' in value)) return '';
  return String(value.cooked);
}

/** A text, both of a choice, all of a template with a reason in it, or what a name was set to in the same file. */
function codeTexts(path: string, node: Node | undefined): string[] {
  if (node?.type === 'ConditionalExpression')
    return [...codeTexts(path, asNode(node['consequent'])), ...codeTexts(path, asNode(node['alternate']))];
  if (node?.type === 'TemplateLiteral') {
    const [reason] = list(node['expressions']);
    return isNamed(reason, /^reason$/) ? authRefusals().map((text) => cooked(node) + text) : [];
  }
  if (node?.type === 'Identifier') return declaredTexts(path, String(node['name']));
  return texts(node);
}

function declaredTexts(path: string, name: string): string[] {
  const found: string[] = [];
  walkFile(path, (node) => {
    if (isDeclared(node, name)) found.push(...codeTexts(path, asNode(node['init'])));
  });
  return found;
}

/** Why a key is not good. */
function authRefusals(): string[] {
  return typeTexts('src/ingest/authenticator.ts', /^AuthRefusal$/);
}

/** Every text of a type. */
function typeTexts(path: string, name: RegExp): string[] {
  const found: string[] = [];
  walkFile(path, (node) => {
    if (node.type === 'TSTypeAliasDeclaration' && isNamed(node['id'], name)) found.push(...literals(node));
  });
  return found;
}

function isDeclared(node: Node, name: string): boolean {
  return node.type === 'VariableDeclarator' && asNode(node['id'])?.['name'] === name;
}

/** Every text below a node. */
function literals(node: Node): string[] {
  const found: string[] = [];
  walk(node, (inner) => found.push(...(inner.type === 'Literal' ? texts(inner) : [])));
  return found;
}
