import { expect, test } from 'vitest';
import {
  createRequest,
  dayAfter,
  formOf,
  type Key,
  keyState,
  NEW_KEY,
  rateWords,
  updateRequest,
} from './key-form.ts';

const KEY: Key = {
  id: 'key_1',
  name: 'shop',
  mode: 'live',
  prefix: 'wb_live_abcd',
  scopes: ['messages:send'],
  createdAt: '2026-11-20T00:00:00.000Z',
  lastUsedAt: null,
  expiresAt: '2027-01-31T12:00:00.000Z',
  revokedAt: null,
  rateLimit: 10,
  cidrs: ['10.0.0.0/8'],
  senderDomains: [],
  contentDays: null,
  recordDays: null,
  accessKeyId: null,
};

test('a new key is asked for with its last day as a whole', () => {
  expect(createRequest({ ...NEW_KEY, name: ' shop ', lastDay: '2027-01-31' })).toEqual({
    name: 'shop',
    test: false,
    scopes: ['messages:send', 'messages:read'],
    rateLimit: null,
    expiresAt: '2027-01-31T23:59:59.999Z',
    cidrs: [],
    senderDomains: [],
    contentDays: null,
    recordDays: null,
    ses: false,
  });
});

test('a form that was not touched changes nothing', () => {
  expect(updateRequest(KEY, formOf(KEY))).toEqual({ key: 'key_1' });
});

test('only what was changed is asked for', () => {
  const form = { ...formOf(KEY), rateLimit: null, lastDay: '', senderDomains: ['example.com'] };
  expect(updateRequest(KEY, form)).toEqual({
    key: 'key_1',
    rateLimit: null,
    expiresAt: null,
    senderDomains: ['example.com'],
  });
});

test.each([
  [{}, 'active', '2026-11-22T00:00:00Z'],
  [{}, 'expiring', '2027-01-25T00:00:00Z'],
  [{}, 'expired', '2027-01-31T12:00:00Z'],
  [{ revokedAt: '2026-11-21T00:00:00Z' }, 'revoked', '2026-11-22T00:00:00Z'],
  [{ expiresAt: null }, 'active', '2099-01-01T00:00:00Z'],
])('%j is %s at %s', (rest, state, now) => {
  expect(keyState({ ...KEY, ...rest }, Date.parse(now))).toBe(state);
});

test.each([
  [null, 100, '100 a minute by default'],
  [null, 0, 'no rate limit by default'],
  [5_000, 100, '5,000 a minute'],
  [0, null, 'no rate limit'],
  [null, null, null],
])('a limit of %j, usually %j, is told as %j', (own, usual, words) => {
  expect(rateWords(own, usual)).toBe(words);
});

test('days are counted in UTC', () => {
  expect(dayAfter(Date.parse('2026-11-22T23:59:59Z'), 30)).toBe('2026-12-22');
});
