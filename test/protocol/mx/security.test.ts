/** How the way to a host is secured: opportunistic TLS, MTA-STS, DANE; and what is never sent in clear. */
import { createHash, X509Certificate } from 'node:crypto';
import { setDefaultCACertificates } from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Certificate, createAuthority, createCertificate } from '../../peers/certificate.ts';
import { writeResponse } from '../../peers/dns-message.ts';
import type { SmtpSinkOptions } from '../../peers/smtp-sink-script.ts';
import { only } from '../smtp-out/rig.ts';
import { type MxRig, type MxRigOptions, startMxRig } from './rig.ts';

const HOST = 'mx.example.net';
const authority = createAuthority();
const good = createCertificate({ hosts: [HOST], issuer: authority });
const bad: Readonly<Record<string, Certificate>> = {
  'self-signed': createCertificate({ hosts: [HOST] }),
  expired: createCertificate({ hosts: [HOST], issuer: authority, expired: true }),
  'for another name': createCertificate({ hosts: ['other.example'], issuer: authority }),
};
const STRIPPED: SmtpSinkOptions = {};
const BROKEN: SmtpSinkOptions = {
  extensions: ['STARTTLS'],
  script: { STARTTLS: { reply: '220 2.0.0 go', close: 'end' } },
};

beforeAll(() => setDefaultCACertificates([authority.cert]));

const offering = (certificate: Certificate): SmtpSinkOptions => ({ tls: 'starttls', certificate });

async function startAt(sink: SmtpSinkOptions, options: MxRigOptions = {}): Promise<MxRig> {
  const rig = await startMxRig({ ...options, sinks: { '127.0.0.1': sink } });
  rig.route('example.net', { [HOST]: '127.0.0.1' });
  return rig;
}

const sent = (rig: MxRig) => rig.sink().commands.filter(({ line }) => line.startsWith('MAIL')).length;

describe('opportunistic', () => {
  test.each([
    ['good', good, 'verified'],
    ...Object.entries(bad).map(([what, certificate]) => [what, certificate, 'unverified'] as const),
  ] as const)('with a certificate that is %s mail goes encrypted', async (_what, certificate, verdict) => {
    const rig = await startAt(offering(certificate));
    const result = await rig.deliver();
    expect(only(result).kind).toBe('delivered');
    expect(rig.sink().messages).toMatchObject([{ tls: true }]);
    expect(result.evidence.security).toEqual({ verdict, mtaSts: 'none', dane: null });
  });

  test.each([
    ['is not offered', STRIPPED],
    ['fails', BROKEN],
  ])('where STARTTLS %s it goes in clear, unless TLS is required', async (_what, sink) => {
    const rig = await startAt(sink);
    const result = await rig.deliver();
    expect(only(result).kind).toBe('delivered');
    expect(rig.sink().messages).toMatchObject([{ tls: false }]);
    expect(result.evidence).toMatchObject({ tls: null, security: { verdict: 'none' } });
    const strict = await startAt(sink, { mx: { tls: 'required' } });
    const end = only(await strict.deliver());
    expect(end).toMatchObject({ kind: 'deferred', cause: 'tls_failed', hopFailed: true });
    expect(end.enhanced).toMatch(/^4\.7\.[45]$/);
    expect(end.text).toContain(HOST);
    expect(sent(strict)).toBe(0);
  });
});

const policy = (mode: string, mx = HOST) => ({
  policies: { 'example.net': `version: STSv1\nmode: ${mode}\nmx: ${mx}\nmax_age: 86400\n` },
});

describe('MTA-STS', () => {
  test('enforced: a verified host gets mail', async () => {
    const rig = await startAt(offering(good), policy('enforce', '*.example.net'));
    const result = await rig.deliver();
    expect(only(result).kind).toBe('delivered');
    expect(result.evidence.security).toEqual({ verdict: 'verified', mtaSts: 'enforce', dane: null });
  });

  test.each([
    ...Object.entries(bad).map(([what, certificate]) => [what, offering(certificate), '4.7.5'] as const),
    ['STARTTLS stripped', STRIPPED, '4.7.4'] as const,
    ['a handshake that fails', BROKEN, '4.7.5'] as const,
  ])('enforced: nothing is sent with a certificate or host that is: %s', async (_what, sink, enhanced) => {
    const rig = await startAt(sink, policy('enforce'));
    const result = await rig.deliver();
    expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'tls_failed', enhanced, hopFailed: true });
    expect(only(result).text).toContain(HOST);
    expect(result.evidence.security).toEqual({ verdict: null, mtaSts: 'enforce', dane: null });
    expect(sent(rig)).toBe(0);
  });

  test('enforced: a host that the policy does not name is not even connected to, one that it names is', async () => {
    const options = policy('enforce', 'mx2.example.net');
    const certificate = createCertificate({ hosts: ['mx2.example.net'], issuer: authority });
    const rig = await startAt(offering(certificate), options);
    const end = only(await rig.deliver());
    expect(end).toMatchObject({
      kind: 'deferred',
      cause: 'mta_sts_host',
      enhanced: '4.7.5',
      hopFailed: true,
    });
    expect(end.text).toContain(HOST);
    expect(rig.sink().connections).toBe(0);
    rig.route('example.net', { [HOST]: '127.0.0.1', 'mx2.example.net': '127.0.0.1' });
    const both = await startAt(offering(certificate), options);
    both.route('example.net', { [HOST]: '127.0.0.1', 'mx2.example.net': '127.0.0.1' });
    expect((await both.deliver()).evidence).toMatchObject({ host: 'mx2.example.net' });
    expect(both.sink().connections).toBe(1);
  });

  test.each([
    [
      'its record cannot be had',
      (rig: MxRig) =>
        rig.dns.fault('_mta-sts.example.net', ({ query, send }) =>
          send(writeResponse(query, { code: 2, answers: [], authorities: [] })),
        ),
      'none: its record is unknown: ',
      'dns_servfail',
    ],
    [
      'its file cannot be had',
      (rig: MxRig) => rig.dns.set('_mta-sts.example.net', 'TXT', ['v=STSv1; id=1;']),
      'none: the policy cannot be fetched: ',
      'found',
    ],
  ] as const)('where %s that is told', async (_what, publish, text, result) => {
    const rig = await startAt(STRIPPED);
    publish(rig);
    const { evidence } = await rig.deliver();
    expect(evidence.security).toMatchObject({ mtaSts: 'none' });
    expect(evidence.steps[0]).toMatchObject({ verb: 'MTA-STS', reply: expect.stringContaining(text) });
    expect(evidence.dns[1]).toMatchObject({ name: '_mta-sts.example.net', type: 'TXT', result });
  });

  test('in testing, and without a policy to be had, it is only recorded', async () => {
    const testing = await startAt(STRIPPED, policy('testing'));
    const result = await testing.deliver();
    expect(only(result).kind).toBe('delivered');
    expect(result.evidence.security).toEqual({ verdict: 'none', mtaSts: 'testing', dane: null });
  });
});

const tlsaOf = (certificate: Certificate, usage: number) => ({
  usage,
  selector: 1,
  matchingType: 1,
  data: createHash('sha256')
    .update(new X509Certificate(certificate.cert).publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex'),
});

async function startDane(sink: SmtpSinkOptions, options: MxRigOptions = {}): Promise<MxRig> {
  const rig = await startAt(sink, options);
  rig.dns.authenticated = true;
  return rig;
}

const tlsaName = (rig: MxRig) => `_${rig.port}._tcp.${HOST}`;

describe('DANE', () => {
  const own = bad['self-signed'] ?? good;

  test('a certificate that matches is enough, by itself and in spite of MTA-STS', async () => {
    const rig = await startDane(offering(own), policy('enforce', 'other.example'));
    rig.dns.set(tlsaName(rig), 'TLSA', [tlsaOf(own, 3)]);
    const result = await rig.deliver();
    expect(only(result).kind).toBe('delivered');
    expect(rig.sink().messages).toMatchObject([{ tls: true }]);
    expect(result.evidence.security).toEqual({ verdict: 'dane', mtaSts: 'enforce', dane: 'usable' });
    expect(result.evidence.dns.at(-1)).toMatchObject({ type: 'TLSA', result: 'found', authenticated: true });
  });

  test.each([
    ['does not match', offering(good), '4.7.5'],
    ['is not shown, for STARTTLS is stripped', STRIPPED, '4.7.4'],
    ['is not shown, for the handshake fails', BROKEN, '4.7.5'],
  ] as const)('a certificate that %s: nothing is sent', async (_what, sink, enhanced) => {
    const rig = await startDane(sink);
    rig.dns.set(tlsaName(rig), 'TLSA', [tlsaOf(own, 3)]);
    const end = only(await rig.deliver());
    expect(end).toMatchObject({ kind: 'deferred', cause: 'tls_failed', enhanced, hopFailed: true });
    expect(sent(rig)).toBe(0);
  });

  test('records that cannot be used ask for TLS all the same', async () => {
    const unusable = [{ ...tlsaOf(own, 3), usage: 1 }];
    const clear = await startDane(STRIPPED);
    clear.dns.set(tlsaName(clear), 'TLSA', unusable);
    expect(only(await clear.deliver())).toMatchObject({ kind: 'deferred', cause: 'tls_failed' });
    const rig = await startDane(offering(own));
    rig.dns.set(tlsaName(rig), 'TLSA', unusable);
    const result = await rig.deliver();
    expect(only(result).kind).toBe('delivered');
    expect(result.evidence.security).toEqual({ verdict: 'unverified', mtaSts: 'none', dane: 'unusable' });
  });

  test('records that cannot be had: this host gets nothing for now', async () => {
    const rig = await startDane(offering(own));
    rig.dns.fault(tlsaName(rig), ({ query, send }) =>
      send(writeResponse(query, { code: 2, answers: [], authorities: [] })),
    );
    const end = only(await rig.deliver());
    expect(end).toMatchObject({
      kind: 'deferred',
      cause: 'dane_lookup_failed',
      enhanced: '4.7.5',
      hopFailed: true,
    });
    expect(rig.sink().connections).toBe(0);
  });

  test('answers that nobody vouches for are no ground for it', async () => {
    const rig = await startAt(offering(good));
    rig.dns.set(tlsaName(rig), 'TLSA', [tlsaOf(own, 3)]);
    const result = await rig.deliver();
    expect(only(result).kind).toBe('delivered');
    expect(result.evidence.security).toMatchObject({ dane: null });
    expect(rig.dns.asked.map(({ type }) => type)).not.toContain('TLSA');
  });
});

test('replies injected before TLS are dropped', async () => {
  const script = { STARTTLS: '220 2.0.0 go\r\n250-evil.example\r\n250 SIZE 1' };
  const rig = await startAt({ ...offering(good), script }, policy('enforce'));
  expect(only(await rig.deliver()).kind).toBe('delivered');
  expect(JSON.stringify((await rig.deliver()).evidence.steps)).not.toContain('evil');
});
