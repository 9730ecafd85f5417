import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database, type DatabaseOptions } from '../../src/postgres/database.ts';
import { openPostgres, type PostgresOptions } from '../../src/store/postgres/open.ts';
import { type Authority, createAuthority, createCertificate } from '../peers/certificate.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';

describeWith(POSTGRES_PROGRAMS, 'a connection to PostgreSQL', () => {
  let server: Postgres;
  let authority: Authority;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'waybill-tls-'));
    authority = createAuthority();
    writeFileSync(join(folder, 'root.crt'), authority.cert);
    writeFileSync(join(folder, 'other.crt'), createAuthority('Another').cert);
    server = await Postgres.start(createCertificate({ hosts: ['localhost'], issuer: authority }));
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  /** Opens and closes the store; rejects as opening it does. */
  async function open(options: PostgresOptions): Promise<void> {
    const stores = await openPostgres(options);
    await stores.store.close();
  }

  /** Whether this connection is by TLS. */
  async function isEncrypted(options: DatabaseOptions): Promise<unknown> {
    const database = new Database(options);
    try {
      const [row] = await database.rows<{ ssl: boolean }>(
        'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
      );
      return row?.ssl;
    } finally {
      await database.close();
    }
  }

  it('is by TLS where it is asked for, and only there on this machine', async () => {
    const url = server.tcp();
    expect(await isEncrypted({ url })).toBe(false);
    expect(await isEncrypted({ url: `${url}?sslmode=require` })).toBe(true);
    expect(await isEncrypted({ url: `${url}?sslmode=prefer` })).toBe(true);
    expect(await isEncrypted({ url, tls: 'required' })).toBe(true);
    expect(await isEncrypted({ url: `${url}?sslmode=require`, tls: 'off' })).toBe(false);
    expect(await isEncrypted({ url: server.url(), tls: 'required' })).toBe(false);
  });

  it('is refused to a server whose certificate is not the one that it must be', async () => {
    const [root, other] = [join(folder, 'root.crt'), join(folder, 'other.crt')];
    const byName = server.tcp('localhost');
    expect(await isEncrypted({ url: byName, tls: 'verified', tlsCaFile: root })).toBe(true);
    expect(await isEncrypted({ url: `${byName}?sslmode=verify-full&sslrootcert=${root}` })).toBe(true);
    // Another name, which only `verified` asks for.
    const byAddress = server.tcp();
    expect(await isEncrypted({ url: byAddress, tls: 'required', tlsCaFile: root })).toBe(true);
    expect(await isEncrypted({ url: `${byAddress}?sslmode=verify-ca&sslrootcert=${root}` })).toBe(true);
    const refused: DatabaseOptions[] = [
      { url: byAddress, tls: 'verified', tlsCaFile: root },
      { url: byName, tls: 'verified', tlsCaFile: other },
      { url: byName, tls: 'required', tlsCaFile: other },
      { url: byName, tls: 'verified' },
    ];
    for (const options of refused)
      await expect(isEncrypted(options)).rejects.toMatchObject({ code: 'store_unavailable' });
    const missing = { url: byName, tls: 'verified', tlsCaFile: join(folder, 'none.crt') } as const;
    await expect(isEncrypted(missing)).rejects.toMatchObject({ code: 'store_unsuitable' });
  });

  it('keeps to its schema, which is made', async () => {
    await server.run(
      `CREATE TABLE settings (name text, value text); INSERT INTO settings VALUES ('foreign', '1')`,
    );
    const options = { url: server.url(), schema: 'w "x" \'y\'' };
    const stores = await openPostgres(options);
    expect(await stores.registry.settings()).toEqual(new Map());
    await stores.registry.putSetting('mine', '2');
    const tables = `SELECT DISTINCT schemaname FROM pg_tables WHERE tablename = 'messages'`;
    expect(await server.run(tables)).toEqual([{ schemaname: options.schema }]);
    expect(await server.run('SELECT name FROM settings')).toEqual([{ name: 'foreign' }]);
    const [path] = await stores.database.rows<{ first: string }>('SELECT current_schema() AS first');
    expect(path?.first).toBe(options.schema);
    await stores.store.close();
    await open(options);
  });

  it('gives statements, and waits for locks, the time that it is told', async () => {
    const database = new Database({ url: server.url(), statementTimeoutMs: 200 });
    await expect(database.rows('SELECT pg_sleep(60)')).rejects.toMatchObject({ code: 'store_busy' });
    const shown = `SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock`;
    expect(await database.rows(shown)).toEqual([{ statement: '200ms', lock: '100ms' }]);
    const patient = database.transact((db) => db.rows(shown), { timeoutMs: 60_000 });
    expect(await patient).toEqual([{ statement: '1min', lock: '30s' }]);
    expect(await database.rows(shown)).toEqual([{ statement: '200ms', lock: '100ms' }]);
    await database.close();
  });

  it('is refused to a server that may lose what it committed', async () => {
    const options = { url: server.url(), schema: 'unsafe' };
    const unsafe = { code: 'store_unsuitable', message: expect.stringMatching(/synchronous_commit|fsync/) };
    const url = `${options.url}&options=-csynchronous_commit%3Doff`;
    await expect(open({ ...options, url })).rejects.toMatchObject(unsafe);
    await server.run('ALTER ROLE waybill SET synchronous_commit = off');
    await expect(open(options)).rejects.toMatchObject(unsafe);
    await open({ ...options, allowUnsafe: true });
    await server.run('ALTER ROLE waybill RESET synchronous_commit');
    await server.run('ALTER SYSTEM SET fsync = off');
    await server.run('SELECT pg_reload_conf()');
    await expect.poll(() => open(options).catch((error: unknown) => error)).toMatchObject(unsafe);
    await open({ ...options, allowUnsafe: true });
    await server.run('ALTER SYSTEM RESET fsync');
    await server.run('SELECT pg_reload_conf()');
    await expect.poll(() => open(options).catch(() => 'refused')).toBeUndefined();
  });

  it('commits durably, also where the server came to do otherwise since', async () => {
    const database = new Database({ url: `${server.url()}&options=-csynchronous_commit%3Doff` });
    expect(await database.rows('SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
    await database.close();
  });

  it('is refused to a database that does not hold every text', async () => {
    await server.run(
      `CREATE DATABASE latin ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0`,
    );
    const message: unknown = expect.stringContaining('LATIN1');
    await expect(open({ url: server.url('latin') })).rejects.toMatchObject({
      code: 'store_unsuitable',
      message,
    });
  });

  it('is refused to who may not make what is needed', async () => {
    await server.run('CREATE ROLE guest LOGIN');
    const url = server.url().replace('waybill@', 'guest@');
    await expect(open({ url, schema: 'guests' })).rejects.toMatchObject({ code: 'store_unsuitable' });
  });

  it('is refused to a standby', async () => {
    await server.down();
    server.put('standby.signal', '');
    await server.up();
    const message: unknown = expect.stringContaining('standby');
    await expect(open({ url: server.url() })).rejects.toMatchObject({ code: 'store_unsuitable', message });
  });
});
