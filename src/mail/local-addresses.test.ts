import { expect, test } from 'vitest';
import { wholeAddresses } from './local-addresses.ts';

test.each([
  ['root', 'root@h', ['root@h']],
  ['root (Cron Daemon)', 'root@h (Cron Daemon)', ['root@h']],
  ['Jane <jane>, b@x.example', 'Jane <jane@h>, b@x.example', ['jane@h', 'b@x.example']],
  ['"A, (B" <a@x.example>,c', '"A, (B" <a@x.example>,c@h', ['a@x.example', 'c@h']],
  ['"odd name"', '"odd name"@h', ['"odd name"@h']],
  ['"odd@name"@x.example', '"odd@name"@x.example', ['"odd@name"@x.example']],
  [
    'staff: jane, joe@x.example; root',
    'staff: jane@h, joe@x.example; root@h',
    ['jane@h', 'joe@x.example', 'root@h'],
  ],
  ['undisclosed-recipients:;', 'undisclosed-recipients:;', []],
  ['<@relay.example:a@x.example>', '<@relay.example:a@x.example>', ['a@x.example']],
  ['Nobody <>', 'Nobody <>', []],
  ['a (b (c) "), d', 'a@h (b (c) "), d@h', ['a@h', 'd@h']],
  ['', '', []],
])('an address without a domain gets one, whatever surrounds it: %j', (value, text, addresses) => {
  expect(wholeAddresses(value, 'h')).toEqual({ text, addresses });
});

test('what is no address list stays as it is, in linear time', () => {
  for (const value of ['('.repeat(50_000), '"'.repeat(50_001), '<'.repeat(50_000), '\\'.repeat(50_000)])
    expect(wholeAddresses(value, 'h').text.replace('@h', '')).toBe(value);
});
