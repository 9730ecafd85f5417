/** What stands in the head of a request, but for what Node reads itself: target, addresses, host, cookie, key. */
import { isIP } from 'node:net';
import { expect, test } from 'vitest';
import { HostCookie } from '../../src/dashboard/visitors.ts';
import { clientAddress } from '../../src/http/exchange.ts';
import { parseQuery, parseTarget } from '../../src/http/form.ts';
import { Problem } from '../../src/http/problem.ts';
import { Router } from '../../src/http/router.ts';
import { idempotencyKeyFault } from '../../src/ingest/message-rules.ts';
import { isOwnHost, parseCidrs, parseEndpoint } from '../../src/lib/network.ts';
import { restOf } from '../../src/transport/providers/judge.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { anyText, textOf } from './inputs.ts';

const FIELDS = corpus('http-field', (bytes) => bytes.toString('latin1'));

const target = textOf(
  ...([
    '/',
    'v1',
    'messages',
    '/',
    ':id',
    '%2F',
    '%2e',
    '..',
    '?',
    '&',
    '=',
    '%',
    '%zz',
    '%c3%bc',
    '#',
  ] as const),
  ...['http://x.test', '//', '\\', '*', ';', '+', '__proto__'],
).map((text) => `/${text}`);
const router = new Router([
  { method: 'GET', path: '/v1/messages', target: 'list' },
  { method: 'GET', path: '/v1/messages/{id}', target: 'one' },
  { method: 'GET', path: '/v1/{kind}/events', target: 'events' },
]);

test('any target has a path and a query, and leads to one place or to none', () =>
  fuzz(
    'request target',
    { made: target, corpus: corpus('query', (bytes) => bytes.toString('latin1')) },
    (text) => {
      const { path, search } = parseTarget(text);
      expect(path).not.toContain('?');
      try {
        for (const [name, value] of parseQuery(search)) expect((name + value).isWellFormed()).toBe(true);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        expect([error.code, error.errors.length <= 100]).toEqual(['invalid_query', true]);
        return false;
      }
      const match = router.match(path);
      for (const value of Object.values(match?.params ?? {})) expect(value).not.toBe('');
      return search !== '';
    },
  ));

const addresses = textOf(
  ...([
    '203.0.113.7',
    '10.0.0.1',
    ',',
    ', ',
    ':',
    ':1234',
    '[2001:db8::1]',
    '[',
    ']',
    '::ffff:10.0.0.1',
  ] as const),
  ...['unknown', ' ', '%eth0', '010.0.0.1', '10.1'],
);
const trusted = parseCidrs(['10.0.0.0/8', '::1/128']);
if (!trusted.ok) throw new Error('no ranges');
const proxies = trusted.cidrs;

test('the client of a trusted proxy is an address or unknown, and of nobody else what the header says', () =>
  fuzz('X-Forwarded-For', { made: addresses, corpus: FIELDS }, (text) => {
    const headers = { 'x-forwarded-for': text };
    expect(clientAddress({ peer: '203.0.113.9', headers }, proxies)).toBe('203.0.113.9');
    const client = clientAddress({ peer: '10.0.0.9', headers }, proxies);
    if (client !== 'unknown') expect(isIP(client)).not.toBe(0);
    const endpoint = parseEndpoint(text, 53);
    if (endpoint !== null) expect(endpoint.port > 0 && endpoint.port < 65_536).toBe(true);
    return client !== 'unknown';
  }));

const hosts = textOf(
  'mail.example.com',
  ':',
  '8420',
  '.',
  '[',
  '::1',
  ']',
  '127.0.0.1',
  'localhost',
  '@',
  'evil.test',
);
const OWN = { allowedHosts: ['Panel.example.com'], hostname: 'mail.example.com' };
const OURS = /^(?:(?:mail|panel)\.example\.com\.?|localhost\.?|[0-9.]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

test('a host is ours only by one of our names, or as an address', () =>
  fuzz('Host', { made: hosts, corpus: FIELDS }, (text) => {
    if (!isOwnHost(text, OWN)) return false;
    expect(text).toMatch(OURS);
    return true;
  }));

const cookies = textOf('__Host-waybill-main', '=', ';', '; ', 'token', '"', 'a', ' ', '__Host-waybill-other');

test('a cookie is the one of this instance, or none', () =>
  fuzz('cookie', { made: cookies, corpus: FIELDS }, (text) => {
    const token = new HostCookie('waybill-main', 'Strict').read({ headers: { cookie: text } });
    if (token === null) return false;
    expect(text).toContain('__Host-waybill-main');
    expect(token).not.toMatch(/[;]/);
    return true;
  }));

test('an Idempotency-Key is printable, or refused', () =>
  fuzz('Idempotency-Key', { made: anyText(300), corpus: FIELDS }, (text) => {
    if (idempotencyKeyFault(text) !== null) return false;
    expect(text).toMatch(/^[!-~](?:[ -~]{0,254}[!-~])?$/);
    return true;
  }));

const waits = textOf('120', '0', '-1', 'Fri, 20 Nov 2026 11:15:00 GMT', ' ', '9', '1e3', 'GMT', '31 Feb');

test('a Retry-After is a bounded time, or none', () =>
  fuzz('Retry-After', { made: waits, corpus: FIELDS }, (text) => {
    const rest = restOf(text, Date.UTC(2026, 10, 20, 11));
    if (rest === null) return false;
    expect(rest > 0 && rest <= 3_600_000).toBe(true);
    return true;
  }));
