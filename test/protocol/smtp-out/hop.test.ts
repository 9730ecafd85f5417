/** Troubles of the hop: the message waits, the lane is told, and the words are fit for an operator. */
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { silentLog } from '../../../src/lib/log.ts';
import type { TimedVerb } from '../../../src/transport/smtp/deadline.ts';
import { createSmtpTransport } from '../../../src/transport/smtp/smtp.ts';
import { HANG, SINK_EXTENSIONS, type SinkScript, type SinkVerb } from '../../peers/smtp-sink-script.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { deliver, only, relayTo, startRig } from './rig.ts';

const transportTo = (smtp: Parameters<typeof relayTo>[0]) =>
  createSmtpTransport({
    relay: relayTo(smtp),
    hostname: 'client.example',
    clock: new ManualClock(),
    log: silentLog,
  });

test('a port where nobody listens: connect_refused', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  await new Promise((resolve) => server.close(resolve));
  const result = await deliver(transportTo({ port }));
  expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'connect_refused', hopFailed: true });
  expect(only(result).text).toContain(`127.0.0.1:${port} refuses connections`);
  expect(result.evidence).toMatchObject({ host: '127.0.0.1', address: null, tls: null, reused: false });
});

test('a name that does not resolve: dns_failed', async () => {
  const result = await deliver(transportTo({ host: 'no..such' }));
  expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'dns_failed', hopFailed: true });
});

test('a name is resolved, and the time it took recorded', async () => {
  const rig = await startRig({ smtp: { host: 'localhost' } });
  const result = await rig.deliver();
  expect(only(result).kind).toBe('delivered');
  expect(result.evidence).toMatchObject({ host: 'localhost', address: '127.0.0.1' });
  expect(result.evidence.timings.dnsMs).not.toBeNull();
});

test.each([
  ['CONNECT', '554 5.7.1 not welcome', 'greeting_refused'],
  ['CONNECT', '421 4.3.2 busy', 'greeting_refused'],
  ['EHLO', '421 4.3.2 busy', 'ehlo_refused'],
  ['CONNECT', 'SSH-2.0-OpenSSH', 'bad_reply'],
] as const)('%s answered %j: %s', async (verb, reply, cause) => {
  const rig = await startRig({ sink: { script: { [verb]: reply } } });
  const result = only(await rig.deliver());
  expect(result).toMatchObject({ kind: 'deferred', cause, hopFailed: true });
  if (cause !== 'bad_reply') expect(result.text).toContain(reply.slice(10));
});

test('EHLO and HELO both refused is the hop, even with 5xx', async () => {
  const rig = await startRig({ sink: { script: { EHLO: '550 5.7.1 no', HELO: '550 5.7.1 no' } } });
  expect(only(await rig.deliver())).toMatchObject({
    kind: 'deferred',
    cause: 'ehlo_refused',
    hopFailed: true,
  });
});

test('a connection closed before the greeting is the hop', async () => {
  const rig = await startRig({ sink: { script: { CONNECT: { close: 'end' } } } });
  expect(only(await rig.deliver())).toMatchObject({
    kind: 'deferred',
    cause: 'connection_lost',
    hopFailed: true,
  });
});

test('a connection lost after the message was spoken of is not held against the hop', async () => {
  const rig = await startRig({ sink: { script: { RCPT: { close: 'reset' } }, extensions: [] } });
  expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', hopFailed: false });
});

const lockstep = SINK_EXTENSIONS.filter((word) => word !== 'PIPELINING');
test.each<[SinkVerb, TimedVerb, string, SinkScript, boolean]>([
  ['CONNECT', 'greeting', 'deferred', {}, true],
  ['EHLO', 'ehlo', 'deferred', {}, true],
  ['HELO', 'helo', 'deferred', { EHLO: '500 what' }, true],
  ['MAIL', 'mail', 'deferred', {}, true],
  ['RCPT', 'rcpt', 'deferred', {}, false],
  ['DATA', 'data', 'deferred', {}, false],
  ['DOT', 'dot', 'unknown', {}, false],
])('silence at %s: timeout_%s, %s', async (verb, timed, kind, script, hopFailed) => {
  const reached = Promise.withResolvers<void>();
  const hang = () => {
    reached.resolve();
    return HANG;
  };
  const rig = await startRig({
    sink: { extensions: lockstep, script: { ...script, [verb]: hang } },
    timeouts: { [timed]: 7000 },
  });
  const delivery = rig.deliver();
  await reached.promise;
  await rig.clock.advance(6999);
  expect(rig.sink.open).toBe(1);
  await rig.clock.advance(1);
  expect(only(await delivery)).toMatchObject({ kind, cause: `timeout_${timed}`, hopFailed });
  expect(only(await delivery).text).toContain('within 7000 ms');
});

test('evidence tells the story in order, at most 20 steps, with the end', async () => {
  const rig = await startRig();
  const first = (await rig.deliver()).evidence;
  expect(first.steps.map(({ verb }) => verb)).toEqual([
    'CONNECT',
    'GREETING',
    'EHLO',
    'MAIL',
    'RCPT',
    'DATA',
    'DOT',
  ]);
  expect(first.reused).toBe(false);
  expect(first.timings.connectMs).not.toBeNull();
  const to = Array.from({ length: 50 }, (_, i) => `r${i}@x.test`);
  const second = (await rig.deliver({ to })).evidence;
  expect(second).toMatchObject({
    reused: true,
    address: '127.0.0.1',
    timings: { connectMs: null, dnsMs: null },
  });
  expect(second.steps.length).toBeLessThanOrEqual(20);
  expect(second.steps.at(-1)?.reply).toBe('250 2.0.0 Ok: queued as sink-1-2');
});
