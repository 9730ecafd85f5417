import { expect, test } from 'vitest';
import {
  algorithmsOf,
  type DomainKey,
  keyState,
  keysIn,
  newSelector,
  nextForgotten,
  OVERLAP_MS,
  recordUntil,
  SELECTOR,
  type SendingDomain,
  switched,
  withNewKeys,
  withoutOverdue,
} from './domain-keys.ts';

const T = Date.UTC(2026, 10, 22, 1);

function key(selector: string, more: Partial<DomainKey> = {}): DomainKey {
  return {
    selector,
    algorithm: 'rsa-sha256',
    publicKey: 'pub',
    privateKey: 'priv',
    createdAt: T,
    activeSince: T,
    retiredAt: null,
    ...more,
  };
}

const waits = (selector: string) => key(selector, { activeSince: null });
const domain = (...keys: DomainKey[]): SendingDomain => ({
  name: 'example.com',
  since: T,
  keys,
  returnPath: null,
});
/** The keys as `selector state`, with `!` when their secret is gone. */
const shown = ({ keys }: SendingDomain) =>
  keys.map((one) => `${one.selector} ${keyState(one)}${one.privateKey === null ? '!' : ''}`);

test('new keys wait while others sign, and sign in their place once they are switched to', () => {
  const rotated = withNewKeys(domain(key('a'), key('b')), [waits('c')], T, false);
  expect(shown(rotated)).toEqual(['a signing', 'b signing', 'c waiting']);
  const after = switched(rotated, T + 5);
  expect(shown(after)).toEqual(['a retired', 'b retired', 'c signing']);
  expect(after.keys.map(({ activeSince, retiredAt }) => [activeSince, retiredAt])).toEqual([
    [T, T + 5],
    [T, T + 5],
    [T + 5, null],
  ]);
});

test('new keys sign at once when that is wanted, and when no other can', () => {
  expect(shown(withNewKeys(domain(key('a')), [waits('b')], T, true))).toEqual(['a retired', 'b signing']);
  expect(shown(withNewKeys(domain(), [waits('a'), waits('b')], T, false))).toEqual([
    'a signing',
    'b signing',
  ]);
  const blind = domain(key('a', { privateKey: null }));
  expect(shown(withNewKeys(blind, [waits('b')], T, false))).toEqual(['a retired!', 'b signing']);
});

test('keys that wait are given up for newer ones, and switching without any changes nothing', () => {
  const twice = withNewKeys(domain(key('a'), waits('b')), [waits('c')], T, false);
  expect(shown(twice)).toEqual(['a signing', 'c waiting']);
  const none = domain(key('a'));
  expect(switched(none, T)).toBe(none);
});

test('a retired key is forgotten after the overlap, and not before', () => {
  const old = domain(key('a', { retiredAt: T }), key('b'));
  expect(withoutOverdue(old, T + OVERLAP_MS - 1)).toBe(old);
  expect(shown(withoutOverdue(old, T + OVERLAP_MS))).toEqual(['b signing']);
  expect(old.keys.map(recordUntil)).toEqual([T + OVERLAP_MS, null]);
  expect([nextForgotten(old), nextForgotten(domain(key('b')))]).toEqual([T + OVERLAP_MS, null]);
});

test('new keys are made for what the domain signs with now', () => {
  const edwards = key('e', { algorithm: 'ed25519-sha256' });
  expect(algorithmsOf(domain(key('r', { retiredAt: T }), edwards))).toEqual(['ed25519-sha256']);
  expect(algorithmsOf(domain(key('r'), edwards, key('r2')))).toEqual(['rsa-sha256', 'ed25519-sha256']);
  expect(keysIn(domain(key('r'), waits('w')), 'waiting').map(({ selector }) => selector)).toEqual(['w']);
});

test('a selector tells day and algorithm, and none is given twice', () => {
  const names = ['wb20261122r', 'wb20261122r2', 'wb20261122r3'];
  for (const [index, name] of names.entries())
    expect(newSelector(domain(...names.slice(0, index).map((taken) => key(taken))), 'rsa-sha256', T)).toBe(
      name,
    );
  expect(newSelector(null, 'ed25519-sha256', T)).toBe('wb20261122e');
  for (const name of [...names, 'a', 'a'.repeat(63)]) expect(SELECTOR.test(name)).toBe(true);
  for (const name of ['', '-a', 'a-', 'a.b', 'A', 'a_b', 'a'.repeat(64), 'a\n'])
    expect(SELECTOR.test(name)).toBe(false);
});
