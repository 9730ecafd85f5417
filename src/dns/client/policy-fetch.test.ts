/** The fetching of MTA-STS policies from a real HTTPS server, whose root is trusted or not. */

import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  type CertificateOptions,
  createAuthority,
  createCertificate,
} from '../../../test/peers/certificate.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { found, nothing, ScriptedResolver } from '../../../test/support/scripted-resolver.ts';
import { createPolicyFetch, type PolicyFetchParts } from './policy-fetch.ts';

const root = createAuthority();
const signal = new AbortController().signal;
const HOST = 'mta-sts.a.test';
const BODY = 'version: STSv1\nmode: none\nmax_age: 1\n';
const good: RequestListener = (_request, response) => {
  response.setHeader('content-type', 'text/plain; charset=utf-8').end(BODY);
};

interface Given {
  readonly answer?: RequestListener;
  readonly certificate?: Partial<CertificateOptions>;
  readonly addresses?: readonly string[];
  readonly allowed?: PolicyFetchParts['isAllowed'];
}

async function world(given: Given = {}) {
  const { answer = good, certificate, addresses = ['127.0.0.1'], allowed = () => true } = given;
  const asked: string[] = [];
  const server = createServer(
    createCertificate({ hosts: [HOST], issuer: root, ...certificate }),
    (request, response) => {
      asked.push(`${request.method} https://${request.headers.host}${request.url}`);
      answer(request, response);
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  const clock = new ManualClock();
  const resolver = new ScriptedResolver({
    [`A ${HOST}`]: found<'A'>(addresses),
    [`AAAA ${HOST}`]: nothing('nodata'),
  });
  const fetch = createPolicyFetch({ resolver, clock, isAllowed: allowed, ca: root.cert, port: address.port });
  const get = async (limit = signal) => {
    const fetched = await fetch('a.test', limit);
    if (fetched.kind === 'fetched') return fetched.body;
    return `${fetched.isUntrusted === true ? 'untrusted' : 'failed'}: ${fetched.text}`;
  };
  return { asked, clock, get };
}

test('no variable of the environment lets another certificate pass', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { asked, get } = await world({ certificate: { hosts: ['other.test'] } });
  expect(await get()).toMatch(/^untrusted: /);
  expect(asked).toEqual([]);
});

test('the file of the domain is fetched from its well-known place', async () => {
  const { get, asked } = await world();
  expect(await get()).toBe(BODY);
  expect(asked).toEqual([`GET https://${HOST}/.well-known/mta-sts.txt`]);
});

test.each<[string, Partial<CertificateOptions>, RegExp]>([
  ['of another name', { hosts: ['a.test'] }, /^untrusted: .*does not match/],
  ['that has expired', { expired: true }, /^untrusted: .*expired/],
  ['of an unknown root', { issuer: createAuthority('Stranger') }, /^untrusted: mta-sts\.a\.test: /],
])('a server with a certificate %s is not asked', async (_what, certificate, reason) => {
  const { get, asked } = await world({ certificate });
  expect(await get()).toMatch(reason);
  expect(asked).toEqual([]);
});

test.each<[string, RequestListener]>([
  ['redirect', (_request, response) => response.writeHead(301, { location: '/' }).end()],
  [
    'missing file',
    (_request, response) => response.writeHead(404, { 'content-type': 'text/plain' }).end(BODY),
  ],
  ['other type', (_request, response) => response.setHeader('content-type', 'text/html').end(BODY)],
  [
    'type that only begins like it',
    (_request, response) => response.setHeader('content-type', 'text/plainer').end(BODY),
  ],
  [
    'cut-off file',
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 100 }).write(BODY);
      setImmediate(() => response.destroy());
    },
  ],
])('a %s is no policy', async (_what, answer) => {
  const { get, asked } = await world({ answer });
  expect(await get()).toMatch(/^failed: mta-sts\.a\.test/);
  expect(asked.length).toBe(1);
});

test('a file of 64 KiB is taken, and of one byte more is not, however much more comes', async () => {
  const sized =
    (bytes: number): RequestListener =>
    (_request, response) => {
      response.setHeader('content-type', 'text/plain').end('x'.repeat(bytes));
    };
  expect(await (await world({ answer: sized(65_536) })).get()).toHaveLength(65_536);
  expect(await (await world({ answer: sized(65_537) })).get()).toMatch(/more than 64 KiB/);
  const endless: RequestListener = (_request, response) => {
    response.setHeader('content-type', 'text/plain');
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    };
    response.on('drain', more);
    more();
  };
  expect(await (await world({ answer: endless })).get()).toMatch(/more than 64 KiB/);
});

test('a server that does not go on is left after 20 s, or when nobody waits any more', async () => {
  const { promise, resolve: wasAsked } = Promise.withResolvers<void>();
  const { get, clock } = await world({ answer: () => wasAsked() });
  const fetched = get();
  await promise;
  await clock.advance(20_000);
  expect(await fetched).toBe(`failed: ${HOST} does not answer`);
  expect(await get(AbortSignal.abort())).toBe(`failed: ${HOST} does not answer`);
});

test('addresses that are not allowed are not connected to', async () => {
  const { get, asked } = await world({ allowed: (address) => address !== '127.0.0.1' });
  expect(await get()).toBe(`failed: ${HOST} has no address that Waybill may connect to`);
  expect(asked).toEqual([]);
});

test('an address that refuses is passed over for the next', async () => {
  const { get } = await world({ addresses: ['127.0.0.2', '127.0.0.1'] });
  expect(await get()).toBe(BODY);
});

test('a host without an address is a failure', async () => {
  const { get } = await world({ addresses: [] });
  expect(await get()).toMatch(/^failed: /);
});
