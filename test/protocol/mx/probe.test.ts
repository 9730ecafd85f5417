/** `relays test` of an `mx` relay: lookups, hosts and what their TLS proves, without sending anything. */
import { expect, test } from 'vitest';
import { mxMeans } from '../../../src/transport/mx/means.ts';
import { probeMx } from '../../../src/transport/mx/probe.ts';
import type { ProbeStep } from '../../../src/transport/transport.ts';
import { createCertificate } from '../../peers/certificate.ts';
import { type MxRig, startMxRig } from './rig.ts';

async function probe(rig: MxRig, recipient: string): Promise<ProbeStep[]> {
  const steps: ProbeStep[] = [];
  const { resolver } = rig.options;
  const { signal } = new AbortController();
  for await (const step of probeMx(recipient, mxMeans(rig.options), resolver, signal)) steps.push(step);
  return steps;
}

test('every host is tried, and nothing is sent', async () => {
  const certificate = createCertificate({ hosts: ['mx2.example.net'] });
  const rig = await startMxRig({ sinks: { '127.0.0.1': { tls: 'starttls', certificate } } });
  rig.route('example.net', { 'mx1.example.net': '127.0.0.99', 'mx2.example.net': '127.0.0.1' });
  const steps = await probe(rig, 'someone@example.net');
  expect(steps.map(({ name, ok }) => `${ok ? '' : '!'}${name}`)).toEqual([
    'MX',
    'TXT',
    'MTA-STS',
    'AAAA',
    'A',
    'HOST',
    '!connect_refused',
    'AAAA',
    'A',
    'HOST',
    'CONNECT',
    'GREETING',
    'EHLO',
    'STARTTLS',
    'TLS',
    'EHLO',
    'READY',
  ]);
  const last = steps.at(-1)?.detail ?? '';
  expect(last).toContain('mx2.example.net (127.0.0.1) is ready for mail, TLSv1.3');
  expect(last).toContain('unverified');
  expect(steps[0]?.detail).toBe('example.net: 10 mx1.example.net, 20 mx2.example.net');
  await rig.sink().until(() => rig.sink().open === 0);
  expect(rig.sink().commands.filter(({ line }) => line.startsWith('MAIL'))).toEqual([]);
});

test('where there is nowhere to go it says why', async () => {
  const rig = await startMxRig({ mx: { allowPrivate: false } });
  expect((await probe(rig, 'a@gone.test')).at(-1)).toMatchObject({ name: 'dns_nxdomain', ok: false });
  rig.route('private.test', { 'mx.private.test': '127.0.0.1' });
  expect((await probe(rig, 'a@private.test')).at(-1)).toMatchObject({ name: 'private_address', ok: false });
  expect(await probe(rig, 'nobody')).toMatchObject([{ name: 'address', ok: false }]);
  expect(rig.sink().connections).toBe(0);
});
