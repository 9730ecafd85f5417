import { expect, test } from 'vitest';
import { isFullName } from './names.ts';

test.each(['mail.example.com', 'MX.Example.COM', 'a.co', 'host.locality.example'])(
  '%s is a full name',
  (name) => {
    expect(isFullName(name)).toBe(true);
  },
);

test.each([
  'mail',
  'localhost',
  'localhost.localdomain',
  'mac.local',
  'box.lan',
  'srv.internal',
  'pc.home.arpa',
  '192.0.2.1',
])('%s is none', (name) => {
  expect(isFullName(name)).toBe(false);
});

test('within a network its own names will do', () => {
  expect(isFullName('srv.internal', true)).toBe(true);
  expect(isFullName('srv.localhost', true)).toBe(false);
});
