/** Nobody is led where they should not be: private addresses, plain HTTP, redirects, wrong certificates. */
import { setDefaultCACertificates } from 'node:tls';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createAuthority, createCertificate } from '../../peers/certificate.ts';
import { answerJson, ProviderApi } from '../../peers/provider-api.ts';
import { only } from '../smtp-out/rig.ts';
import { startPlain } from './plain.ts';

const authority = createAuthority();
const certificate = createCertificate({ hosts: ['127.0.0.1', 'api.example'], issuer: authority });
const TAKEN = answerJson(200, { id: 'x' });

beforeAll(() => setDefaultCACertificates([authority.cert]));

describe('without allow_private', () => {
  test.each([
    'https://127.0.0.1',
    'https://10.0.0.1',
    'https://169.254.169.254',
    'https://[::1]',
    'https://[::ffff:127.0.0.1]',
    'https://[fd00::1]',
    'https://0x7f.1',
    'https://2130706433',
  ])('%s is not connected to', async (endpoint) => {
    const rig = await startPlain({ settings: { endpoint, allowPrivate: false } });
    const result = await rig.deliver();
    expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'private_address', hopFailed: true });
    expect(result.evidence.address).toBeNull();
  });

  test('nor is a name that means the loopback, whatever port', async () => {
    const api = await ProviderApi.start({ certificate, answer: () => TAKEN });
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const settings = { endpoint: `https://api.example:${api.port}`, allowPrivate: false };
    const rig = await startPlain({ settings, resolve });
    expect(only(await rig.deliver())).toMatchObject({ cause: 'private_address', hopFailed: true });
    expect(api.connections).toBe(0);
  });

  test('nor does the system’s own name for it help', async () => {
    const rig = await startPlain({ settings: { endpoint: 'https://localhost', allowPrivate: false } });
    expect(only(await rig.deliver()).cause).toBe('private_address');
  });

  test('plain HTTP is not spoken, and nothing is looked up for it', async () => {
    const resolve = () => Promise.reject(new Error('asked'));
    const rig = await startPlain({
      settings: { endpoint: 'http://api.example', allowPrivate: false },
      resolve,
    });
    expect(only(await rig.deliver())).toMatchObject({ cause: 'plain_http', hopFailed: true });
  });
});

test('a name is asked for at each connection: what it meant before does not count', async () => {
  const api = await ProviderApi.start({ certificate, answer: () => TAKEN });
  let address = '127.0.0.1';
  const resolve = async () => [{ address, family: 4 }];
  const rig = await startPlain({ settings: { endpoint: `https://api.example:${api.port}` }, resolve });
  expect(only(await rig.deliver()).kind).toBe('delivered');
  address = '127.0.0.2';
  api.hangUp();
  await api.untilClosed(1);
  const result = await rig.deliver();
  expect(result.evidence.steps.map(({ reply }) => reply)).toContain('127.0.0.2');
});

describe('over TLS', () => {
  test('a good certificate will do, and the protocol is recorded', async () => {
    const rig = await startPlain({ api: { certificate, answer: () => TAKEN } });
    const { evidence, ...result } = await rig.deliver();
    expect(only({ evidence, ...result }).kind).toBe('delivered');
    expect(evidence.tls).toMatch(/^TLSv1\.3 TLS_/);
    expect(evidence.security?.verdict).toBe('verified');
    expect(evidence.timings.tlsMs).toBe(0);
  });

  test.each([
    ['self-signed', createCertificate({ hosts: ['127.0.0.1'] })],
    ['expired', createCertificate({ hosts: ['127.0.0.1'], issuer: authority, expired: true })],
    ['for another name', createCertificate({ hosts: ['other.example'], issuer: authority })],
  ])('one that is %s will not', async (_what, bad) => {
    const rig = await startPlain({ api: { certificate: bad } });
    expect(only(await rig.deliver())).toMatchObject({
      kind: 'deferred',
      cause: 'tls_failed',
      hopFailed: true,
    });
    expect(rig.api.requests).toEqual([]);
  });
});

test('no variable of the environment lets another certificate pass', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  const rig = await startPlain({
    api: { certificate: createCertificate({ hosts: ['other.example'] }), answer: () => TAKEN },
  });
  expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', cause: 'tls_failed', hopFailed: true });
  expect(rig.api.requests).toEqual([]);
});

test.each([301, 302, 303, 307, 308])('a redirect (%i) to the loopback is not followed', async (status) => {
  const inner = await ProviderApi.start();
  const rig = await startPlain();
  const headers = { location: `${inner.url}/admin` };
  rig.api.script.push({ kind: 'answer', status, headers });
  const result = await rig.deliver();
  expect(only(result)).toMatchObject({ kind: 'deferred', code: status, hopFailed: true });
  expect(inner.connections).toBe(0);
});
