import { afterEach, expect, test } from 'vitest';
import { newProbe } from '../../../src/config/bounces.ts';
import { realMachine } from '../../../src/control/doctor/machine.ts';
import { checkBounceDomain } from '../../../src/control/domain-checks/bounce-domain.ts';
import { premises, scriptedResolver } from '../../support/premises.ts';
import { DOMAIN, DSN, KEYS, keysOf, returnPath, send, startWithBounces } from './bounce-world.ts';
import type { SmtpWorld } from './world.ts';

/** The probe of the doctor and of domain checks, over real sockets: only this installation knows the answer. */

let world: SmtpWorld;
afterEach(() => world.close());

/** What is said of the probe once it was sent to the listener. */
async function probed(keys: typeof KEYS = KEYS) {
  const file = `delivery: { default_relay: d }
server: { hostname: mail.example.com }
relays: [{ name: d, type: mx, port: ${world.port} }]`;
  const { config } = premises({ file }).loaded;
  const resolver = scriptedResolver({
    [`MX ${DOMAIN}`]: [{ preference: 10, exchange: 'mail.example.com' }],
    'A mail.example.com': ['127.0.0.1'],
  });
  const probe = newProbe(keys, world);
  const machine = realMachine(world.clock);
  const facts = { domain: DOMAIN, config, resolver, machine, probe };
  const checked = checkBounceDomain('bounce', facts, AbortSignal.timeout(10_000));
  return (await world.passing(checked)).findings[2];
}

test('a bounce comes back, from an address that may not relay; it is told to nobody', async () => {
  world = await startWithBounces();
  expect(await probed()).toMatchObject({ status: 'ok' });
  expect(world.desk.reports).toEqual([]);
  expect(world.intake.submissions).toEqual([]);
});

test('another installation does not know the answer', async () => {
  world = await startWithBounces();
  expect(await probed(keysOf(9))).toMatchObject({
    status: 'warn',
    found: expect.stringContaining('550 5.1.1'),
  });
});

test('an installation without this bounce domain neither', async () => {
  world = await startWithBounces({ bounces: { domains: new Set() } });
  expect(await probed()).toMatchObject({ status: 'warn', found: expect.stringContaining('550 5.7.1') });
});

test('an old probe is nobody’s address, and a new one brings nothing else', async () => {
  world = await startWithBounces();
  const local = newProbe(KEYS, world)?.localPart ?? '';
  const client = await world.hello();
  await client.askAll('MAIL FROM:<>', `RCPT TO:<${local}@${DOMAIN}>`);
  expect(await client.ask(`RCPT TO:<${returnPath()}>`)).toMatch(/^452 4\.5\.3 /);
  await client.askAll('RSET', 'MAIL FROM:<>', `RCPT TO:<${returnPath()}>`);
  expect(await client.ask(`RCPT TO:<${local}@${DOMAIN}>`)).toMatch(/^452 4\.5\.3 /);
  await client.ask('RSET');
  await world.clock.advance(600_000);
  expect(await send(await world.hello(), [`${local}@${DOMAIN}`], DSN)).toMatch(/^550 5\.1\.1 /);
});

test('what proves it is no address', async () => {
  world = await startWithBounces();
  const { proof = '' } = newProbe(KEYS, world) ?? {};
  expect(await send(await world.hello(), [`p-${proof}@${DOMAIN}`], DSN)).toMatch(/^550 5\.1\.1 /);
});
