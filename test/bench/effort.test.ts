/** How much a benchmark does. */
import { expect, test } from 'vitest';
import { EFFORTS, effortOf } from '../../bench/effort.ts';

test('what the command line says replaces what is usual, one by one', () => {
  expect(effortOf(EFFORTS.quick, { pairs: '3' })).toEqual({ ...EFFORTS.quick, pairs: 3 });
});

test.each(['0', '-1', '1.5', 'many', ''])('an effort of %j is refused', (text) => {
  expect(() => effortOf(EFFORTS.full, { messages: text })).toThrow('--messages must be a number from 1 on');
});
