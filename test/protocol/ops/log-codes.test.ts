/** docs/operations.md has every event of the log, and no other. */
import { expect, test } from 'vitest';
import { firstCells } from '../../support/smtp-refusals.ts';
import { asNode, isNamed, list, sourceFiles, texts, walkFile } from '../../support/syntax.ts';

/** Events in the first argument of `log.info(…)` and the like. One that cannot be read here names its file instead. */
function loggedEvents(): ReadonlySet<string> {
  const events = new Set<string>();
  for (const path of sourceFiles('src/**/*.ts'))
    walkFile(path, (node) => {
      const callee = asNode(node['callee']);
      if (node.type !== 'CallExpression' || callee?.type !== 'MemberExpression') return;
      if (!isNamed(callee['object'], /^(log|line)$/) || writesNoLine(callee)) return;
      const [event] = list(node['arguments']);
      const found = eventTexts(event);
      for (const text of found.length > 0 ? found : [`? in ${path}`]) events.add(text);
    });
  return events;
}

/** A log can do more than write, such as flush. */
function writesNoLine(callee: NonNullable<ReturnType<typeof asNode>>): boolean {
  return callee['computed'] !== true && !isNamed(callee, /^(debug|info|warn|error)$/);
}

/** Both of a choice, also of one within another. */
function eventTexts(value: unknown): string[] {
  const node = asNode(value);
  if (node?.type !== 'ConditionalExpression') return texts(node);
  return [...eventTexts(node['consequent']), ...eventTexts(node['alternate'])];
}

test('every event of the log is in the table of events, and no other', () => {
  const told = firstCells('docs/operations.md', 'Event | Level | What happened');
  const events = told.flatMap((cell) => [...cell.matchAll(/`([a-z_.]+)`/g)].map(([, event = '']) => event));
  expect(events.sort()).toEqual([...loggedEvents()].sort());
});
