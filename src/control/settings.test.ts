import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { SETTINGS } from '../config/settings.ts';
import type { ApiKey } from '../domain/key.ts';
import { type Actor, COMMAND_LINE, operationsOf } from './door.ts';
import type { Offline } from './offline.ts';
import { deniedSources } from './settings.ts';

const FROM = { sourceAddress: '192.0.2.7', sessionId: null };
const ADA: Actor = { ...FROM, kind: 'user', name: 'ada', role: 'admin', host: 'mail.example.com' };

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

/** Opens anew, with a configuration file. */
async function withFile(text: string): Promise<void> {
  await opened.close();
  writeFileSync(join(here.dataDir, 'waybill.yaml'), text);
  opened = await here.open();
}
const rowOf = async (key: string) => (await opened.operations.settings({})).find((row) => row.key === key);
const putAs = (actor: Actor, values: Record<string, unknown>, unset: string[] = []) =>
  operationsOf(opened.door, actor).putSettings({ values, unset });
const put = (values: Record<string, unknown>, unset: string[] = []) => putAs(COMMAND_LINE, values, unset);

describe('settings', () => {
  test('are all of the table, each with what a form needs', async () => {
    const rows = await opened.operations.settings({});
    expect(rows.map(({ key }) => key)).toEqual(Object.keys(SETTINGS));
    expect(await rowOf('log.level')).toMatchObject({
      label: 'Level',
      group: 'server',
      seldom: false,
      kind: 'choice',
      choices: ['debug', 'info', 'warn', 'error'],
      nullable: false,
      value: 'info',
      defaultValue: 'info',
      origin: 'default',
      locked: null,
      applies: 'live',
    });
    expect(await rowOf('webui.port')).toMatchObject({ kind: 'integer', nullable: true, none: 'off' });
    expect(await rowOf('api.allowed_cidrs')).toMatchObject({ kind: 'list' });
    expect(await rowOf('listener.sources')).toMatchObject({ kind: 'json', value: [] });
    expect(await rowOf('api.tls_enabled')).toMatchObject({ kind: 'boolean' });
    expect(await rowOf('database.url')).toMatchObject({ kind: 'secret', locked: expect.any(String) });
  });

  test('say in a few words what holds where they have no value', async () => {
    const rows = await opened.operations.settings({});
    for (const { key, nullable, none } of rows)
      expect([key, none]).toEqual([key, nullable ? expect.stringMatching(/^.{3,60}$/) : null]);
    expect((await rowOf('limits.max_queued_bytes'))?.none).toMatch(/^half of the free disk/);
  });

  test('that are sizes or times may be given with a unit, and are shown as plain numbers', async () => {
    await put({ 'retention.records_days': '48h', 'limits.max_queued_bytes': '5GiB' });
    expect(await rowOf('retention.records_days')).toMatchObject({ value: 2, origin: 'stored' });
    expect(await rowOf('limits.max_queued_bytes')).toMatchObject({ value: 5 * 1024 ** 3 });
    await expect(put({ 'retention.records_days': '36h' })).rejects.toThrow(
      /with a unit \(ms, s, m, min, h, d\)/,
    );
  });

  test('of the file are locked, and say where they stand', async () => {
    await withFile('retention: { records_days: 30 }\n');
    const row = await rowOf('retention.records_days');
    expect(row).toMatchObject({ value: 30, defaultValue: 90, origin: 'file' });
    expect(row?.locked).toMatch(/Set by the file .*waybill\.yaml; change it there\./);
    const locked = put({ 'retention.records_days': 5, 'retention.content_days': 5 });
    await expect(locked).rejects.toThrow(/^retention\.records_days: Set by the file/);
    expect(await rowOf('retention.content_days')).toMatchObject({ origin: 'default' });
  });

  test('are changed all or none: each by its kind, and together', async () => {
    const wrong = put({ 'retention.content_days': 5, 'log.level': 'loud' });
    await expect(wrong).rejects.toThrow('log.level = "loud": must be debug or info or warn or error');
    const together = put({ 'delivery.retry_first_seconds': 100, 'delivery.retry_max_seconds': 50 });
    await expect(together).rejects.toThrow('must not be over delivery.retry_max_seconds');
    await expect(put({ 'delivery.default_relay': 'nowhere' })).rejects.toThrow('no such relay');
    await expect(put({ 'retention.contentdays': 5 })).rejects.toThrow(/did you mean retention.content_days/);
    const rows = await opened.operations.settings({});
    expect(rows.filter(({ origin }) => origin !== 'default')).toEqual([]);
    const changed = await put({ 'delivery.retry_first_seconds': 100, 'delivery.retry_max_seconds': 200 });
    expect(changed.map(({ value }) => value)).toEqual([100, 200]);
  });

  test('that were stored go back to what they are without', async () => {
    await put({ 'retention.content_days': 5 });
    expect(await rowOf('retention.content_days')).toMatchObject({ value: 5, origin: 'stored' });
    const both = put({ 'retention.content_days': 6 }, ['retention.content_days']);
    await expect(both).rejects.toThrow('Both set and unset');
    const [row] = await put({}, ['retention.content_days']);
    expect(row).toMatchObject({ value: 7, origin: 'default' });
    await expect(put({}, ['retention.contentdays'])).rejects.toThrow(/did you mean retention.content_days/);
  });

  test('may have no value where there is a use for that', async () => {
    const [port] = await put({ 'api.port': null });
    expect(port).toMatchObject({ value: null, origin: 'stored' });
    const none = put({ 'retention.content_days': null });
    await expect(none).rejects.toThrow(/^retention\.content_days = null: must be/);
    await opened.close();
    opened = await here.open();
    expect(await rowOf('api.port')).toMatchObject({ value: null, origin: 'stored' });
    const [again] = await put({}, ['api.port']);
    expect(again).toMatchObject({ value: SETTINGS['api.port'].fallback, origin: 'default' });
  });

  test.each(['delivery.private_relays', 'tls.key_file', 'secrets.key_file', 'database.url'])(
    'that only the file may set are refused: %s',
    async (key) => {
      await expect(put({ [key]: ['x'] })).rejects.toMatchObject({
        code: 'refused',
        message: expect.stringContaining('only be set in the configuration file and the environment'),
      });
    },
  );

  test.each<[values: Record<string, string[]>, refused: string | null]>([
    [{ 'webui.allowed_cidrs': ['10.0.0.0/8'] }, '192.0.2.7'],
    [{ 'webui.allowed_cidrs': ['10.0.0.0/8', '192.0.2.0/24'] }, null],
    [{ 'webui.allowed_hosts': ['other.example.com'] }, 'mail.example.com'],
    [{ 'webui.allowed_hosts': ['other.example.com', 'Mail.example.com'] }, null],
    [{ 'api.allowed_cidrs': ['10.0.0.0/8'] }, null],
  ])('of %j would shut out: %s', async (values, refused) => {
    const asked = putAs(ADA, values);
    if (refused === null) return await expect(asked).resolves.toHaveLength(1);
    const [key = ''] = Object.keys(values);
    await expect(asked).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining(
        `${key}: would lock you out, because you are connected through ${refused}`,
      ),
    });
    expect(await rowOf(key)).toMatchObject({ origin: 'default' });
    await putAs(COMMAND_LINE, values);
    expect(await rowOf(key)).toMatchObject({ origin: 'stored' });
  });

  test('that let somebody in by name alone are not taken away by them', async () => {
    await put({ 'webui.allowed_hosts': ['mail.example.com'] });
    const asked = putAs(ADA, {}, ['webui.allowed_hosts']);
    await expect(asked).rejects.toThrow('webui.allowed_hosts: would lock you out');
    await putAs({ ...ADA, host: '192.0.2.1' }, {}, ['webui.allowed_hosts']);
  });

  test('of the API do not shut out the key that asks, nor does a source that is added', async () => {
    const key: Actor = { kind: 'key', name: 'ops', role: 'admin', ...FROM };
    const asked = putAs(key, { 'api.allowed_cidrs': ['10.0.0.0/8'] });
    await expect(asked).rejects.toThrow('api.allowed_cidrs: would lock you out');
    await putAs(key, { 'webui.allowed_cidrs': ['10.0.0.0/8'] });
    const request = { setting: 'webui.allowed_cidrs', cidr: '198.51.100.0/24' } as const;
    const added = operationsOf(opened.door, ADA).allowSource(request);
    await expect(added).rejects.toThrow('webui.allowed_cidrs: would lock you out');
  });

  test('take a source that is to be allowed, once', async () => {
    const { operations } = opened;
    await operations.allowSource({ setting: 'listener.allowed_cidrs', cidr: '192.0.2.7' });
    const row = await rowOf('listener.allowed_cidrs');
    expect(row?.value).toEqual([...SETTINGS['listener.allowed_cidrs'].fallback, '192.0.2.7']);
    const again = await operations.allowSource({ setting: 'listener.allowed_cidrs', cidr: '192.0.2.7' });
    expect(again.value).toEqual(row?.value);
    const wrong = operations.allowSource({ setting: 'listener.allowed_cidrs', cidr: '10.0.0.1/8' });
    await expect(wrong).rejects.toMatchObject({ code: 'invalid' });
  });
});

test('what was refused is told with its key, and with the limit that held and whose it is', async () => {
  const denied = { sourceAddress: '192.0.2.1', port: null, count: 3, firstAt: 0, lastAt: 9 };
  const keys = [
    { id: 'key_1', name: 'shop', rateLimit: null },
    { id: 'key_2', name: 'bulk', rateLimit: 5 },
  ] as unknown as ApiKey[];
  const rows = await deniedSources(
    [
      { ...denied, reason: 'rate_limited', keyId: 'key_1' },
      { ...denied, reason: 'rate_limited', keyId: 'key_2' },
      { ...denied, reason: 'scope_missing', keyId: 'key_1' },
      { ...denied, reason: 'relay_not_allowed', keyId: null },
      { ...denied, reason: 'rate_limited', keyId: null },
    ],
    {
      keyring: { list: async () => keys },
      resolution: () => ({ config: { api: { rateLimitPerKey: 100 } } }),
    },
  );
  expect(rows.map(({ key, limit, setting }) => [key, limit, setting])).toEqual([
    ['shop', { perMinute: 100, usual: true }, null],
    ['bulk', { perMinute: 5, usual: false }, null],
    ['shop', null, null],
    [null, null, 'listener.allowed_cidrs'],
    [null, null, null],
  ]);
  expect(rows.at(-1)?.meaning).toBe(
    'Too many messages came in this minute: from the key, the source, or the address.',
  );
  expect(rows[0]).toMatchObject({ meaning: 'The key has used up its requests for this minute.', count: 3 });
});
