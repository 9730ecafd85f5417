import { expect, test } from 'vitest';
import { formatFault, showValue } from './fault.ts';

test('a fault is one line that can be printed, whatever stands in its names and values', () => {
  const value = showValue('\x1b[2J\x9b2J\u2028ü');
  expect(formatFault({ key: 'a\x1b[2J\r\n\x7f', value, rule: 'no such setting', source: 'x.yaml' })).toBe(
    'a\\u001b[2J\\u000d\\u000a\\u007f = "\\u001b[2J\\u009b2J\\u2028ü": no such setting (x.yaml)',
  );
});

test('a fault is a short line, however long a name was written', () => {
  const long = 'x'.repeat(60_000);
  const line = formatFault({
    key: `routes[0].${long}`,
    value: showValue(long),
    rule: long,
    source: `environment ${long}`,
  });
  expect(line).toMatch(/^routes\[0\]\.x{490}… = "x{99}…: x{500}… \(environment x{488}…\)$/);
});
