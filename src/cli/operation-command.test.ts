import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import type { TableForm } from '../operations/command.ts';
import { MESSAGE_OPERATIONS } from '../operations/messages.ts';
import { OPERATION_NAMES, OPERATIONS } from '../operations/table.ts';
import { tableText } from './operation-command.ts';

test('every command of a record is there', async () => {
  const here = new Installation();
  const commands: string[] = [];
  for (const name of OPERATION_NAMES)
    for (const { words } of OPERATIONS[name].commands ?? []) commands.push(words);
  expect(commands.length).toBeGreaterThan(15);
  for (const words of commands) {
    const { status, out } = await here.waybill([...words.split(' '), '--help']);
    expect([status, out.split('\n')[0]]).toEqual([0, expect.stringContaining(`waybill ${words} `)]);
  }
  here.remove();
});

test('what takes --url is an operation that is asked far away', () => {
  const far = OPERATION_NAMES.filter((name) => OPERATIONS[name].commands?.some(({ remote }) => remote));
  expect(far.length).toBeGreaterThan(3);
  expect(far.filter((name) => !Object.hasOwn(MESSAGE_OPERATIONS, name))).toEqual([]);
});

test('what cannot be undone says so', async () => {
  const here = new Installation();
  expect((await here.waybill(['privacy', 'erase', '--help'])).out).toContain('This cannot be undone.');
  here.remove();
});

test('several options make one field, one of them may repeat, and what is needed is missed', async () => {
  const here = new Installation();
  const rules = join(here.folder, 'rules.yaml');
  writeFileSync(rules, 'routes: [{ name: big, match: { tag: b, min_bytes: 100 }, via: [inbox] }]');
  expect((await here.waybill(['routes', 'publish', rules])).status).toBe(0);
  const explain = ['routes', 'explain', '--to', 'bob@example.net'];
  const ruleFor = async (...more: string[]) =>
    (await here.json([...explain, '--from', 'ann@example.com', ...more])).rule;
  expect(await ruleFor('--tag', 'a', '--tag', 'b', '--size', '100')).toBe('big');
  expect(await ruleFor('--tag', 'b', '--size', '99')).toBeNull();
  expect(await ruleFor('--tag', 'a', '--size', '100')).toBeNull();
  const missing = { status: 2, err: expect.stringMatching(/^error: required option '--from <address>'/) };
  expect(await here.waybill(explain)).toMatchObject(missing);
  const mistyped = { status: 2, err: expect.stringMatching(/^error: unknown option '--form'/) };
  expect(await here.waybill([...explain, '--form', 'ann@example.com'])).toMatchObject(mistyped);
  here.remove();
});

test('an option that begins with no- takes back what the one without it sets', async () => {
  const here = new Installation();
  await here.waybill(['domains', 'add', 'example.com', '--algorithm', 'ed25519']);
  const pathBy = async (...options: string[]) =>
    (await here.json(['domains', 'update', 'example.com', ...options])).returnPath;
  expect(await pathBy('--return-path', 'bounces.example.com')).toMatchObject({
    domain: 'bounces.example.com',
  });
  expect(await pathBy('--no-return-path')).toBeNull();
  here.remove();
});

interface Row {
  readonly name: string;
  readonly at: string;
}

const NAMES: TableForm<Row> = {
  columns: { NAME: ({ name }) => name, AT: ({ at }) => at },
  empty: 'Nobody.',
};
const ROWS = [{ name: 'a name that is long', at: '2026-11-22T10:20:30.456Z' }];

test('rows stand under the headings, and where there are none that is said', () => {
  expect(tableText(NAMES, [], 20)).toBe('Nobody.');
  const whole = 'NAME                 AT\na name that is long  2026-11-22T10:20:30.456Z';
  expect(tableText(NAMES, ROWS, 32)).toBe(whole);
  expect(tableText({ ...NAMES, fits: true }, ROWS, null)).toBe(whole);
});

test('a table that is to fit is cut on a terminal, and its times are short', () => {
  expect(tableText({ ...NAMES, fits: true }, ROWS, 36)).toBe(
    'NAME               AT\na name that is l…  2026-11-22T10:20Z',
  );
});
