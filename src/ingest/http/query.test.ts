import { expect, test } from 'vitest';
import { z } from 'zod';
import { Problem } from '../../http/problem.ts';
import {
  asBoolean,
  asInteger,
  type ParameterTable,
  readParameters,
  TIMESTAMP_RULE,
  timestampSchema,
} from './query.ts';

const words = { code: 'wrong', rule: 'right', meaning: '', example: '' };
const TABLE = {
  count: { ...words, schema: z.int().min(1).max(9).default(5), fromText: asInteger },
  color: { ...words, schema: z.array(z.enum(['red', 'blue'])).max(2), repeatable: true },
  loud: { ...words, schema: z.boolean().optional(), fromText: asBoolean },
  since: { ...words, schema: timestampSchema.optional(), rule: TIMESTAMP_RULE },
} satisfies ParameterTable;

const read = (query: string) => readParameters(new URLSearchParams(query), TABLE);

/** The faults of a query: `pointer code detail` of each. */
function faults(query: string, table: ParameterTable = TABLE): string[] {
  try {
    readParameters(new URLSearchParams(query), table);
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_query' && error.status === 400)
      return error.errors.map(({ pointer, code, detail }) => `${pointer} ${code} ${detail}`);
    throw error;
  }
  return [];
}

test('values become what the table says', () => {
  expect(read('')).toEqual({ count: 5, color: [], loud: undefined, since: undefined });
  expect(read('since=1970-01-01T01:00:01%2B01:00&loud=false&color=red&count=9&color=blue')).toEqual({
    count: 9,
    color: ['red', 'blue'],
    loud: false,
    since: 1000,
  });
});

test('every fault is told at once, with the rule and what was given', () => {
  expect(faults('count=0&color=red&color=green&loud=yes&since=now')).toEqual([
    '/count wrong Must be right, not "0".',
    '/color wrong Must be right, not "green".',
    '/loud wrong Must be right, not "yes".',
    `/since wrong Must be ${TIMESTAMP_RULE}, not "now".`,
  ]);
});

test('an offset whose + was not escaped is refused, and the rule says how to write it', () => {
  expect(faults('since=1970-01-01T01:00:01+01:00')).toEqual([expect.stringContaining('%2B')]);
});

test('what may be given once may not be given twice', () =>
  expect(faults('loud=true&loud=true')).toEqual([
    '/loud repeated May be given only once; remove the others.',
  ]));

test('what must be given is asked for', () => {
  const table = { color: { ...TABLE.color, schema: z.array(z.string()).min(1) } };
  expect(faults('', table)).toEqual(['/color required Is required: right.']);
});

test('an unknown name is told, with the one that was meant', () => {
  expect(faults('cuont=1&weight=1&__proto__=1&constructor=1')).toEqual([
    '/cuont unknown_parameter There is no parameter "cuont". Did you mean "count"?',
    '/weight unknown_parameter There is no parameter "weight".',
    '/__proto__ unknown_parameter There is no parameter "__proto__".',
    '/constructor unknown_parameter There is no parameter "constructor".',
  ]);
});

test('an answer tells a hundred faults at most, and never long names or values whole', () => {
  const names = Array.from({ length: 5000 }, (_, place) => `x${place}`);
  expect(faults(names.join('&'))).toHaveLength(100);
  const [name, value] = [...faults(`${'n'.repeat(9000)}=1`), ...faults(`count=${'1'.repeat(9000)}`)];
  expect([name?.length, value?.length]).toEqual([expect.any(Number), expect.any(Number)]);
  expect(Math.max(name?.length ?? 0, value?.length ?? 0)).toBeLessThan(300);
});

test.each(['01', '+1', '1.0', '1e0', '0x1', ' 1', '', '٣', '9'.repeat(40)])('%j is no integer', (text) =>
  expect(faults(`count=${encodeURIComponent(text)}`)).toHaveLength(1),
);
