import { expect, test } from 'vitest';
import { formatFault, showValue } from './fault.ts';

test('a fault is one line that can be printed, whatever stands in its names and values', () => {
  const value = showValue('\x1b[2J\x9b2J\u2028ü');
  expect(formatFault({ key: 'a\x1b[2J\r\n\x7f', value, rule: 'no such setting', source: 'x.yaml' })).toBe(
    'a\\u001b[2J\\u000d\\u000a\\u007f = "\\u001b[2J\\u009b2J\\u2028ü": no such setting (x.yaml)',
  );
});
