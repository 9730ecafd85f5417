import { expect, test } from 'vitest';
import type { SmarthostSettings } from '../../../src/domain/relay.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { probeSmarthost } from '../../../src/transport/smtp/probe.ts';
import type { ProbeStep } from '../../../src/transport/transport.ts';

/** A relay that was made at run time cannot be pointed at what only this machine reaches (design §11). */

const SETTINGS: SmarthostSettings = {
  host: '',
  port: 80,
  tls: 'none',
  verify: false,
  username: null,
  password: null,
  helo: null,
  sourceIps: [],
  ipFamily: 'any',
  returnPath: 'auto',
};

async function stepsTo(settings: Partial<SmarthostSettings>): Promise<ProbeStep[]> {
  const context = { hostname: 'mail.example.com', clock: systemClock, timeouts: { connect: 3000 } };
  const steps: ProbeStep[] = [];
  const signal = new AbortController().signal;
  for await (const step of probeSmarthost({ ...SETTINGS, ...settings }, context, signal)) steps.push(step);
  return steps;
}

test.each([
  '169.254.169.254',
  '169.254.0.1',
  '[fe80::1]',
  'fe80::1',
  '::ffff:169.254.169.254',
  'fd00:ec2::254',
])('nothing is sent to %s', async (host) => {
  const steps = await stepsTo({ host: host.replace(/[[\]]/g, ''), noLinkLocal: true });
  expect(steps.at(-1)).toMatchObject({ ok: false, name: 'address_not_allowed' });
});

test('a private address may be a smarthost', async () => {
  const steps = await stepsTo({ host: '127.0.0.1', port: 1, noLinkLocal: true });
  expect(steps.at(-1)).toMatchObject({ ok: false, name: 'connect_refused' });
});
