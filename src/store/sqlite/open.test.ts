import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseQuery } from '../../domain/query.ts';
import type { NewJournalEntry } from '../journal.ts';
import { StoreError } from '../store.ts';
import { UNFILTERED } from '../views.ts';
import { openBetterSqlite3 } from './driver.ts';
import { type Migration, migrations, openDatabase, openSqlite, type SqliteStores } from './open.ts';

const EVERYTHING = { owner: 'all', statuses: [], before: null, limit: 99 } as const;
/** Enough for all contents. */
const ROOM = { contentMaxBytes: 1e9, capturedMaxBytes: 1e9 };
const FORGET_ALL = {
  contentAgeMs: 0,
  contentMaxBytes: 0,
  capturedAgeMs: 0,
  capturedMaxBytes: 0,
  recordAgeMs: 0,
  eventAgeMs: 0,
  feedbackAgeMs: 0,
  maxUnsubscribeLinks: 1000,
};
const ACT: Omit<NewJournalEntry, 'at'> = {
  actorKind: 'user',
  actor: 'bert',
  sourceAddress: null,
  action: 'signOut',
  subject: '',
  before: null,
  after: null,
};
const FIXTURES = new URL('./fixtures/', import.meta.url);

describe('migrations', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'waybill-migrate-'));
    path = join(folder, 'waybill.db');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const schemaOf = (file: string) => {
    const db = openBetterSqlite3(file);
    const rows = db.prepare<[], [string, string]>('SELECT name, sql FROM sqlite_schema ORDER BY name').all();
    db.close();
    return rows;
  };
  const newest = migrations().at(-1)?.version;
  const later: Migration = {
    version: 99,
    sql: 'CREATE TABLE later (x INTEGER); INSERT INTO later VALUES (1);',
  };

  it('opens a database that version 1 wrote', async () => {
    const old = openBetterSqlite3(path);
    old.exec(readFileSync(new URL('0001.sql', FIXTURES), 'utf8'));
    old.close();
    const { store, views } = openSqlite(path);
    const page = await views.list({ owner: { keyId: 'key_one' }, statuses: [], before: null, limit: 9 });
    expect(page.messages.map(({ status, outcome, tags }) => [status, outcome, tags])).toEqual([
      ['retrying', null, []],
      ['delivered', 'accepted', ['news']],
    ]);
    await store.close();
    expect(schemaOf(path)).toEqual(schemaOf(freshPath()));
  });

  it.each([1, 2, 3, 4])(
    'counts what waits in a database that version %i wrote, and goes on from there',
    async (version) => {
      const stores = openOld(version);
      expect(schemaOf(path)).toEqual(schemaOf(freshPath()));
      expect(await figuresOf(stores)).toEqual({
        queues: { key_one: 5, key_two: 2 },
        queuedBytes: 600 + 700 + 800 + 900 + 1000 + 1100 + 1200 + 1300,
        spool: { incoming: 6, processing: 2, failed: 2 },
      });
      const at = { node: 'b', now: 1_795_176_100_000 };
      const tagged = await stores.views.list({ ...EVERYTHING, filter: { ...UNFILTERED, tag: 'news' } });
      expect(tagged.messages.map(({ sizeBytes }) => sizeBytes)).toEqual([1200, 600, 400, 200, 100]);
      const all = (await stores.views.list(EVERYTHING)).messages.map(({ id }) => id);
      const policy = { firstMs: 1, maxMs: 1, maxAgeMs: 1, ambiguous: 'retry' } as const;
      await stores.store.reclaim({ seize: true, policy, dice: 0.5, limit: 99 }, at);
      await stores.store.cancel(all, at);
      const nothing = { incoming: 0, processing: 0 };
      // The two that had failed, partly or whole, and the eight that were not final.
      expect(await figuresOf(stores)).toEqual({
        queues: {},
        queuedBytes: 0,
        spool: { ...nothing, failed: 10 },
      });
      const requests = all.map((id) => ({ id, expiresAt: at.now + 1 }));
      const answers = await stores.store.requeue(requests, at);
      expect(answers.filter(({ kind }) => kind === 'requeued')).toHaveLength(10);
      expect(await figuresOf(stores)).toMatchObject({
        queues: { key_one: 7, key_two: 2 },
        queuedBytes: 8500,
      });
      await stores.store.close();
    },
  );

  /** Opens a database that a version wrote. */
  const openOld = (version: number) => {
    const old = openBetterSqlite3(path);
    old.exec(readFileSync(new URL(`000${version}_states.sql`, FIXTURES), 'utf8'));
    old.close();
    return openSqlite(path);
  };

  it.each([1, 2])(
    'finds the lanes in which mail of version %i waits, each when it is due',
    async (version) => {
      const { store, views } = openOld(version);
      const firstDue = 1_795_176_030_000;
      expect(await views.lanes(null, 9)).toEqual([
        { lane: 'out', waiting: 5, processing: 3, oldestDueAt: firstDue },
      ]);
      expect((await views.figures(firstDue)).oldestDueAt).toBe(firstDue);
      const { deliveries } = await views.waiting({ lane: { name: 'out' }, after: null, limit: 9 });
      expect(deliveries.map(({ group }) => group)).toEqual(Array(5).fill([]));
      const at = { node: 'b', now: firstDue + 86_400_000 };
      const [lease] = await store.acquireLanes([], 9, at.now + 1, at);
      expect(lease?.lane).toBe('out');
      const [answer] = await store.claim(
        [{ lane: 'out', fence: lease?.fence ?? 0, order: 'high_first', limit: 9, maxRecipients: 9 }],
        at,
      );
      expect(answer?.units).toHaveLength(5);
      await store.close();
    },
  );

  it.each([1, 4])('finds mail by words that version %i wrote, once they are entered', async (version) => {
    const { store, views } = openOld(version);
    const { query } = parseQuery('from:@example.com');
    const ask = () => views.search({ query, after: null, before: null, limit: 99 });
    const { messages, behind } = await ask();
    expect(messages).toEqual([]);
    expect(behind).toBeGreaterThan(9);
    expect(await store.index(5)).toEqual({ indexed: 5, more: true });
    const newest = (await views.list(EVERYTHING)).messages.slice(0, 5);
    expect((await ask()).messages).toEqual(newest);
    expect((await store.index(999)).more).toBe(false);
    const all = await ask();
    expect(all.behind).toBe(0);
    expect(all.messages).toEqual((await views.list(EVERYTHING)).messages);
    await store.close();
  });

  it('tells of attempts before there was more to tell', async () => {
    const { store, views } = openOld(2);
    const delivered = await views.attempts('msg_01m7wd8qsh4008fyzq8yebgvfy', { after: 0, limit: 1 });
    expect(delivered.attempts).toMatchObject([
      {
        evidence: { host: 'mx', localAddress: null, security: null, dns: [] },
        results: [{ outcome: { kind: 'delivered', dsnPassed: false } }],
      },
    ]);
    expect(delivered.attempts[0]?.evidence.timings).toMatchObject({
      queueMs: null,
      connectMs: 1,
      replyMs: null,
    });
    await store.close();
  });

  it.each([3, 4])('reads routes, holds and tables that version %i wrote', async (version) => {
    const { store, views, registry } = openOld(version);
    expect(await registry.holds()).toEqual([{ target: 'mx', kind: 'pause', since: 1_795_176_031_000 }]);
    expect((await registry.routeTables(9)).map(({ version, origin }) => [version, origin])).toEqual([
      [3, 'stored'],
      [2, 'file'],
    ]);
    const { deliveries } = await views.waiting({ lane: { name: 'mx/example.net' }, after: null, limit: 9 });
    expect(deliveries).toMatchObject([{ relay: 'mx', rule: 'news', group: ['mx', 'out'] }]);
    const expiring = await store.expiring(99, { node: 'a', now: 1_895_176_031_000 });
    expect(expiring.filter(({ reportable }) => reportable)).toHaveLength(2);
    expect(expiring.flatMap((one) => one.deliveries).filter((one) => one.delayReported)).toHaveLength(1);
    await store.close();
  });

  it('reads quotas and domains that version 4 wrote, of which there are none before', async () => {
    const { store, views, registry } = openOld(4);
    const day = 20_776;
    expect(await views.quotaUsed(day)).toEqual(
      new Map([
        ['mx', 7],
        ['out', 50],
      ]),
    );
    expect(await views.quotaUsed(day + 1)).toEqual(new Map([['out', 3]]));
    expect(await registry.domains()).toEqual([
      { name: 'example.com', definition: '{"keys":[{"selector":"s1"}]}', secrets: '{"s1":"sealed"}' },
    ]);
    await store.close();
    rmSync(path);
    const older = openOld(3);
    expect(await older.views.quotaUsed(day)).toEqual(new Map());
    expect(await older.registry.domains()).toEqual([]);
    await older.store.close();
  });

  it.each([1, 2, 3, 4, 9])(
    'goes on searching, catching and forgetting where version %i stopped',
    async (version) => {
      const { store, views } = openOld(version);
      expect(schemaOf(path)).toEqual(schemaOf(freshPath()));
      while ((await store.index(4)).more);
      const { query } = parseQuery('to:@example.net');
      const ask = { query, after: null, before: null, limit: 99 };
      const found = await views.search(ask);
      const all = (await views.list(EVERYTHING)).messages;
      expect([found.behind, found.messages]).toEqual([0, all]);
      const inbox = async () =>
        (await views.list({ ...EVERYTHING, filter: { ...UNFILTERED, captured: true } })).messages;
      const sizes = version === 9 ? [1500, 300] : [300];
      expect((await inbox()).map(({ sizeBytes }) => sizeBytes)).toEqual(sizes);
      const at = { node: 'b', now: 1_895_176_100_000 };
      const [newest, ...others] = (await inbox()).map(({ id }) => id);
      expect(await store.discard([newest ?? ''], at)).toEqual([true]);
      expect((await inbox()).map(({ id }) => id)).toEqual(others);
      expect((await views.figures(at.now)).capturedBytes).toBe(version === 9 ? 300 : 0);
      await store.purge(FORGET_ALL, 99, at);
      const kept = all.filter(({ sizeBytes }) => ![100, 200, 300, 400, 500, 1500].includes(sizeBytes));
      expect((await views.list(EVERYTHING)).messages).toEqual(kept);
      expect((await views.search(ask)).messages).toEqual(kept);
      expect(await store.liveSegments([1])).toEqual(new Map([[1, kept.length]]));
      expect(await views.figures(at.now)).toMatchObject({ sentBytes: 0, capturedBytes: 0 });
      await store.close();
    },
  );

  it('reads users, sessions, acts and keys that version 9 wrote', async () => {
    const { store, accounts, journal, keyring, registry } = openOld(9);
    const now = 1_795_176_031_000;
    expect(await accounts.users(now)).toMatchObject([
      {
        name: 'ada',
        role: 'admin',
        disabled: false,
        secondFactor: 'sealed',
        recoveryCodesLeft: 2,
        sessions: 1,
      },
      { name: 'bert', role: 'viewer', disabled: true, passwordHash: null, recoveryCodesLeft: 0 },
    ]);
    const session = await accounts.session('e'.repeat(64), now);
    expect(session).toMatchObject({ session: { id: 'ses_one', stage: 'full' }, user: { name: 'ada' } });
    expect(await accounts.link('f'.repeat(64), now)).toMatchObject({ user: 'ada' });
    expect(await accounts.spendStep('ada', 59_839_201), 'that code was used').toBe(false);
    const ask = { actor: null, action: null, subject: null, before: null, limit: 9 };
    await journal.record([{ ...ACT, at: now }]);
    const { entries } = await journal.entries(ask);
    expect(entries.map(({ number, actor, action }) => [number, actor, action])).toEqual([
      [3, 'bert', 'signOut'],
      [2, 'ada', 'createKey'],
      [1, '', 'createUser'],
    ]);
    expect((await keyring.list()).map(({ name, contentDays }) => [name, contentDays]).sort()).toEqual([
      ['paper', null],
      ['shop', 30],
    ]);
    expect(await registry.settings()).toEqual(new Map([['retention.content_days', '5']]));
    await store.close();
  });

  it('finds by the words that version 9 entered, and keeps contents as long as its keys say', async () => {
    const { store, views } = openOld(9);
    const { query } = parseQuery('subject:grüße');
    const { messages, behind } = await views.search({ query, after: null, before: null, limit: 99 });
    expect(messages.map(({ sizeBytes }) => sizeBytes)).toEqual([1300, 1200, 1100, 1000, 900, 800, 700, 600]);
    expect(behind).toBeGreaterThan(4);
    expect(await store.index(99), 'five from before, one after').toEqual({ indexed: 6, more: false });
    const day = 86_400_000;
    const at = (days: number) => ({ node: 'b', now: 1_795_176_031_000 + days * day });
    const policy = {
      ...FORGET_ALL,
      contentAgeMs: 0,
      capturedAgeMs: 0,
      recordAgeMs: 900 * day,
      eventAgeMs: 900 * day,
      feedbackAgeMs: 900 * day,
    };
    // Those of the key with 30 days stay, and so does what is held; of the other key, one was captured.
    expect(await store.purge({ ...policy, ...ROOM }, 99, at(1))).toMatchObject({ contents: 1, records: 0 });
    expect(await store.purge({ ...policy, ...ROOM }, 99, at(31))).toMatchObject({ contents: 4, records: 0 });
    await store.close();
  });

  it('decides on what had come back with a backup under version 9', async () => {
    const { store, views } = openOld(9);
    const at = { node: 'b', now: 1_795_176_100_000 };
    expect((await views.figures(at.now)).restored).toBe(1);
    expect(await store.decideRestored('resume', at.now + 1, 9, at)).toEqual({
      count: 1,
      lanes: ['out'],
      more: false,
    });
    expect((await views.figures(at.now)).restored).toBe(0);
    const [, held] = (await views.list(EVERYTHING)).messages;
    expect(held).toMatchObject({ status: 'queued', possibleDuplicate: true });
    await store.close();
  });

  /** A database that this version made. */
  const freshPath = () => {
    const fresh = join(folder, 'fresh.db');
    openDatabase(fresh).close();
    return fresh;
  };

  const figuresOf = async ({ views }: SqliteStores) => {
    const { queuedBytes, spool } = await views.figures(0);
    const db = openBetterSqlite3(path);
    const queues = db
      .prepare<[], [string, number]>('SELECT key_id, messages FROM key_queues WHERE messages <> 0')
      .all();
    db.close();
    return { queues: Object.fromEntries(queues), queuedBytes, spool };
  };

  it('copies an older database aside before it changes it', () => {
    openDatabase(path).close();
    const db = openDatabase(path, { migrations: [...migrations(), later] });
    expect(db.prepare<[], [number]>('SELECT x FROM later').get()).toEqual([1]);
    db.close();
    const copy = `${path}.v${newest}`;
    expect(existsSync(copy)).toBe(true);
    expect(schemaOf(copy).map(([name]) => name)).not.toContain('later');
    openDatabase(copy).close();
  });

  it('leaves a database as it was when a step fails', () => {
    openDatabase(path).close();
    const before = schemaOf(path);
    const broken = { version: 99, sql: `${later.sql} INSERT INTO nowhere VALUES (1);` };
    expect(() => openDatabase(path, { migrations: [...migrations(), broken] })).toThrow(StoreError);
    expect(schemaOf(path)).toEqual(before);
    openDatabase(path).close();
  });

  it('refuses a newer database', () => {
    openDatabase(path, { migrations: [...migrations(), later] }).close();
    const open = () => openDatabase(path);
    expect(open).toThrow(expect.objectContaining({ code: 'store_newer' }));
    expect(open).toThrow(`schema 99; this program knows ${newest}.`);
  });
});
