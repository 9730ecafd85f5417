import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { systemClock } from '../lib/clock.ts';
import type { RequestOf } from '../operations/table.ts';
import type { Offline } from './offline.ts';

const KEY: RequestOf<'createKey'> = {
  name: 'shop',
  test: false,
  scopes: ['messages:send', 'messages:read'],
  rateLimit: 7,
  expiresAt: null,
  cidrs: ['192.0.2.0/24'],
  senderDomains: ['shop.example'],
};

let here: Installation;
let opened: Offline;
beforeEach(async () => {
  here = new Installation();
  opened = await here.open();
  await opened.operations.createKey(KEY);
});
afterEach(async () => {
  await opened.close();
  here.remove();
});

describe('changing a key', () => {
  test('changes what is given, leaves the rest, and is seen in the list', async () => {
    const { operations } = opened;
    const changed = await operations.updateKey({ key: 'shop', rateLimit: null, cidrs: [], name: 'store' });
    expect(changed).toMatchObject({ name: 'store', rateLimit: null, cidrs: [] });
    expect(changed).toMatchObject({ scopes: KEY.scopes, senderDomains: ['shop.example'], expiresAt: null });
    expect((await operations.listKeys({}))[0]).toEqual(changed);
  });

  test('takes a time to come, keeps one that has come, and takes it away', async () => {
    const { operations } = opened;
    const soon = new Date(systemClock.wall() + 60_000).toISOString();
    expect((await operations.updateKey({ key: 'shop', expiresAt: soon })).expiresAt).toBe(soon);
    expect((await operations.updateKey({ key: 'shop', expiresAt: soon, rateLimit: 1 })).rateLimit).toBe(1);
    const past = operations.updateKey({ key: 'shop', expiresAt: '2020-01-01T00:00:00Z' });
    await expect(past).rejects.toMatchObject({ code: 'invalid' });
    expect((await operations.updateKey({ key: 'shop', expiresAt: null })).expiresAt).toBeNull();
  });

  test('refuses wrong ranges and domains, a name that is taken, and a key that is revoked', async () => {
    const { operations } = opened;
    for (const wrong of [{ cidrs: ['10.0.0.1/8'] }, { senderDomains: ['a b'] }, { scopes: [] }])
      await expect(operations.updateKey({ key: 'shop', ...wrong })).rejects.toMatchObject({
        code: 'invalid',
      });
    await operations.createKey({ ...KEY, name: 'other' });
    const taken = operations.updateKey({ key: 'shop', name: 'other' });
    await expect(taken).rejects.toMatchObject({ code: 'refused' });
    await operations.revokeKey({ key: 'other' });
    const revoked = operations.updateKey({ key: 'other', rateLimit: 1 });
    await expect(revoked).rejects.toMatchObject({ code: 'refused' });
  });

  test('leaves the name alone that a rule of routing goes by', async () => {
    const { operations } = opened;
    const routes = [{ name: 'shops', match: { key: 'shop' }, via: ['inbox'] }];
    await operations.publishRoutes({ routes });
    const renamed = operations.updateKey({ key: 'shop', name: 'store' });
    await expect(renamed).rejects.toThrow(/name the key shop: shops/);
    expect((await operations.updateKey({ key: 'shop', rateLimit: 1 })).rateLimit).toBe(1);
  });

  test('by the command line', async () => {
    await opened.close();
    const out = await here.json([
      'keys',
      'update',
      'shop',
      '--rate',
      'default',
      '--anywhere',
      '--scope',
      'admin',
    ]);
    expect(out).toMatchObject({ rateLimit: null, cidrs: [], scopes: ['admin'] });
    expect((await here.waybill(['keys', 'update', 'shop'])).status).toBe(2);
    const both = await here.waybill(['keys', 'update', 'shop', '--anywhere', '--cidr', '192.0.2.1']);
    expect(both.status).toBe(2);
    opened = await here.open();
  });
});

describe('a key whose client signs', () => {
  test('has an access of its own, which is sealed and rotates with it', async () => {
    const { operations } = opened;
    const { signing } = await operations.createKey({ ...KEY, name: 'mailer', ses: true });
    expect(signing).toEqual({
      accessKeyId: expect.stringMatching(/^WB[A-Z2-7]{18}$/),
      secretAccessKey: expect.stringMatching(/^[\w-]{40}$/),
    });
    const next = await operations.rotateKey({ key: 'mailer' });
    expect(next.signing?.accessKeyId).not.toBe(signing?.accessKeyId);
    const stored = readFileSync(join(here.dataDir, 'waybill.db')).toString('latin1');
    expect(stored).not.toContain(signing?.secretAccessKey);
    expect((await operations.rotateKey({ key: 'shop' })).signing).toBeNull();
  });
});
