import { expect, test } from 'vitest';
import { strengthOf } from './new-password.tsx';

test.each([
  ['', 0, 'At least 12'],
  ['short', 0, '7 more characters are needed.'],
  ['elevenchars', 0, 'One more character is needed.'],
  ['aaaaaaaaaaaaaaaa', 1, 'repeats'],
  ['abcdefghijklmnop', 1, 'pattern'],
  ['password123456', 1, 'password'],
  ['annabelle12345', 1, 'your name'],
  ['kiwi-lamp-Oct7!', 4, 'Strong'],
  ['correct horse battery staple', 4, 'Strong'],
  ['mzkqpwhxvtan', 2, 'Fair'],
])('%j is told as %i', (password, level, told) => {
  const strength = strengthOf(password, 'annabelle');
  expect(strength.told).toContain(told);
  expect(strength.level).toBe(level);
});

test('characters beyond the first plane count once', () => {
  expect(strengthOf('😀😀😀😀😀😀', 'ann').told).toBe('6 more characters are needed.');
});
