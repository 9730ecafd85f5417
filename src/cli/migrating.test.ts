import { afterEach, beforeEach, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import type { Migrated } from '../migrate/migration.ts';
import { MAX_NAMED } from '../migrate/verify.ts';
import { migratedText, migrationStepText } from './migrating.ts';

let here: Installation;
beforeEach(() => {
  here = new Installation();
});
afterEach(() => here.remove());

test('it is told where to, or to undo, and nothing that leads nowhere', async () => {
  await (await here.open()).close();
  const there = { WAYBILL_DATABASE__URL: 'postgres://db.example.org/mail' };
  for (const args of [
    [],
    ['--to', 'sqlite', '--undo'],
    ['--to', 'sqlite'],
    ['--to', 'mysql://a'],
    ['--to', ''],
  ])
    expect(await here.waybill(['migrate', ...args]), args.join(' ')).toMatchObject({ status: 2, out: '' });
  const twice = await here.waybill(['migrate', '--to', 'postgres://b/c'], { environment: there });
  expect(twice).toMatchObject({ status: 2, err: expect.stringContaining('pg_dump') });
  expect((await here.waybill(['migrate', '--undo'])).out).toContain('nothing to undo');
  expect(await here.json(['migrate', '--undo'])).toEqual({ from: here.dataDir, to: null });
});

test('it needs a data directory in which something is, and no server', async () => {
  const nowhere = await here.waybill(['migrate', '--undo', '--data', `${here.dataDir}-not-there`]);
  expect(nowhere).toMatchObject({ status: 1, err: expect.stringContaining('no data directory') });
  const server = await here.startServer();
  const running = await here.waybill(['migrate', '--to', 'postgres://b/c']);
  expect(running).toMatchObject({ status: 1, err: expect.stringContaining('stop it first') });
  await server.close();
});

test('steps are told by table where they take long', () => {
  const step = { phase: 'copy', table: 'deliveries', doneRows: 5, totalRows: 20 } as const;
  expect(migrationStepText(step)).toEqual({ title: 'Copying deliveries', share: '25 % of 20' });
  const small = migrationStepText({ ...step, phase: 'verify', table: 'key_secrets' });
  expect(small).toEqual({ title: 'Comparing everything else', share: '' });
});

test('differences are named, and how many more there are', () => {
  const found: Migrated = {
    from: '/srv/mail',
    to: 'postgres://db/mail',
    resumed: false,
    tables: [],
    statuses: {},
    contents: 0,
    contentBytes: 0,
    lostContents: 0,
    differences: ['holds a: missing'],
    differing: MAX_NAMED + 2,
  };
  const text = migratedText(found, 'postgres', '/srv/mail');
  expect(text).toMatch(
    /^The data in postgres:\/\/db\/mail differs.*\n {2}holds a: missing\n {2}and 2 more\n/,
  );
  expect(text).not.toContain('Next');
  expect(migratedText({ ...found, differences: [], differing: 0 }, 'postgres', '/srv/mail')).toContain(
    'Copy secret.key',
  );
});
