import { expect, it } from 'vitest';
import { refusalOf, type ServerFacts } from './open.ts';

const GOOD: ServerFacts = {
  version: 140_000,
  encoding: 'UTF8',
  standby: false,
  fsync: 'on',
  synchronousCommit: 'on',
};

it('takes a server that is good, and one that flushes elsewhere, too', () => {
  expect(refusalOf(GOOD, false)).toBeNull();
  expect(refusalOf({ ...GOOD, version: 180_001 }, false)).toBeNull();
  for (const synchronousCommit of ['local', 'remote_write', 'remote_apply'])
    expect(refusalOf({ ...GOOD, synchronousCommit }, false)).toBeNull();
});

it.each<[Partial<ServerFacts>, RegExp]>([
  [{ version: 130_014 }, /PostgreSQL 13 is too old: 14 or newer/],
  [{ version: 90_624 }, /PostgreSQL 9 is too old/],
  [{ standby: true }, /standby.*primary/],
  [{ encoding: 'SQL_ASCII' }, /SQL_ASCII.*ENCODING 'UTF8'/],
])('refuses %o, and says what to do', (facts, sentence) => {
  expect(refusalOf({ ...GOOD, ...facts }, false)).toMatch(sentence);
  expect(refusalOf({ ...GOOD, ...facts }, true)).toMatch(sentence);
});

it.each<[Partial<ServerFacts>, RegExp]>([
  [{ fsync: 'off' }, /fsync = on/],
  [{ synchronousCommit: 'off' }, /synchronous_commit is off.*to on/],
])('refuses %o unless what it may lose is nobody’s', (facts, sentence) => {
  expect(refusalOf({ ...GOOD, ...facts }, false)).toMatch(sentence);
  expect(refusalOf({ ...GOOD, ...facts }, true)).toBeNull();
});
