/** `relays test`: what a delivery would meet, without sending anything. */
import { expect, test } from 'vitest';
import type { SmarthostSettings } from '../../../src/domain/relay.ts';
import { probeSmarthost } from '../../../src/transport/smtp/probe.ts';
import type { ProbeStep } from '../../../src/transport/transport.ts';
import { createCertificate } from '../../peers/certificate.ts';
import { HANG } from '../../peers/smtp-sink-script.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { relayTo, startRig } from './rig.ts';

async function probe(settings: Partial<SmarthostSettings>): Promise<ProbeStep[]> {
  const { smtp } = relayTo(settings);
  if (!smtp) throw new Error('relayTo makes smtp relays');
  const steps: ProbeStep[] = [];
  const context = { hostname: 'client.example', clock: new ManualClock() };
  for await (const step of probeSmarthost(smtp, context, new AbortController().signal)) steps.push(step);
  return steps;
}

test('every step of a good opening, then QUIT', async () => {
  const certificate = createCertificate({ hosts: ['127.0.0.1'] });
  const rig = await startRig({ sink: { tls: 'starttls', certificate, users: { u: 'p' } } });
  const steps = await probe({
    port: rig.sink.port,
    tls: 'required',
    verify: false,
    username: 'u',
    password: 'p',
  });
  expect(steps.map(({ name }) => name)).toEqual([
    'CONNECT',
    'GREETING',
    'EHLO',
    'STARTTLS',
    'TLS',
    'EHLO',
    'AUTH',
    'READY',
  ]);
  expect(steps.every(({ ok }) => ok)).toBe(true);
  await rig.sink.until(() => rig.sink.open === 0);
  expect(rig.sink.commands.at(-1)?.line).toBe('QUIT');
});

test('a failure ends it, with its cause', async () => {
  const rig = await startRig();
  const steps = await probe({ port: rig.sink.port, tls: 'required' });
  expect(steps.at(-1)).toMatchObject({ name: 'tls_failed', ok: false });
  expect(steps.at(-1)?.detail).toContain('does not offer STARTTLS');
});

test('a step that the smarthost refuses is told as failed', async () => {
  const certificate = createCertificate({ hosts: ['127.0.0.1'] });
  const rig = await startRig({ sink: { tls: 'starttls', certificate, users: { u: 'p' } } });
  const steps = await probe({
    port: rig.sink.port,
    tls: 'opportunistic',
    verify: false,
    username: 'u',
    password: 'wrong',
  });
  expect(steps.slice(-2)).toMatchObject([
    { name: 'AUTH', ok: false, detail: expect.stringMatching(/^535 /) },
    { name: 'auth_failed', ok: false },
  ]);
  expect(steps.filter(({ ok }) => !ok)).toHaveLength(2);
});

test('a transport that is asked whether its hop is well opens a session, which the next message uses', async () => {
  const rig = await startRig();
  const { signal } = new AbortController();
  expect(await rig.transport.probe?.(signal)).toEqual({ host: '127.0.0.1', trouble: null });
  expect(rig.sink.commands.map(({ line }) => line)).toEqual(['EHLO client.example']);
  await rig.deliver();
  expect([rig.sink.taken, rig.sink.connections]).toEqual([1, 1]);
});

test('a hop that refuses, or says nothing until we are tired of it, is not well', async () => {
  const rig = await startRig({ sink: { script: { CONNECT: '421 4.3.2 Not now' } } });
  expect((await rig.transport.probe?.(new AbortController().signal))?.trouble === null).toBe(false);
  rig.sink.script = { CONNECT: HANG };
  const limit = new AbortController();
  const asked = rig.transport.probe?.(limit.signal);
  await rig.sink.until(() => rig.sink.connections === 2);
  limit.abort();
  expect((await asked)?.trouble).toMatchObject({ cause: 'aborted' });
  expect(rig.transport.connections()).toBe(0);
});
