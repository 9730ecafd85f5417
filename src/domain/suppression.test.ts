import { describe, expect, test } from 'vitest';
import {
  type Asking,
  expiryOf,
  merged,
  parseScope,
  SUPPRESSION_REASONS,
  type Suppression,
  scopeOf,
  stoppedBy,
  streamKey,
} from './suppression.ts';

const DAY = 86_400_000;
const NOW = 1_790_000_000_000;

const entry = (more: Partial<Suppression> = {}): Suppression => ({
  id: 'sup_1',
  address: 'ann@example.org',
  scope: 'global',
  stream: null,
  reason: 'hard_bounce',
  source: 'smtp',
  evidence: null,
  note: '',
  createdAt: NOW,
  updatedAt: NOW,
  expiresAt: null,
  ...more,
});
const mail: Asking = {
  fromDomain: 'example.com',
  keyId: 'shop',
  test: false,
  stream: 'news',
  ignores: false,
};
const isStopped = (more: Partial<Suppression>, asking: Partial<Asking> = {}) =>
  stoppedBy([entry(more)], { ...mail, ...asking }, NOW) !== null;

describe('what stops a message', () => {
  test('an entry of its scope', () => {
    for (const scope of ['global', 'domain:example.com', 'key:shop'] as const)
      expect(isStopped({ scope })).toBe(true);
    for (const scope of ['domain:example.net', 'domain:mail.example.com', 'key:Shop', 'key:'] as const)
      expect(isStopped({ scope })).toBe(false);
    expect(isStopped({ scope: 'key:shop' }, { keyId: null })).toBe(false);
    expect(isStopped({ scope: 'domain:example.com' }, { fromDomain: null })).toBe(false);
  });

  test('a test key’s mail by entries of that key alone', () => {
    expect(isStopped({ scope: 'key:shop' }, { test: true })).toBe(true);
    for (const scope of ['global', 'domain:example.com'] as const)
      expect(isStopped({ scope }, { test: true })).toBe(false);
  });

  test('one with a stream stops that stream, one without all', () => {
    expect(isStopped({ stream: 'news' })).toBe(true);
    expect(isStopped({ stream: 'news' }, { stream: 'orders' })).toBe(false);
    expect(isStopped({ stream: 'news' }, { stream: null })).toBe(false);
    expect(isStopped({ stream: null }, { stream: 'orders' })).toBe(true);
  });

  test('not after its end', () => {
    expect(isStopped({ expiresAt: NOW + 1 })).toBe(true);
    expect(isStopped({ expiresAt: NOW })).toBe(false);
  });

  test('a sender who ignores the list ignores all but complaints', () => {
    expect(SUPPRESSION_REASONS.filter((reason) => isStopped({ reason }, { ignores: true }))).toEqual([
      'complaint',
    ]);
  });

  test('of several the strongest, then the widest, then the oldest, in whatever order they are found', () => {
    const weak = entry({ id: 'sup_a', reason: 'soft_bounces' });
    const strong = entry({ id: 'sup_b', reason: 'unsubscribe', scope: 'key:shop', stream: 'news' });
    const wide = entry({ id: 'sup_c', reason: 'unsubscribe', scope: 'domain:example.com', stream: 'news' });
    const wider = entry({ id: 'sup_d', reason: 'unsubscribe', scope: 'domain:example.com' });
    const older = entry({ ...wider, id: 'sup_e', createdAt: NOW - 1 });
    const foreign = entry({ id: 'sup_f', reason: 'complaint', scope: 'key:other' });
    const order = [older, wider, wide, strong, weak];
    for (let from = 0; from < order.length; from++) {
      const left = [foreign, ...order.slice(from)];
      expect(stoppedBy(left, mail, NOW)).toBe(order[from]);
      expect(stoppedBy(left.reverse(), mail, NOW)).toBe(order[from]);
    }
    expect(stoppedBy([foreign], mail, NOW)).toBeNull();
  });
});

test('a scope is read in its normal form', () => {
  expect(parseScope('global')).toEqual({ ok: true, value: 'global' });
  expect(parseScope('domain:Bücher.example')).toEqual({ ok: true, value: 'domain:xn--bcher-kva.example' });
  expect(parseScope('key:Shop 1')).toEqual({ ok: true, value: 'key:Shop 1' });
  for (const text of [
    '',
    'Global',
    'domain:',
    'domain:a b',
    'key:',
    'key:a\nb',
    `key:${'a'.repeat(101)}`,
    'user:ann',
  ])
    expect(parseScope(text)).toMatchObject({ ok: false, code: 'scope' });
});

test('a stream is compared without regard to case', () => {
  expect(streamKey(' News.Example.COM ')).toBe('news.example.com');
  for (const text of ['', ' ', 'a\nb', 'a'.repeat(256)]) expect(streamKey(text)).toBeNull();
});

test('whose an entry is that makes itself', () => {
  expect(scopeOf('global', mail)).toBe('global');
  expect(scopeOf('domain', mail)).toBe('domain:example.com');
  expect(scopeOf('key', mail)).toBe('key:shop');
  expect(scopeOf('domain', { ...mail, fromDomain: null })).toBe('key:shop');
  expect(scopeOf('key', { ...mail, keyId: null })).toBe('domain:example.com');
  expect(scopeOf('domain', { fromDomain: null, keyId: null, test: false })).toBe('global');
  expect(scopeOf('global', { ...mail, test: true })).toBe('key:shop');
  expect(scopeOf('global', { ...mail, keyId: null, test: true })).toBeNull();
});

test('entries end by their reason', () => {
  const days = { hard: 0, soft: 30, provider: 90, complaint: 1, unsubscribe: 2 };
  expect(SUPPRESSION_REASONS.map((reason) => expiryOf(reason, days, NOW))).toEqual([
    NOW + DAY,
    NOW + 2 * DAY,
    null,
    null,
    null,
    NOW + 90 * DAY,
    NOW + 30 * DAY,
  ]);
});

describe('an entry that is made again', () => {
  const evidence = { messageId: 'msg_1', at: NOW, code: 550, enhancedCode: '5.1.1', text: 'User unknown' };

  test('keeps the stronger reason with its source, its id and its beginning', () => {
    for (const [strong, reason] of SUPPRESSION_REASONS.entries())
      for (const [other, added] of SUPPRESSION_REASONS.entries()) {
        const standing = entry({ reason, source: 'arf', createdAt: NOW - DAY, updatedAt: NOW - DAY });
        const both = merged(standing, entry({ id: 'sup_2', reason: added, source: 'smtp' }));
        const keeps = strong < other;
        expect(both).toMatchObject({ id: 'sup_1', createdAt: NOW - DAY, updatedAt: NOW });
        expect(both).toMatchObject(keeps ? { reason, source: 'arf' } : { reason: added, source: 'smtp' });
      }
  });

  test('has the new evidence and note, where there are any', () => {
    const standing = entry({ evidence, note: 'asked to' });
    expect(merged(standing, entry())).toMatchObject({ evidence, note: 'asked to' });
    const newer = { ...evidence, text: 'Still unknown' };
    expect(merged(standing, entry({ evidence: newer, note: 'again' }))).toMatchObject({
      evidence: newer,
      note: 'again',
    });
  });

  test('ends anew for the same reason, and never sooner for another', () => {
    const ends = (
      reason: Suppression['reason'],
      had: number | null,
      added: Suppression['reason'],
      gets: number | null,
    ) => merged(entry({ reason, expiresAt: had }), entry({ reason: added, expiresAt: gets })).expiresAt;
    expect(ends('manual', null, 'manual', NOW + 5)).toBe(NOW + 5);
    expect(ends('hard_bounce', NOW + 5, 'hard_bounce', null)).toBeNull();
    expect(ends('complaint', null, 'soft_bounces', NOW + 5)).toBeNull();
    expect(ends('soft_bounces', NOW + 5, 'complaint', null)).toBeNull();
    expect(ends('provider', NOW + 9, 'soft_bounces', NOW + 5)).toBe(NOW + 9);
    expect(ends('soft_bounces', NOW + 5, 'provider', NOW + 9)).toBe(NOW + 9);
  });
});
