/** REQUIRETLS by a smarthost (RFC 8689): what it must prove and promise, and what other mail gets of that. */
import { setDefaultCACertificates } from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import { SINK_EXTENSIONS, type SinkAction, type SmtpSinkOptions } from '../../peers/smtp-sink-script.ts';
import { authority, bad, good } from './certificates.ts';
import { only, type Rig, startRig } from './rig.ts';

const PROMISING = [...SINK_EXTENSIONS, 'REQUIRETLS'];

beforeAll(() => setDefaultCACertificates([authority.cert]));

const safe: SmtpSinkOptions = { tls: 'starttls', certificate: good, extensions: PROMISING };
const mails = ({ sink }: Rig) =>
  sink.commands.map(({ line }) => line).filter((line) => line.startsWith('MAIL'));

test.each([
  ['none', 'starttls'],
  ['opportunistic', 'starttls'],
  ['required', 'starttls'],
  ['implicit', 'implicit'],
] as const)(
  'with tls: %s, a server that proves who it is and promises gets the demand',
  async (tls, offered) => {
    const rig = await startRig({ sink: { ...safe, tls: offered }, smtp: { tls, verify: false } });
    expect(only(await rig.deliver({ tls: 'required' })).kind).toBe('delivered');
    expect(rig.sink.messages).toMatchObject([{ tls: true }]);
    expect(mails(rig)).toEqual([expect.stringMatching(/ REQUIRETLS$/)]);
    // It is said of that message alone.
    expect(only(await rig.deliver()).kind).toBe('delivered');
    expect(mails(rig)[1]).not.toContain('REQUIRETLS');
  },
);

test('where every session is as safe anyway, connections are shared', async () => {
  const rig = await startRig({ sink: safe, smtp: { tls: 'required' } });
  await rig.deliver();
  expect((await rig.deliver({ tls: 'required' })).evidence.reused).toBe(true);
  const loose = await startRig({ sink: safe, smtp: { tls: 'opportunistic' } });
  await loose.deliver();
  expect((await loose.deliver({ tls: 'required' })).evidence).toMatchObject({
    reused: false,
    security: { verdict: 'verified' },
  });
});

describe('nothing is said of the message to a server', () => {
  const refused = async (sink: SmtpSinkOptions, tls: 'opportunistic' | 'required' = 'opportunistic') => {
    const rig = await startRig({ sink, smtp: { tls, verify: false } });
    const end = only(await rig.deliver({ tls: 'required' }));
    expect(mails(rig)).toEqual([]);
    // Other mail goes on as the relay says.
    expect(only(await rig.deliver()).kind).toBe('delivered');
    return end;
  };
  const UNSAFE = {
    kind: 'rejected',
    hopBound: true,
    hopFailed: false,
    cause: 'tls_failed',
    enhanced: '5.7.10',
  };

  test.each(Object.entries(bad))('with a certificate that is %s', async (_what, certificate) => {
    expect(await refused({ ...safe, certificate })).toMatchObject(UNSAFE);
    expect(await refused({ ...safe, certificate }, 'required')).toMatchObject(UNSAFE);
  });

  test('without STARTTLS', async () => {
    expect(await refused({ extensions: PROMISING })).toMatchObject(UNSAFE);
  });

  test('that refuses STARTTLS for good', async () => {
    expect(await refused({ ...safe, script: { STARTTLS: '502 5.5.1 not here' } })).toMatchObject({
      ...UNSAFE,
      code: 502,
    });
  });

  test('that promises nothing', async () => {
    expect(await refused({ ...safe, extensions: SINK_EXTENSIONS })).toMatchObject({
      kind: 'rejected',
      hopBound: true,
      hopFailed: false,
      cause: 'no_requiretls',
      enhanced: '5.7.30',
    });
  });

  test('that only knows HELO', async () => {
    const sink = { ...safe, tls: 'implicit', script: { EHLO: '500 5.5.1 what' } } as const;
    const rig = await startRig({ sink, smtp: { tls: 'implicit' } });
    expect(only(await rig.deliver({ tls: 'required' }))).toMatchObject({ cause: 'no_requiretls' });
  });
});

test('a promise in clear counts for nothing: what is offered under TLS counts', async () => {
  const EHLO = ({ session }: { session: { tls: boolean } }): SinkAction | undefined =>
    session.tls ? undefined : '250-sink\r\n250-STARTTLS\r\n250 REQUIRETLS';
  const rig = await startRig({ sink: { ...safe, extensions: SINK_EXTENSIONS, script: { EHLO } } });
  expect(only(await rig.deliver({ tls: 'required' }))).toMatchObject({ cause: 'no_requiretls' });
});

test.each<[string, SinkAction]>([
  ['STARTTLS refused for now', '454 4.7.0 not now'],
  ['a connection cut at the handshake', { reply: '220 2.0.0 go', close: 'reset' }],
  ['a connection closed at the handshake', { reply: '220 2.0.0 go', close: 'end' }],
])('%s may pass: the message waits', async (_what, STARTTLS) => {
  const rig = await startRig({ sink: { ...safe, script: { STARTTLS } } });
  expect(only(await rig.deliver({ tls: 'required' }))).toMatchObject({
    kind: 'deferred',
    cause: 'tls_failed',
  });
  expect(mails(rig)).toEqual([]);
});

test('a report goes without the promise, but never without an authenticated server', async () => {
  const rig = await startRig({ sink: { ...safe, extensions: SINK_EXTENSIONS } });
  expect(only(await rig.deliver({ from: '', tls: 'required' })).kind).toBe('delivered');
  expect(mails(rig)).toEqual([expect.not.stringContaining('REQUIRETLS')]);
  const clear = await startRig();
  expect(only(await clear.deliver({ from: '', tls: 'required' }))).toMatchObject({ enhanced: '5.7.10' });
});

test('TLS-Required: No changes nothing at a smarthost: the operator chose what it must prove', async () => {
  const rig = await startRig({ smtp: { tls: 'required' } });
  expect(only(await rig.deliver({ tls: 'optional' }))).toMatchObject({
    kind: 'deferred',
    cause: 'tls_failed',
  });
});
