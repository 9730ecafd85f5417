import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { dataOption, shellWord } from './command.ts';

afterEach(() => vi.unstubAllEnvs());

test.for(['/srv/mail', 'my data', "it's", '$(id) `id` "x" \\', '', 'a\nb'])('%j stays one word', (text) => {
  const printed = execFileSync('sh', ['-c', `printf %s, ${shellWord(text)}`], { encoding: 'utf8' });
  expect(printed).toBe(`${text},`);
});

test('what needs no quotes has none', () => {
  expect(shellWord('/srv/mail-1')).toBe('/srv/mail-1');
});

test('a command is told its data directory unless it finds it by itself', () => {
  vi.stubEnv('WAYBILL_DATA', undefined);
  expect([dataOption(resolve('data')), dataOption('/srv/my mail')]).toEqual(['', " --data '/srv/my mail'"]);
  vi.stubEnv('WAYBILL_DATA', '/srv/my mail/');
  expect([dataOption(resolve('data')), dataOption('/srv/my mail')]).toEqual([
    ` --data ${resolve('data')}`,
    '',
  ]);
});
