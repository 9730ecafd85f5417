import { expect, test } from 'vitest';
import { parseEndpoint } from './endpoint.ts';

test.each([
  ['192.0.2.1', '192.0.2.1', 53],
  ['192.0.2.1:5353', '192.0.2.1', 5353],
  ['2001:db8::1', '2001:db8::1', 53],
  ['[2001:db8::1]:65535', '2001:db8::1', 65_535],
])('an address may have a port: %s', (text, address, port) => {
  expect(parseEndpoint(text, 53)).toEqual({ address, port });
});

test.each([
  '',
  'localhost',
  '192.0.2',
  '192.0.2.1:',
  '192.0.2.1:0',
  '192.0.2.1:65536',
  '192.0.2.1:53 ',
  '[192.0.2.1]:53',
  '[2001:db8::1]',
  '[2001:db8::1]:x',
  'fe80::1%eth0',
])('what is neither is none: %s', (text) => {
  expect(parseEndpoint(text, 53)).toBeNull();
});
