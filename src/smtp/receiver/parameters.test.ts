import { expect, test } from 'vitest';
import { readMailParameters, readRcptParameters } from './parameters.ts';

test('parameters are read by name, typed, whatever their order and case', () => {
  expect(readMailParameters('  smtputf8 Size=12 RequireTLS BODY=8bitmime ')).toEqual({
    ok: true,
    value: {
      sizeBytes: 12,
      body: '8BITMIME',
      utf8: true,
      ret: null,
      envid: null,
      auth: null,
      requireTls: true,
    },
  });
  expect(readRcptParameters('')).toEqual({ ok: true, value: { notify: null, orcpt: null } });
});

test.each([
  ['SIZE=1 SIZE=2', 501],
  ['SIZE=1,5', 501],
  ['__proto__=1', 501],
  ['constructor=1', 555],
])('%j gets %d', (text, code) => {
  expect(readMailParameters(text)).toMatchObject({ ok: false, reply: { code } });
});
