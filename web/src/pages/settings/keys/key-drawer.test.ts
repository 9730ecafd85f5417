import { expect, test } from 'vitest';
import { keyFaults } from './key-drawer.tsx';
import { NEW_KEY } from './key-form.ts';

const FORM = { ...NEW_KEY, name: 'shop', cidrs: ['10.0.0.0/99', 'nonsense'], senderDomains: ['-x'] };

test.each([
  ['nonsense: not an IP address or range.', 'cidrs'],
  ['10.0.0.0/99: the prefix is too long.', 'cidrs'],
  ['-x is no domain name.', 'senderDomains'],
  ['There is a key named shop already. Choose another name.', 'name'],
])('%s is about %s', (message, field) => {
  expect(keyFaults(new Error(message), FORM)).toEqual({ fields: { [field]: message }, rest: null });
});

test('the rest stands above the buttons', () => {
  expect(keyFaults(new Error('The store is full.'), FORM)).toEqual({
    fields: {},
    rest: 'The store is full.',
  });
  expect(keyFaults(null, FORM)).toEqual({ fields: {}, rest: null });
});
