import { expect, test } from 'vitest';
import { type RoutingTable, route } from './route.ts';

const TABLE: RoutingTable = { version: 1, defaultRelay: 'out', postmaster: 'postmaster@mail.example.org' };

test.each([
  ['postmaster@mail.example.org', 'inbox', 'postmaster'],
  ['Postmaster@Mail.Example.ORG', 'inbox', 'postmaster'],
  ['postmaster@example.org', 'out', null],
  ['postmaster@sub.mail.example.org', 'out', null],
  ['postmaster+x@mail.example.org', 'out', null],
  ['ann@mail.example.org', 'out', null],
])('while nobody is named, only our own postmaster is local: %s', (recipient, relay, rule) => {
  expect(route({ recipient, test: false }, TABLE)).toEqual({ relay, rule });
});

test('where somebody is named postmaster, no address is local', () => {
  const table = { ...TABLE, postmaster: null };
  expect(route({ recipient: 'postmaster@mail.example.org', test: false }, table)).toEqual({
    relay: 'out',
    rule: null,
  });
});

test("a test key's mail is always local", () => {
  expect(route({ recipient: 'ann@example.net', test: true }, TABLE)).toEqual({
    relay: 'inbox',
    rule: 'test-key',
  });
});
