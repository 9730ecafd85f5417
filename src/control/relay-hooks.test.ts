import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { provenNote } from '../config/hook-tokens.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import type { Offline } from './offline.ts';

const URL_FORM = /^https:\/\/<your-server>\/hooks\/pm\/[0-9a-f]{32}$/;

let here: Installation;
let opened: Offline;
beforeEach(async () => {
  here = new Installation();
  opened = await here.open();
  const { operations } = opened;
  await operations.addRelay({
    definition: { name: 'pm', type: 'postmark' },
    secret: 'token',
    makeDefault: true,
  });
});
afterEach(async () => {
  await opened.close();
  here.remove();
});

test('a hook has a URL that stays, and says what its relay lacks', async () => {
  const shown = await opened.operations.relayHook({ name: 'pm' });
  expect(shown).toEqual({
    relay: 'pm',
    type: 'postmark',
    url: expect.stringMatching(URL_FORM),
    isReachable: false,
    formerUntil: null,
    missing: ['webhook_username', 'webhook_secret'],
    lastProvenAt: null,
    lastRefusedAt: null,
  });
  await opened.close();
  opened = await here.open();
  expect(await opened.operations.relayHook({ name: 'pm' })).toEqual(shown);
  await opened.operations.updateRelay({
    name: 'pm',
    definition: { type: 'postmark', webhook_username: 'hook' },
    secret: { webhook_secret: 'secret' },
  });
  await opened.operations.putSettings({ values: { 'server.public_url': 'https://mail.example.com/' } });
  const { url, isReachable, missing } = await opened.operations.relayHook({ name: 'pm' });
  expect([url, isReachable, missing]).toEqual([
    shown.url.replace('https://<your-server>', 'https://mail.example.com'),
    true,
    [],
  ]);
});

test('a rotation is known after a restart, and recorded without the URL', async () => {
  const { operations } = opened;
  const before = await operations.relayHook({ name: 'pm' });
  const after = await operations.rotateRelayHook({ name: 'pm' });
  expect(after.url).toMatch(URL_FORM);
  expect(after.url).not.toBe(before.url);
  const left = Date.parse(after.formerUntil ?? '') - Date.now();
  expect(left).toBeGreaterThan(86_000_000);
  expect(left).toBeLessThanOrEqual(86_400_000);
  const { entries } = await operations.activity({
    actor: null,
    action: null,
    subject: 'pm',
    limit: 10,
    before: null,
  });
  expect(entries[0]).toMatchObject({ action: 'rotateRelayHook', subject: 'pm' });
  expect(JSON.stringify(entries)).not.toMatch(/[0-9a-f]{32}/);
  await opened.close();
  opened = await here.open();
  expect(await opened.operations.relayHook({ name: 'pm' })).toEqual(after);
  // The token does not come back with a relay of the same name.
  await opened.operations.removeRelay({ name: 'pm' });
  const definition = { name: 'pm', type: 'postmark' };
  await opened.operations.addRelay({ definition, secret: 'token', makeDefault: true });
  expect((await opened.operations.relayHook({ name: 'pm' })).url).toBe(after.url);
});

test('a proof goes with its relay, and with the relay’s type', async () => {
  const proven = async () => (await opened.operations.relayHook({ name: 'pm' })).lastProvenAt;
  const prove = async () => {
    await opened.close();
    const database = openSqlite(join(here.dataDir, 'waybill.db'));
    await database.registry.putSetting(provenNote('pm'), JSON.stringify(1000));
    await database.store.close();
    opened = await here.open();
  };
  await prove();
  await opened.operations.updateRelay({ name: 'pm', definition: { type: 'postmark' }, secret: null });
  expect(await proven()).toBe('1970-01-01T00:00:01.000Z');
  await opened.operations.removeRelay({ name: 'pm' });
  const definition = { name: 'pm', type: 'postmark' };
  await opened.operations.addRelay({ definition, secret: 'token', makeDefault: true });
  expect(await proven()).toBeNull();
  await prove();
  await opened.operations.updateRelay({ name: 'pm', definition: { type: 'resend' }, secret: 're_key' });
  expect(await proven()).toBeNull();
});

test('relays without webhooks have no hook', async () => {
  const { operations } = opened;
  await expect(operations.relayHook({ name: 'inbox' })).rejects.toThrow(
    'is of type inbox, which has no hook',
  );
  await expect(operations.rotateRelayHook({ name: 'inbox' })).rejects.toThrow('has no hook');
  await expect(operations.relayHook({ name: 'nobody' })).rejects.toThrow('There is no relay nobody.');
});

test('the command line shows and rotates it', async () => {
  await opened.close();
  const shown = await here.waybill(['relays', 'show', 'pm', '--hook']);
  expect(shown.out).toMatch(
    /^Hook of pm \(postmark\):\n {2}https:\/\/<your-server>\/hooks\/pm\/[0-9a-f]{32}\n/,
  );
  expect(shown.out).toContain(
    'It refuses everything until the relay has webhook_username and webhook_secret.',
  );
  expect(await here.waybill(['relays', 'hook', 'show', 'pm'])).toEqual(shown);
  const rotated = await here.waybill(['relays', 'hook', 'rotate', 'pm']);
  expect([rotated.status, rotated.out === shown.out]).toEqual([0, false]);
  expect(rotated.out).toContain('The URL that it had before works until ');
  expect((await here.json(['relays', 'show', 'pm'])).name).toBe('pm');
  expect((await here.waybill(['relays', 'hook', 'rotate', 'inbox'])).status).toBe(1);
  opened = await here.open();
});
