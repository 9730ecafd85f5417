import { expect, it } from 'vitest';
import { plainText } from './values.tsx';

it('shows controls and overrides of the direction as escapes', () => {
  expect(plainText('a\u202egpj.exe\u0000\u001b[31m')).toBe('a\\u202egpj.exe\\u0000\\u001b[31m');
});

it('leaves words of every script, tabs and lines as they are', () => {
  const text = 'Grüße\tשלום\nمرحبا 👩‍👩‍👧 e\u0301';
  expect(plainText(text)).toBe(text);
  expect(plainText('a\r\nb')).toBe('a\nb');
});

it('piles no more than a few marks on a letter', () => {
  expect(plainText(`z${'\u0301'.repeat(500)}z`)).toBe(`z${'\u0301'.repeat(4)}z`);
});

it('has an end', () => {
  expect(plainText('x'.repeat(1_000_000)).length).toBeLessThan(20_010);
});
