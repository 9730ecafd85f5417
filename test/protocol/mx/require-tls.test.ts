/** REQUIRETLS and TLS-Required: No by an `mx` relay (RFC 8689): what proves a host, and which host is next. */
import { createHash, X509Certificate } from 'node:crypto';
import { setDefaultCACertificates } from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import { createAuthority, createCertificate } from '../../peers/certificate.ts';
import { writeResponse } from '../../peers/dns-message.ts';
import { SINK_EXTENSIONS, type SmtpSinkOptions } from '../../peers/smtp-sink-script.ts';
import { only } from '../smtp-out/rig.ts';
import { type MxRig, type MxRigOptions, startMxRig } from './rig.ts';

const HOST = 'mx.example.net';
const SECOND = 'mx2.example.net';
const authority = createAuthority();
const good = createCertificate({ hosts: [HOST, SECOND, 'example.net'], issuer: authority });
const own = createCertificate({ hosts: [HOST] });
const PROMISING = [...SINK_EXTENSIONS, 'REQUIRETLS'];
const SAFE: SmtpSinkOptions = { tls: 'starttls', certificate: good, extensions: PROMISING };

beforeAll(() => setDefaultCACertificates([authority.cert]));

async function startAt(sink: SmtpSinkOptions, options: MxRigOptions = {}): Promise<MxRig> {
  const rig = await startMxRig({ ...options, sinks: { '127.0.0.1': sink } });
  rig.route('example.net', { [HOST]: '127.0.0.1' });
  return rig;
}

const policy = (mode: string, mx = HOST) => ({
  policies: { 'example.net': `version: STSv1\nmode: ${mode}\nmx: ${mx}\nmax_age: 86400\n` },
});
const mails = (rig: MxRig, address?: string) =>
  rig
    .sink(address)
    .commands.map(({ line }) => line)
    .filter((line) => line.startsWith('MAIL'));
const demand = (rig: MxRig) => rig.deliver({ tls: 'required' });

async function expectDelivered(rig: MxRig): Promise<void> {
  expect(only(await demand(rig)).kind).toBe('delivered');
  expect(rig.sink().messages).toMatchObject([{ tls: true }]);
  expect(mails(rig)).toEqual([expect.stringMatching(/ REQUIRETLS$/)]);
}

describe('a host is proved', () => {
  test.each(['enforce', 'testing'])('by an MTA-STS policy: %s', async (mode) => {
    await expectDelivered(await startAt(SAFE, policy(mode)));
  });

  test('by a validated MX record', async () => {
    const rig = await startAt(SAFE);
    rig.dns.authenticated = true;
    await expectDelivered(rig);
  });

  test('by DANE, whoever signed the certificate', async () => {
    const rig = await startAt({ ...SAFE, certificate: own });
    rig.dns.authenticated = true;
    const key = new X509Certificate(own.cert).publicKey.export({ type: 'spki', format: 'der' });
    const data = createHash('sha256').update(key).digest('hex');
    rig.dns.set(`_${rig.port}._tcp.${HOST}`, 'TLSA', [{ usage: 3, selector: 1, matchingType: 1, data }]);
    await expectDelivered(rig);
  });

  test('by being the domain itself, which has no MX record', async () => {
    const rig = await startMxRig({ sinks: { '127.0.0.1': SAFE } });
    rig.dns.set('example.net', 'A', ['127.0.0.1']);
    await expectDelivered(rig);
  });

  test.each([
    ['neither', {}],
    ['a policy for another host alone', policy('testing', 'other.example')],
    ['a policy that says none', policy('none')],
  ])('by nothing else: with %s it is not even connected to', async (_what, options) => {
    const rig = await startAt(SAFE, options);
    const end = only(await demand(rig));
    expect(end).toMatchObject({
      kind: 'rejected',
      hopBound: true,
      hopFailed: false,
      cause: 'requiretls_host',
      enhanced: '5.7.10',
    });
    expect(end.text).toContain(HOST);
    expect(rig.sink().connections).toBe(0);
    // Other mail goes on.
    expect(only(await rig.deliver()).kind).toBe('delivered');
  });

  test('by no MX record alone where an enforced policy names other hosts, as for any mail', async () => {
    const rig = await startAt(SAFE, policy('enforce', 'other.example'));
    rig.dns.authenticated = true;
    for (const result of [await rig.deliver(), await demand(rig)])
      expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'mta_sts_host', enhanced: '4.7.5' });
    expect(rig.sink().connections).toBe(0);
  });

  test('later, perhaps, where a policy cannot be had', async () => {
    const rig = await startAt(SAFE);
    rig.dns.fault('_mta-sts.example.net', ({ query, send }) =>
      send(writeResponse(query, { code: 2, answers: [], authorities: [] })),
    );
    expect(only(await demand(rig))).toMatchObject({
      kind: 'deferred',
      cause: 'requiretls_host',
      enhanced: '4.7.10',
    });
  });
});

describe('a proved host gets nothing', () => {
  test.each([
    ['without STARTTLS', { extensions: PROMISING }, 'tls_failed', '5.7.10'],
    ['with a certificate of its own making', { ...SAFE, certificate: own }, 'tls_failed', '5.7.10'],
    ['that promises nothing', { ...SAFE, extensions: SINK_EXTENSIONS }, 'no_requiretls', '5.7.30'],
  ] as const)('%s', async (_what, sink, cause, enhanced) => {
    const rig = await startAt(sink, policy('testing'));
    expect(only(await demand(rig))).toMatchObject({
      kind: 'rejected',
      hopBound: true,
      hopFailed: false,
      cause,
      enhanced,
    });
    expect(mails(rig)).toEqual([]);
    expect(only(await rig.deliver()).kind).toBe('delivered');
  });

  test.each([
    ['is unsafe', { extensions: PROMISING }],
    ['promises nothing', { ...SAFE, extensions: SINK_EXTENSIONS }],
  ])('where the first %s, the next one is asked', async (_what, first) => {
    const sinks = { '127.0.0.1': first, '127.0.0.2': SAFE };
    const rig = await startMxRig({ sinks, ...policy('enforce', '*.example.net') });
    rig.route('example.net', { [HOST]: '127.0.0.1', [SECOND]: '127.0.0.2' });
    const result = await demand(rig);
    expect(only(result).kind).toBe('delivered');
    expect(result.evidence.host).toBe(SECOND);
    expect(mails(rig)).toEqual([]);
    expect(mails(rig, '127.0.0.2')).toHaveLength(1);
  });

  test('and where the next one is away, the message waits for it', async () => {
    const rig = await startAt({ extensions: PROMISING }, policy('enforce', '*.example.net'));
    rig.route('example.net', { [HOST]: '127.0.0.1', [SECOND]: '127.0.0.3' });
    expect(only(await demand(rig))).toMatchObject({ kind: 'deferred', cause: 'connect_refused' });
  });
});

describe('TLS-Required: No', () => {
  test('goes where MTA-STS would refuse, in clear if need be', async () => {
    const rig = await startAt({}, policy('enforce', 'other.example'));
    expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', cause: 'mta_sts_host' });
    expect(only(await rig.deliver({ tls: 'optional' })).kind).toBe('delivered');
    expect(rig.sink().messages).toMatchObject([{ tls: false }]);
  });

  test('goes where DANE would refuse, and still encrypted where that is offered', async () => {
    const rig = await startAt({ ...SAFE, certificate: good });
    rig.dns.authenticated = true;
    const data = '00'.repeat(32);
    rig.dns.set(`_${rig.port}._tcp.${HOST}`, 'TLSA', [{ usage: 3, selector: 1, matchingType: 1, data }]);
    expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', cause: 'tls_failed' });
    expect(only(await rig.deliver({ tls: 'optional' })).kind).toBe('delivered');
    expect(rig.sink().messages).toMatchObject([{ tls: true }]);
  });

  test('follows the policy where it can: a host that it names comes first, by a verified certificate', async () => {
    const sinks = { '127.0.0.1': {}, '127.0.0.2': { ...SAFE, extensions: SINK_EXTENSIONS } };
    const rig = await startMxRig({ sinks, ...policy('enforce', SECOND) });
    rig.route('example.net', { [HOST]: '127.0.0.1', [SECOND]: '127.0.0.2' });
    const { evidence } = await rig.deliver({ tls: 'optional' });
    expect(evidence).toMatchObject({ host: SECOND, security: { verdict: 'verified', mtaSts: 'enforce' } });
    expect(rig.sink().connections).toBe(0);
  });

  test('is tried once where TLS is not what fails', async () => {
    const rig = await startAt({ script: { CONNECT: '421 4.3.2 busy' } });
    expect(only(await rig.deliver({ tls: 'optional' })).kind).toBe('deferred');
    expect(rig.sink().connections).toBe(1);
  });

  test('does not outrank the operator, who requires TLS', async () => {
    const rig = await startAt({}, { mx: { tls: 'required' } });
    expect(only(await rig.deliver({ tls: 'optional' }))).toMatchObject({ cause: 'tls_failed' });
  });
});
