/** Certificates of SNS from a real HTTPS server: how they are fetched, which are used, how long they are kept. */
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  type CertificateOptions,
  createAuthority,
  createCertificate,
} from '../../../test/peers/certificate.ts';
import { CERTIFICATE_URL, NOW, snsCertificate } from '../../../test/support/hook-requests.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { confirmSubscription, createSnsGet, type FoundKey, SnsCertificates } from './sns-fetch.ts';

const HOST = 'sns.us-east-1.amazonaws.com';
const URL_OF_IT = new URL(CERTIFICATE_URL);
const DAY = 86_400_000;
const root = createAuthority();
const issuer = createAuthority('Test CA');

const good: RequestListener = (_request, response) => void response.end(snsCertificate.cert);

async function world(answer: RequestListener = good, certificate: Partial<CertificateOptions> = {}) {
  const asked: string[] = [];
  const pair = createCertificate({ hosts: [HOST], issuer: root, ...certificate });
  const server = createServer(pair, (request, response) => {
    asked.push(`${request.method} https://${request.headers.host}${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  const clock = new ManualClock(NOW);
  const parts = { clock, get: createSnsGet({ address: '127.0.0.1', port: address.port, ca: root.cert }) };
  const certificates = new SnsCertificates(parts);
  const find = async (url = URL_OF_IT, now = NOW) => shown(await certificates.find(url, now));
  return { asked, clock, parts, find };
}

function shown(found: FoundKey): string {
  return found.kind === 'key' ? 'key' : `${found.kind}: ${found.why}`;
}

test('a certificate is fetched once, and kept for a day', async () => {
  const { find, asked, clock } = await world();
  expect(await Promise.all([find(), find(), find()])).toEqual(['key', 'key', 'key']);
  await clock.advance(DAY - 1);
  expect(await find()).toBe('key');
  expect(asked).toEqual([`GET ${CERTIFICATE_URL}`]);
  await clock.advance(1);
  expect(await find()).toBe('key');
  expect(asked).toHaveLength(2);
});

test('a kept certificate is used within its dates only', async () => {
  const { find } = await world();
  expect(await find(URL_OF_IT, NOW + 8 * DAY)).toBe('key');
  expect(await find(URL_OF_IT, NOW + 10 * DAY)).toBe('bad: the certificate is not valid now');
  expect(await find(URL_OF_IT, NOW - 3 * DAY)).toBe('bad: the certificate is not valid now');
  expect(await find()).toBe('key');
});

test.each<[string, string | Buffer]>([
  ['nothing', ''],
  ['a page', '<html>'],
  ['half a certificate', snsCertificate.cert.slice(0, 500)],
  ['a certificate with a key over P-256', createCertificate({ hosts: [HOST], issuer }).cert],
  ['a certificate with a short RSA key', createCertificate({ hosts: [HOST], issuer, rsaBits: 1024 }).cert],
])('%s in its place is no certificate, and is not kept', async (_, body) => {
  const { find, asked } = await world((_request, response) => void response.end(body));
  expect(await find()).toMatch(/^unavailable: there is no certificate/);
  expect(await find()).toMatch(/^unavailable/);
  expect(asked).toHaveLength(2);
});

test.each<[string, RequestListener]>([
  ['a redirect', (_request, response) => void response.writeHead(302, { location: '/other.pem' }).end()],
  ['a missing file', (_request, response) => void response.writeHead(404).end(snsCertificate.cert)],
  ['a failure', (_request, response) => void response.writeHead(500).end(snsCertificate.cert)],
  ['another success', (_request, response) => void response.writeHead(206).end(snsCertificate.cert)],
  ['a cut connection', (_request, response) => void response.destroy()],
])('%s is unavailable, and not followed', async (_, answer) => {
  const { find, asked } = await world(answer);
  expect(await find()).toMatch(/^unavailable: sns\.us-east-1\.amazonaws\.com/);
  expect(asked).toHaveLength(1);
});

test('64 KiB are read, and one byte more is not', async () => {
  const sized = (bytes: number): RequestListener => {
    const body = snsCertificate.cert.padEnd(bytes, '\n');
    return (_request, response) => void response.end(body);
  };
  expect(await (await world(sized(65_536))).find()).toBe('key');
  expect(await (await world(sized(65_537))).find()).toMatch(/^unavailable: .* more than 64 KiB$/);
});

test.each<[string, Partial<CertificateOptions>]>([
  ['of another name', { hosts: ['sns.eu-west-1.amazonaws.com'] }],
  ['that has expired', { expired: true }],
  ['of an unknown root', { issuer: createAuthority('Stranger') }],
])('a server with a certificate %s is not asked, whatever the environment says', async (_, certificate) => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { find, asked } = await world(good, certificate);
  expect(await find()).toMatch(/^unavailable: /);
  expect(asked).toEqual([]);
});

test('a server that does not go on is left after ten seconds', async () => {
  const { promise, resolve: wasAsked } = Promise.withResolvers<void>();
  const { find, clock } = await world(() => wasAsked());
  const found = find();
  await promise;
  await clock.advance(9_999);
  expect(await Promise.race([found, Promise.resolve('waiting')])).toBe('waiting');
  await clock.advance(1);
  expect(await found).toBe(`unavailable: ${HOST} does not answer`);
});

test('four certificates are fetched at the same time; a fifth is unavailable, one of the four is not', async () => {
  const waiting: (() => void)[] = [];
  const four = Promise.withResolvers<void>();
  const { find, asked } = await world((_request, response) => {
    waiting.push(() => response.end(snsCertificate.cert));
    if (waiting.length === 4) four.resolve();
  });
  const urlOf = (place: number) => new URL(`https://${HOST}/${place}.pem`);
  const found = [0, 1, 2, 3].map((place) => find(urlOf(place)));
  await four.promise;
  expect(await find(urlOf(4))).toMatch(/^unavailable: too many/);
  const joined = find(urlOf(0));
  for (const answer of waiting) answer();
  expect(await Promise.all([...found, joined])).toEqual(['key', 'key', 'key', 'key', 'key']);
  expect(asked).toHaveLength(4);
});

test('64 certificates are kept; the oldest makes room', async () => {
  const { find, asked } = await world();
  const urlOf = (place: number) => new URL(`https://${HOST}/${place}.pem`);
  for (let place = 0; place <= 64; place++) expect(await find(urlOf(place))).toBe('key');
  expect(await find(urlOf(1))).toBe('key');
  expect(asked).toHaveLength(65);
  expect(await find(urlOf(0))).toBe('key');
  expect(asked).toHaveLength(66);
});

test('a subscription is confirmed with its whole URL', async () => {
  const { parts, asked } = await world(
    (_request, response) => void response.end('<ConfirmSubscriptionResponse/>'),
  );
  const url = new URL(`https://${HOST}/?Action=ConfirmSubscription&TopicArn=arn:aws:sns:x&Token=2336412f37`);
  expect(await confirmSubscription(url, parts)).toMatchObject({ kind: 'answer' });
  expect(asked).toEqual([`GET ${url.href}`]);
});
