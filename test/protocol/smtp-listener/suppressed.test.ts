import { afterEach, expect, test } from 'vitest';
import type { Suppression } from '../../../src/domain/suppression.ts';
import { createIdSource } from '../../../src/lib/id.ts';
import type { SmtpClient } from '../../peers/smtp-client.ts';
import { MESSAGE, QUEUED, SmtpWorld } from './world.ts';

/** `listener.suppressed`: what authenticated clients hear of an address on the suppression list (contract-2 §A5). */

let world: SmtpWorld;
afterEach(() => world.close());

const REFUSED = /^550 5\.7\.1 <Bob@example\.org> is suppressed: hard_bounce/;

async function start(suppressed: 'accept' | 'refuse'): Promise<void> {
  world = await SmtpWorld.start({ settings: { suppressed, allowInsecureAuth: true } });
}

async function add(more: Partial<Suppression> = {}): Promise<void> {
  const now = world.clock.wall();
  const entry: Suppression = {
    id: createIdSource(world.clock, world.random, 'sup_')(),
    address: 'bob@example.org',
    scope: 'global',
    stream: null,
    reason: 'hard_bounce',
    source: 'dsn',
    evidence: null,
    note: '',
    createdAt: now,
    updatedAt: now,
    expiresAt: null,
    ...more,
  };
  await world.stores.suppressions.addSuppressions([entry], { max: 100, by: 'itself', now });
}

/** A client that has begun a message; with a key unless told otherwise. */
async function sender(secret: string | null): Promise<SmtpClient> {
  const client = await world.hello();
  if (secret !== null) {
    const plain = Buffer.from(`\0key\0${secret}`).toString('base64');
    expect(await client.ask(`AUTH PLAIN ${plain}`)).toMatch(/^235 /);
  }
  expect(await client.ask('MAIL FROM:<shop@example.com>')).toMatch(/^250 /);
  return client;
}

test('a suppressed recipient is refused at RCPT, and the others get the message', async () => {
  await start('refuse');
  await add();
  const client = await sender(await world.key());
  expect(await client.ask('RCPT TO:<Bob@example.org>')).toMatch(REFUSED);
  expect(world.denied).toEqual(['suppressed']);
  await client.askAll('RCPT TO:<ann@example.org>', 'DATA');
  client.say(...MESSAGE);
  expect(await client.reply()).toMatch(QUEUED);
  expect(world.last.envelope.recipients.map(({ address }) => address)).toEqual(['ann@example.org']);
});

test('nobody without a key learns what is on the list, and with accept nobody does', async () => {
  await start('refuse');
  await add();
  const client = await sender(null);
  expect(await client.ask('RCPT TO:<Bob@example.org>')).toMatch(/^250 /);
  world.options.settings.suppressed = 'accept';
  expect(await (await sender(await world.key())).ask('RCPT TO:<Bob@example.org>')).toMatch(/^250 /);
});

test.each<[string, Partial<Suppression>, RegExp]>([
  ['of the sender’s domain', { scope: 'domain:example.com' }, REFUSED],
  ['of another domain', { scope: 'domain:example.net' }, /^250 /],
  ['of the key', { scope: 'key:key_shop' }, REFUSED],
  ['of another key', { scope: 'key:key_other' }, /^250 /],
  ['of a stream, which is not known yet', { stream: 'news' }, /^250 /],
  ['that has ended', { expiresAt: 1 }, /^250 /],
  ['of the whole domain', { address: '*@example.org' }, REFUSED],
])('an entry %s', async (_, entry, expected) => {
  await start('refuse');
  await add(entry);
  const client = await sender(await world.key({ id: 'key_shop' }));
  expect(await client.ask('RCPT TO:<Bob@example.org>')).toMatch(expected);
});
