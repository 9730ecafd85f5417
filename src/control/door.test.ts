import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { PLAIN_KEY } from '../../test/support/plain-key.ts';
import { systemClock } from '../lib/clock.ts';
import type { LogFields } from '../lib/log.ts';
import { silentLog } from '../lib/log.ts';
import type { ActivityEntry } from '../operations/system.ts';
import { OPERATION_NAMES, OPERATIONS, type Operations } from '../operations/table.ts';
import { type Journal, MAX_JOURNAL_TEXT } from '../store/journal.ts';
import type { Actor } from './door.ts';
import { createDoor, operationsOf } from './door.ts';
import type { Offline } from './offline.ts';

const ADA: Actor = { kind: 'user', name: 'ada', role: 'admin', sourceAddress: '192.0.2.7', sessionId: 's1' };
const SECRET = 'hunter2-is-planted-here';
const DEFINITION = { name: 'out', type: 'smtp', host: 'mail.example', username: 'u' };
const KEY = { ...PLAIN_KEY, name: 'shop' };

let here: Installation;
let opened: Offline;
beforeEach(async () => {
  here = new Installation();
  opened = await here.open();
});
afterEach(async () => {
  await opened.close();
  here.remove();
});

const activity = async (): Promise<readonly ActivityEntry[]> =>
  (await opened.operations.activity({ actor: null, action: null, subject: null, limit: 200, before: null }))
    .entries;
const newest = async () => (await activity())[0];

describe('what is done', () => {
  test('is written down with who, from where, on what, and how it was before and after', async () => {
    await opened.door.call(ADA, 'addRelay', { definition: DEFINITION, secret: SECRET, makeDefault: true });
    expect(await newest()).toMatchObject({
      actor: 'ada',
      actorKind: 'user',
      sourceAddress: '192.0.2.7',
      action: 'addRelay',
      subject: 'out',
      words: 'Added a relay',
      before: null,
      after: { definition: DEFINITION, hasSecret: true, disabled: false },
    });
    await opened.door.call(ADA, 'switchRelay', { name: 'out', disabled: true });
    expect(await newest()).toMatchObject({ before: { disabled: false }, after: { disabled: true } });
    expect(JSON.stringify(await activity())).not.toContain(SECRET);
  });

  test('of the command line has no name', async () => {
    await opened.operations.hold({ target: 'inbox', kind: 'pause' });
    expect(await newest()).toMatchObject({
      actor: '',
      actorKind: 'command',
      sourceAddress: null,
      action: 'hold',
      subject: 'inbox',
      before: null,
      after: { target: 'inbox', kind: 'pause' },
    });
  });

  test('without success is written down with the code of the failure, and nothing of what was asked', async () => {
    const call = opened.door.call(ADA, 'removeRelay', { name: 'nowhere', secret: SECRET });
    await expect(call).rejects.toMatchObject({ code: 'invalid' });
    const missing = opened.door.call(ADA, 'removeRelay', { name: 'nowhere' });
    await expect(missing).rejects.toMatchObject({ code: 'not_found' });
    expect(await activity()).toMatchObject([
      { action: 'removeRelay', subject: 'nowhere', before: null, after: { error: 'not_found' } },
      { action: 'removeRelay', subject: 'nowhere', before: null, after: { error: 'invalid' } },
    ]);
    expect(JSON.stringify(await activity())).not.toContain(SECRET);
  });

  test('to a key that is named by its secret does not leave the secret behind, nor tells it', async () => {
    const { secret } = (await opened.door.call(ADA, 'createKey', KEY)) as { readonly secret: string };
    const refused = opened.door.call(ADA, 'revokeKey', { key: secret });
    await expect(refused).rejects.toThrow(`There is no key ${secret.slice(0, 14)}…`);
    expect(await newest()).toMatchObject({ action: 'revokeKey', subject: `${secret.slice(0, 14)}…` });
    expect(JSON.stringify(await activity())).not.toContain(secret.slice(14));
  });

  test('by reading alone is not written down', async () => {
    await opened.door.call(ADA, 'relays', {});
    await opened.door.call(ADA, 'activity', {
      actor: null,
      action: null,
      subject: null,
      limit: 1,
      before: null,
    });
    expect(await activity()).toEqual([]);
  });

  test('never leaves the secret of a new key behind', async () => {
    const made = (await opened.door.call(ADA, 'createKey', KEY)) as { readonly secret: string };
    const again = (await opened.door.call(ADA, 'rotateKey', { key: 'shop' })) as { readonly secret: string };
    expect(await newest()).toMatchObject({ action: 'rotateKey', subject: 'shop' });
    const text = JSON.stringify(await activity());
    for (const { secret } of [made, again]) expect(text).not.toContain(secret);
    expect(text).toContain('messages:send');
  });
});

describe('a door', () => {
  const deps = (operations: object, journal: object) => ({
    operations: operations as Operations,
    journal: journal as Journal,
    clock: new ManualClock(),
    log: silentLog,
  });

  test('lets nobody do what their role does not allow', async () => {
    for (const name of OPERATION_NAMES) {
      const rank = ['viewer', 'operator', 'admin'].indexOf(OPERATIONS[name].access.role);
      const lower = (['viewer', 'operator'] as const).slice(0, rank);
      for (const role of lower)
        await expect(opened.door.call({ ...ADA, role }, name, {})).rejects.toMatchObject({
          code: 'forbidden',
        });
    }
    expect(await activity()).toEqual([]);
  });

  test('keeps what is long in short, and what is too long not at all', async () => {
    const written: { after: string }[] = [];
    const record = async (entries: typeof written) => void written.push(...entries);
    const door = createDoor(deps({ actOnMessages: async () => ({}), hold: async () => ({}) }, { record }));
    const ids = Array.from({ length: 500 }, (_, i) => `msg_${i}`);
    await door.call(ADA, 'actOnMessages', { act: 'cancel', ids });
    expect(JSON.parse(written[0]?.after ?? '').ids).toHaveLength(51);
    const long = Array.from({ length: 50 }, () => 'x'.repeat(63));
    await door.call(ADA, 'actOnMessages', { act: 'cancel', ids: long });
    for (const { after } of written) expect(after.length).toBeLessThanOrEqual(MAX_JOURNAL_TEXT);
  });

  test('undoes nothing where it cannot be written down; the log says so', async () => {
    const logged: [string, LogFields | undefined][] = [];
    const log = {
      ...silentLog,
      error: (event: string, fields?: LogFields) => void logged.push([event, fields]),
    };
    const record = () => Promise.reject(Object.assign(new Error('full'), { code: 'store_full' }));
    const door = createDoor({ ...deps({ hold: async () => 'held' }, { record }), log, clock: systemClock });
    const operations = operationsOf(door, ADA);
    expect(await operations.hold({ target: 'out', kind: 'pause' })).toBe('held');
    expect(logged).toEqual([
      [
        'journal.not_written',
        { operation: 'hold', actor: 'ada', source: '192.0.2.7', subject: 'out', code: 'store_full' },
      ],
    ]);
  });
});
