import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { shellWord } from './command.ts';

test.for(['/srv/mail', 'my data', "it's", '$(id) `id` "x" \\', '', 'a\nb'])('%j stays one word', (text) => {
  const printed = execFileSync('sh', ['-c', `printf %s, ${shellWord(text)}`], { encoding: 'utf8' });
  expect(printed).toBe(`${text},`);
});

test('what needs no quotes has none', () => {
  expect(shellWord('/srv/mail-1')).toBe('/srv/mail-1');
});
