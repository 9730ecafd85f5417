import { expect, it } from 'vitest';
import { isNode, type Node, readTree, type SourceFile } from '../../../tools/source-tree.ts';

const files = readTree('src/store/plain/*.ts').filter(({ path }) => !path.endsWith('.test.ts'));
/** Functions that return a `Work`, and so do nothing by themselves. */
const makers = new Set(files.flatMap(({ nodes }) => nodes.filter(makesWork).map(({ id }) => nameOf(id))));

it('runs every piece of work by yield*, or returns it', () => {
  expect(makers).toContain('send');
  expect(makers).toContain('removeLinksOf');
  expect(files.flatMap(forgotten)).toEqual([]);
});

/** Places where work is made and dropped: the types cannot tell such a call from one that has happened. */
function forgotten({ path, text, nodes }: SourceFile): string[] {
  const used = new Set(nodes.map(takenBy));
  return nodes
    .filter((node) => makers.has(nameOf(node['callee'] ?? node['tag'])) && !used.has(node))
    .map(({ start, end }) => `${path}:${text.slice(0, start).split('\n').length}: ${text.slice(start, end)}`);
}

/** The expression that a node runs as work, or hands on. */
function takenBy({ type, delegate, argument, body }: Node): unknown {
  if (type === 'YieldExpression') return delegate === true ? argument : null;
  if (type === 'ReturnStatement') return argument;
  return type === 'ArrowFunctionExpression' ? body : null;
}

function makesWork({ type, returnType }: Node): boolean {
  if (type !== 'FunctionDeclaration' || !isNode(returnType)) return false;
  const { typeAnnotation } = returnType;
  return isNode(typeAnnotation) && nameOf(typeAnnotation['typeName']) === 'Work';
}

function nameOf(value: unknown): string {
  return isNode(value) && value.type === 'Identifier' ? String(value['name']) : '';
}
