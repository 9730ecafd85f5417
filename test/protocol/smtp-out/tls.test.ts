/** TLS: when it is used, what it must prove, and what happens where it fails. */
import { setDefaultCACertificates } from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import type { TlsMode } from '../../../src/domain/relay.ts';
import { createCertificate } from '../../peers/certificate.ts';
import { authority, bad, good } from './certificates.ts';
import { advanceUntil, only, startRig } from './rig.ts';

beforeAll(() => setDefaultCACertificates([authority.cert]));

const sinkFor = (mode: TlsMode) => (mode === 'implicit' ? 'implicit' : 'starttls');

describe.each(['required', 'implicit', 'opportunistic'] as const)('%s', (tls) => {
  test('mail goes encrypted, the protocol is recorded, and EHLO is said inside', async () => {
    const rig = await startRig({ sink: { tls: sinkFor(tls), certificate: good }, smtp: { tls } });
    const result = await rig.deliver();
    expect(only(result).kind).toBe('delivered');
    expect(rig.sink.messages).toMatchObject([{ tls: true }]);
    expect(result.evidence.tls).toMatch(/^TLSv1\.3 TLS_/);
    expect(result.evidence.timings.tlsMs).not.toBeNull();
    const hellos = rig.sink.commands.filter(({ line }) => line.startsWith('EHLO'));
    expect(hellos).toHaveLength(tls === 'implicit' ? 1 : 2);
    expect((await rig.deliver()).evidence).toMatchObject({ reused: true, tls: result.evidence.tls });
  });

  test('the host name is checked, not only its address', async () => {
    const certificate = createCertificate({ hosts: ['localhost'], issuer: authority });
    const rig = await startRig({
      sink: { tls: sinkFor(tls), certificate },
      smtp: { tls, host: 'localhost' },
    });
    expect(only(await rig.deliver()).kind).toBe('delivered');
    expect(rig.sink.messages).toMatchObject([{ tls: true }]);
  });
});

describe.each(['required', 'implicit'] as const)('%s', (tls) => {
  test.each(Object.entries(bad))('a certificate that is %s is not taken', async (_what, certificate) => {
    const rig = await startRig({ sink: { tls: sinkFor(tls), certificate }, smtp: { tls } });
    const result = await rig.deliver();
    expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'tls_failed', hopFailed: true });
    expect(rig.sink.commands.filter(({ line }) => line.startsWith('MAIL'))).toEqual([]);
  });

  test.each(Object.entries(bad))(
    'with verify off a certificate that is %s will do',
    async (_what, certificate) => {
      const rig = await startRig({ sink: { tls: sinkFor(tls), certificate }, smtp: { tls, verify: false } });
      expect(only(await rig.deliver()).kind).toBe('delivered');
      expect(rig.sink.messages).toMatchObject([{ tls: true }]);
    },
  );
});

test('required: a server without STARTTLS gets nothing', async () => {
  const rig = await startRig({ smtp: { tls: 'required' } });
  expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', cause: 'tls_failed', hopFailed: true });
  expect(rig.sink.commands.map(({ line }) => line)).toEqual(['EHLO client.example']);
});

test('required: STARTTLS refused is tls_failed', async () => {
  const rig = await startRig({
    sink: { tls: 'starttls', certificate: good, script: { STARTTLS: '454 4.7.0 not now' } },
    smtp: { tls: 'required' },
  });
  expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', cause: 'tls_failed', code: 454 });
});

test('implicit: a server that speaks first in clear is tls_failed', async () => {
  const rig = await startRig({ smtp: { tls: 'implicit' } });
  expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', cause: 'tls_failed', hopFailed: true });
});

test('a handshake that never ends is given up', async () => {
  const rig = await startRig({
    sink: { extensions: ['STARTTLS'], script: { STARTTLS: '220 2.0.0 go' } },
    smtp: { tls: 'required' },
    timeouts: { tls: 3000 },
  });
  const delivery = rig.deliver();
  await rig.sink.until(() => rig.sink.commands.some(({ line }) => line === 'STARTTLS'));
  const result = await advanceUntil(rig.clock, 3000, delivery);
  expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'timeout_tls', hopFailed: true });
});

test('opportunistic: where the handshake never ends mail goes in clear', async () => {
  const rig = await startRig({
    sink: { extensions: ['STARTTLS'], script: { STARTTLS: '220 2.0.0 go' } },
    smtp: { tls: 'opportunistic' },
    timeouts: { tls: 3000 },
  });
  const delivery = rig.deliver();
  await rig.sink.until(() => rig.sink.commands.some(({ line }) => line === 'STARTTLS'));
  const result = await advanceUntil(rig.clock, 3000, delivery);
  expect(only(result).kind).toBe('delivered');
  expect(rig.sink.messages).toMatchObject([{ tls: false }]);
});

test.each([
  ['is not offered', {}],
  ['is refused', { tls: 'starttls', certificate: good, script: { STARTTLS: '454 4.7.0 not now' } }],
  ['fails', { extensions: ['STARTTLS'], script: { STARTTLS: { reply: '220 2.0.0 go', close: 'end' } } }],
] as const)('opportunistic: where STARTTLS %s mail goes in clear', async (_what, sink) => {
  const rig = await startRig({ sink, smtp: { tls: 'opportunistic' } });
  const result = await rig.deliver();
  expect(only(result).kind).toBe('delivered');
  expect(rig.sink.messages).toMatchObject([{ tls: false }]);
  expect(result.evidence.tls).toBeNull();
});

test.each(Object.entries(bad))(
  'opportunistic: a certificate that is %s is better than none',
  async (_what, certificate) => {
    const rig = await startRig({ sink: { tls: 'starttls', certificate }, smtp: { tls: 'opportunistic' } });
    expect(only(await rig.deliver()).kind).toBe('delivered');
    expect(rig.sink.messages).toMatchObject([{ tls: true }]);
  },
);

test('none: STARTTLS is not used though it is offered', async () => {
  const rig = await startRig({ sink: { tls: 'starttls', certificate: good } });
  expect(only(await rig.deliver()).kind).toBe('delivered');
  expect(rig.sink.messages).toMatchObject([{ tls: false }]);
});

test('replies injected behind the answer to STARTTLS are dropped (RFC 3207 §6)', async () => {
  const injected = '250-evil.example\r\n250 AUTH PLAIN\r\n235 2.7.0 welcome';
  const rig = await startRig({
    sink: { tls: 'starttls', certificate: good, script: { STARTTLS: `220 2.0.0 go\r\n${injected}` } },
    smtp: { tls: 'required' },
  });
  const result = await rig.deliver();
  expect(only(result).kind).toBe('delivered');
  expect(result.evidence.steps.map(({ reply }) => reply).join()).not.toContain('evil');
  expect(rig.sink.commands.filter(({ line }) => line.startsWith('EHLO'))).toHaveLength(2);
});
