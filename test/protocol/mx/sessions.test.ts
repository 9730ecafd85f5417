/** What TLS reports are made of: each session with a domain's servers, once, with the policy and what went wrong. */
import { createHash, X509Certificate } from 'node:crypto';
import { setDefaultCACertificates } from 'node:tls';
import { beforeAll, expect, test } from 'vitest';
import type { TlsSession } from '../../../src/domain/tls-report.ts';
import { type Certificate, createAuthority, createCertificate } from '../../peers/certificate.ts';
import type { SmtpSinkOptions } from '../../peers/smtp-sink-script.ts';
import { only } from '../smtp-out/rig.ts';
import { type MxRig, type MxRigOptions, startMxRig } from './rig.ts';

const HOST = 'mx.example.net';
const authority = createAuthority();
const good = createCertificate({ hosts: [HOST], issuer: authority });
const bad: Readonly<Record<string, Certificate>> = {
  'certificate-not-trusted': createCertificate({ hosts: [HOST] }),
  'certificate-expired': createCertificate({ hosts: [HOST], issuer: authority, expired: true }),
  'certificate-host-mismatch': createCertificate({ hosts: ['other.example'], issuer: authority }),
};
const BROKEN: SmtpSinkOptions = {
  extensions: ['STARTTLS'],
  script: { STARTTLS: { reply: '220 2.0.0 go', close: 'end' } },
};
const offering = (certificate: Certificate): SmtpSinkOptions => ({ tls: 'starttls', certificate });

beforeAll(() => setDefaultCACertificates([authority.cert]));

interface Watched {
  readonly rig: MxRig;
  readonly told: (TlsSession & { readonly domain: string })[];
}

async function watched(
  sink: SmtpSinkOptions,
  mode: string | null,
  reports = false,
  mx = HOST,
): Promise<Watched> {
  const policy = `version: STSv1\nmode: ${mode}\nmx: ${mx}\nmax_age: 86400\n`;
  return await watchedUnder(mode === null ? {} : { 'example.net': policy }, sink, reports);
}

async function watchedUnder(
  policies: Required<MxRigOptions>['policies'],
  sink: SmtpSinkOptions,
  reports = false,
): Promise<Watched> {
  const told: Watched['told'] = [];
  const rig = await startMxRig({
    sinks: { '127.0.0.1': sink },
    policies,
    watch: {
      isOn: () => true,
      note: (domain, session) => told.push({ domain, ...session }),
      isReport: () => reports,
    },
  });
  rig.route('example.net', { [HOST]: '127.0.0.1' });
  return { rig, told };
}

test('a good session is told of once, however many messages it carries', async () => {
  const { rig, told } = await watched(offering(good), 'enforce');
  await rig.deliver();
  await rig.deliver();
  expect(rig.sink().connections).toBe(1);
  expect(told).toEqual([
    {
      domain: 'example.net',
      policy: {
        type: 'sts',
        strings: ['version: STSv1', 'mode: enforce', `mx: ${HOST}`, 'max_age: 86400'],
        mxHosts: [HOST],
      },
      result: null,
      mxHost: null,
      mxAddress: null,
      localAddress: null,
      reason: null,
    },
  ]);
});

for (const mode of ['enforce', 'testing'])
  test.each(Object.entries(bad))(
    `with a policy to ${mode}, a failure is told of: %s`,
    async (result, certificate) => {
      const { rig, told } = await watched(offering(certificate), mode);
      expect(only(await rig.deliver()).kind).toBe(mode === 'enforce' ? 'deferred' : 'delivered');
      expect(told).toEqual([
        expect.objectContaining({
          result,
          mxHost: HOST,
          mxAddress: '127.0.0.1',
          localAddress: '127.0.0.1',
          reason: expect.stringMatching(/^[A-Z_]+$/),
        }),
      ]);
    },
  );

test.each([
  ['starttls-not-supported', {}],
  ['validation-failure', BROKEN],
] as const)(
  'without a policy, %s is told of, and an unverified certificate is good',
  async (result, sink) => {
    const plain = await watched(sink, null);
    await plain.rig.deliver();
    expect(plain.told).toMatchObject([{ policy: { type: 'no-policy-found' }, result, mxHost: HOST }]);
    const selfSigned = await watched(offering(bad['certificate-not-trusted'] ?? good), null);
    await selfSigned.rig.deliver();
    expect(selfSigned.told).toMatchObject([{ policy: { type: 'no-policy-found' }, result: null }]);
  },
);

test.each(['enforce', 'testing'])('a host that a policy to %s does not name is told of', async (mode) => {
  const { rig, told } = await watched(offering(good), mode, false, 'mx9.example.net');
  await rig.deliver();
  expect(told).toMatchObject([
    { policy: { type: 'sts' }, result: 'validation-failure', reason: 'mx-mismatch' },
  ]);
});

test.each([
  ['sts-policy-fetch-error', undefined],
  ['sts-webpki-invalid', null],
  ['sts-policy-invalid', '<html>'],
])('a policy that holds nobody to anything is told of beside the session: %s', async (result, policy) => {
  const { rig, told } = await watchedUnder({ 'example.net': policy }, offering(good));
  await rig.deliver();
  expect(told).toMatchObject([
    { policy: { type: 'sts', strings: [] }, result },
    { policy: { type: 'no-policy-found' }, result: null },
  ]);
});

test('TLSA records of which none can be used are told of beside the session', async () => {
  const { rig, told } = await watched(offering(good), 'enforce');
  const data = '0'.repeat(64);
  rig.dns.set(`_${rig.port}._tcp.${HOST}`, 'TLSA', [{ usage: 1, selector: 1, matchingType: 1, data }]);
  rig.dns.authenticated = true;
  await rig.deliver();
  await rig.deliver();
  expect(told).toMatchObject([
    { policy: { type: 'tlsa' }, result: 'tlsa-invalid', mxHost: HOST, mxAddress: '127.0.0.1' },
    { policy: { type: 'sts' }, result: null },
  ]);
});

test.each([
  [null, good],
  ['validation-failure', bad['certificate-not-trusted'] ?? good],
] as const)('with TLSA records, the session is %s', async (result, offered) => {
  const { rig, told } = await watched(offering(offered), null);
  const key = new X509Certificate(good.cert).publicKey.export({ type: 'spki', format: 'der' });
  const data = createHash('sha256').update(key).digest('hex');
  rig.dns.set(`_${rig.port}._tcp.${HOST}`, 'TLSA', [{ usage: 3, selector: 1, matchingType: 1, data }]);
  rig.dns.authenticated = true;
  await rig.deliver();
  expect(told).toMatchObject([{ policy: { type: 'tlsa', strings: [`3 1 1 ${data}`] }, result }]);
});

test('a failure that is not about TLS is not told of', async () => {
  const { rig, told } = await watched({ script: { CONNECT: '554 5.3.2 no' } }, 'enforce');
  await rig.deliver();
  expect(told).toEqual([]);
});

test('a report on TLS is delivered whatever is wrong with it, and its session is not told of', async () => {
  const { rig, told } = await watched(
    offering(bad['certificate-expired'] ?? good),
    'enforce',
    true,
    'mx9.example.net',
  );
  expect(only(await rig.deliver()).kind).toBe('delivered');
  expect(told).toEqual([]);
});
