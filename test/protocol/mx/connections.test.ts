/** Connections are shared by the domains of one host, bounded over all hosts, and remembered only while they last. */
import { expect, test } from 'vitest';
import { createCertificate } from '../../peers/certificate.ts';
import { only } from '../smtp-out/rig.ts';
import { startMxRig } from './rig.ts';

test('two domains of one host share a connection', async () => {
  const rig = await startMxRig();
  rig.route('a.test', { 'mx.test': '127.0.0.1' });
  rig.route('b.test', { 'mx.test': '127.0.0.1' });
  expect((await rig.deliver({ to: ['x@a.test'] })).evidence.reused).toBe(false);
  expect((await rig.deliver({ to: ['x@b.test'] })).evidence).toMatchObject({
    reused: true,
    host: 'mx.test',
    address: '127.0.0.1',
    security: { verdict: 'none' },
  });
  expect(rig.sink().connections).toBe(1);
});

test('a connection that proved less than a domain asks for is not used for it', async () => {
  const certificate = createCertificate({ hosts: ['mx.test'] });
  const rig = await startMxRig({
    sinks: { '127.0.0.1': { tls: 'starttls', certificate } },
    policies: { 'strict.test': 'version: STSv1\nmode: enforce\nmx: mx.test\nmax_age: 86400\n' },
  });
  rig.route('a.test', { 'mx.test': '127.0.0.1' });
  rig.route('strict.test', { 'mx.test': '127.0.0.1' });
  expect(only(await rig.deliver({ to: ['x@a.test'] })).kind).toBe('delivered');
  expect(only(await rig.deliver({ to: ['x@strict.test'] }))).toMatchObject({
    kind: 'deferred',
    cause: 'tls_failed',
  });
  expect(rig.sink().connections).toBe(2);
  expect(rig.sink().taken).toBe(1);
});

test('idle connections make room: never more than allowed over all hosts', async () => {
  const rig = await startMxRig({ pool: { maxConnections: 3 } });
  let most = 0;
  rig.sink().script.MAIL = () => {
    most = Math.max(most, rig.transport.connections());
    return undefined;
  };
  const domains = Array.from({ length: 30 }, (_, i) => `d${i}.test`);
  for (const domain of domains) rig.route(domain, { [`mx.${domain}`]: '127.0.0.1' });
  for (const domain of domains)
    expect(only(await rig.deliver({ to: [`x@${domain}`] })).kind).toBe('delivered');
  expect(rig.transport.connections()).toBeLessThanOrEqual(3);
  const all = await Promise.all(domains.map((domain) => rig.deliver({ to: [`x@${domain}`] })));
  expect(all.map((result) => only(result).kind)).toEqual(domains.map(() => 'delivered'));
  expect(most).toBeLessThanOrEqual(3);
});

test('the longest idle connection makes room, the latest used stays', async () => {
  const rig = await startMxRig({ pool: { maxConnections: 2 } });
  for (const domain of ['a.test', 'b.test', 'c.test']) {
    rig.route(domain, { [`mx.${domain}`]: '127.0.0.1' });
    await rig.deliver({ to: [`x@${domain}`] });
  }
  expect((await rig.deliver({ to: ['x@b.test'] })).evidence.reused).toBe(true);
  expect((await rig.deliver({ to: ['x@a.test'] })).evidence.reused).toBe(false);
});

test('what is idle for long is closed, and its host forgotten', async () => {
  const rig = await startMxRig({ timeouts: { idle: 1000 } });
  for (let i = 0; i < 15; i++) {
    rig.route(`d${i}.test`, { [`mx.d${i}.test`]: '127.0.0.1' });
    await rig.deliver({ to: [`x@d${i}.test`] });
  }
  expect(rig.transport.connections()).toBe(15);
  await rig.clock.advance(1000);
  await rig.sink().until(() => rig.sink().open === 0);
  expect(rig.sink().commands.filter(({ line }) => line === 'QUIT')).toHaveLength(15);
});

test('no message begins behind another: what one host may have is bounded by its attempts, and they end with its answer', async () => {
  const rig = await startMxRig({ pool: { maxConnections: 1 } });
  rig.route('a.test', { 'mx.test': '127.0.0.1' });
  let sent = 0;
  for (let i = 0; i < 3; i++) {
    const result = await rig.deliver({ to: ['x@a.test'], sent: () => sent++ });
    expect(only(result).kind).toBe('delivered');
  }
  expect(sent).toBe(0);
});
