import { expect, test } from 'vitest';
import { Problem } from './problem.ts';
import { Router, targetOf } from './router.ts';

const router = new Router([
  { method: 'POST', path: '/v1/messages', target: 'submit' },
  { method: 'GET', path: '/v1/messages', target: 'list' },
  { method: 'POST', path: '/v1/messages/batch', target: 'batch' },
  { method: 'GET', path: '/v1/messages/{id}', target: 'show' },
  { method: 'GET', path: '/v1/messages/{id}/attempts', target: 'attempts' },
  { method: 'POST', path: '/v3/{domain}/messages', target: 'mailgun' },
]);

test.each([
  ['/v1/messages', '/v1/messages', {}],
  ['/v1/%6Dessages', '/v1/messages', {}],
  ['/v1/messages/a%20%2Fb', '/v1/messages/{id}', { id: 'a /b' }],
  ['/v1/messages/batch', '/v1/messages/batch', {}],
  ['/v1/messages/batch/attempts', '/v1/messages/{id}/attempts', { id: 'batch' }],
  ['/v3/example.com/messages', '/v3/{domain}/messages', { domain: 'example.com' }],
  ['/v1/messages/__proto__', '/v1/messages/{id}', { id: '__proto__' }],
])('%s is %s', (path, pattern, params) => {
  const match = router.match(path);
  expect(match?.pattern).toBe(pattern);
  expect(match?.params).toEqual(params);
});

test.each([
  '/',
  '',
  '/v1',
  '/v1/messages/',
  '/v1//messages',
  '/v1/messages/a/b',
  '/V1/messages',
  '*',
  'v1/messages',
  '/v1/messages/%zz',
  '/v1/messages/%ff',
  '/v1/constructor',
])('nothing is at %j', (path) => expect(router.match(path)).toBeNull());

test('the method chooses, HEAD as GET, and another is a 405 that says what would do', () => {
  const match = router.match('/v1/messages');
  if (match === null) throw new Error('no match');
  expect(targetOf(match, 'POST')).toBe('submit');
  expect(targetOf(match, 'HEAD')).toBe('list');
  expect(match.allow).toBe('POST, GET, HEAD, OPTIONS');
  expect(() => targetOf(match, 'PUT')).toThrow(
    expect.objectContaining({ status: 405, headers: { Allow: 'POST, GET, HEAD, OPTIONS' } }),
  );
  expect(() => targetOf(match, 'toString')).toThrow(Problem);
});
