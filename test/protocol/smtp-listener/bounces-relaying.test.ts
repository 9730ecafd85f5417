import { afterEach, describe, expect, test } from 'vitest';
import { TAKEN } from '../../support/bounce-mail.ts';
import { cidrs } from '../../support/cidrs.ts';
import { DOMAIN, DSN, returnPath, send, startWithBounces } from './bounce-world.ts';
import { QUEUED, type SmtpWorld } from './world.ts';

/** Mail to a bounce domain beside mail to be relayed: neither gets in the other's way (contract-2 §A3). */

let world: SmtpWorld;
afterEach(() => world.close());

async function start(options: Parameters<typeof startWithBounces>[0] = {}): Promise<void> {
  world = await startWithBounces(options);
}

describe('relaying and bounces', () => {
  const OTHER = 'bob@example.org';

  test.each([
    ['a bounce', () => [returnPath(), OTHER]],
    ['mail to relay', () => [OTHER, returnPath()]],
  ])('a transaction that begins as %s stays so', async (_, recipients) => {
    await start({ strangers: false });
    const client = await world.hello();
    await client.ask('MAIL FROM:<a@example.com>');
    const [first = '', second = ''] = recipients();
    expect(await client.ask(`RCPT TO:<${first}>`)).toMatch(/^250 /);
    expect(await client.ask(`RCPT TO:<${second}>`)).toMatch(
      /^452 4\.5\.3 Bounces are taken in a transaction of their own/,
    );
    await client.ask('DATA');
    client.say(...DSN, '.');
    expect(await client.reply()).toMatch(first === OTHER ? QUEUED : TAKEN);
    expect(world.intake.submissions).toHaveLength(first === OTHER ? 1 : 0);
    expect(world.desk.reports).toHaveLength(first === OTHER ? 0 : 1);
    // The next one is free again.
    expect(await send(client, [second], DSN, 'a@example.com')).toMatch(second === OTHER ? QUEUED : TAKEN);
  });

  test('who may relay brings bounces like anybody else, and relays neither them nor other mail there', async () => {
    await start({ strangers: false });
    const client = await world.hello();
    expect(await send(client, [returnPath()], DSN, 'a@example.com')).toMatch(TAKEN);
    expect(await send(client, [`info@${DOMAIN}`], DSN, 'a@example.com')).toMatch(/^550 5\.1\.1 /);
    expect(world.intake.submissions).toEqual([]);
  });

  test('who has a key brings them, too', async () => {
    await start({ settings: { allowInsecureAuth: true } });
    const secret = await world.key();
    const client = await world.hello();
    await client.ask(`AUTH PLAIN ${Buffer.from(`\0key\0${secret}`).toString('base64')}`);
    expect(await send(client, [returnPath()])).toMatch(TAKEN);
    expect(await send(client, [OTHER], DSN, 'a@example.com')).toMatch(QUEUED);
  });

  test('what relaying forbids is said at RCPT: the sender, the rate, and AUTH', async () => {
    await start({ strangers: false, settings: { requireAuth: true, rateLimitPerSource: 1 } });
    const client = await world.hello();
    expect(await send(client, [OTHER], DSN, 'a@example.com')).toMatch(/^530 5\.7\.0 Authentication required/);
    await client.ask('RSET');
    expect(await send(client, [returnPath()], DSN, 'a@example.com')).toMatch(TAKEN);
    world.options.settings.requireAuth = false;
    const source = {
      name: 'shop',
      cidr: '127.0.0.1',
      senderDomains: ['example.com'],
      ratePerMinute: 0,
      tags: [],
    };
    world.options.sources = [{ source, cidrs: cidrs('127.0.0.1') }];
    expect(await send(client, [OTHER], DSN, 'a@example.net')).toMatch(
      /^550 5\.7\.1 The source shop may not send as/,
    );
    await client.ask('RSET');
    expect(await send(client, [returnPath()], DSN, 'a@example.net')).toMatch(TAKEN);
  });

  test('bounces take nothing of the rate of relaying', async () => {
    await start({ strangers: false, settings: { rateLimitPerSource: 1 } });
    const client = await world.hello();
    for (let count = 0; count < 3; count++) expect(await send(client, [returnPath()])).toMatch(TAKEN);
    expect(await send(client, [OTHER], DSN, 'a@example.com')).toMatch(QUEUED);
    expect(await send(client, [OTHER], DSN, 'a@example.com')).toMatch(/^450 4\.7\.1 /);
  });

  test('the postmaster without a domain is still reached, by a message of its own', async () => {
    await start();
    const client = await world.hello();
    await client.ask('MAIL FROM:<>');
    expect(await client.ask('RCPT TO:<postmaster>')).toMatch(/^250 /);
    expect(await client.ask(`RCPT TO:<${returnPath()}>`)).toMatch(/^452 4\.5\.3 /);
  });
});

test('without a bounce domain, a stranger is told at MAIL and RCPT as ever', async () => {
  await start({ bounces: { domains: new Set() }, settings: { requireAuth: true } });
  const client = await world.hello();
  expect(await client.ask('MAIL FROM:<>')).toMatch(/^530 5\.7\.0 /);
  world.options.settings.requireAuth = false;
  expect(await send(client, [returnPath()])).toMatch(/^550 5\.7\.1 /);
  expect(world.desk.reports).toEqual([]);
});
