/** From where a smarthost is connected to, and for how long it may take to speak. */
import { expect, test } from 'vitest';
import { advanceUntil, only, startRig } from './rig.ts';

test('connections come from source_ips in turn', async () => {
  const smtp = { sourceIps: ['127.0.0.21', '127.0.0.22'] };
  const rig = await startRig({ smtp, pool: { maxTransactions: 1 } });
  const from: unknown[] = [];
  for (let i = 0; i < 3; i++) from.push((await rig.deliver()).evidence.localAddress);
  expect(from).toEqual(['127.0.0.21', '127.0.0.22', '127.0.0.21']);
});

test('a name is connected to over the family of the source addresses, whatever else it has', async () => {
  const rig = await startRig({ smtp: { host: 'localhost', sourceIps: ['127.0.0.21'] } });
  expect((await rig.deliver()).evidence).toMatchObject({ address: '127.0.0.1', localAddress: '127.0.0.21' });
});

test('with addresses of both families the other is tried where the first does not lead', async () => {
  const smtp = { host: 'localhost', sourceIps: ['127.0.0.21', '::1'] };
  const rig = await startRig({ smtp, pool: { maxTransactions: 1 } });
  for (let i = 0; i < 2; i++) {
    const result = await rig.deliver();
    expect(only(result).kind).toBe('delivered');
    expect(result.evidence.localAddress).toBe('127.0.0.21');
  }
});

test('ip_family forbids the other', async () => {
  const rig = await startRig({ smtp: { host: 'localhost', ipFamily: 'ipv6' } });
  expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', hopFailed: true });
  expect(rig.sink.connections).toBe(0);
});

test('a source address that this machine does not have is named, with where it was set', async () => {
  const rig = await startRig({ smtp: { sourceIps: ['192.0.2.77'] } });
  const { cause, text } = only(await rig.deliver());
  expect([cause, text]).toEqual(['source_ip_unusable', expect.stringContaining('192.0.2.77 of source_ips')]);
});

test('how long connecting may take is no bound on the greeting', async () => {
  const spoken = Promise.withResolvers<void>();
  const rig = await startRig({
    sink: { script: { CONNECT: { after: spoken.promise, reply: '220 at last' } } },
    timeouts: { connect: 1000, greeting: 300_000 },
  });
  const delivery = rig.deliver();
  await rig.sink.until(() => rig.sink.connections === 1);
  await rig.clock.advance(290_000);
  spoken.resolve();
  expect(only(await advanceUntil(rig.clock, 1, delivery)).kind).toBe('delivered');
});
