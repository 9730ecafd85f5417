import { expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import type { TableForm } from '../operations/command.ts';
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
