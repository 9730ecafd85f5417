/** Backup and restore of the real server die half-way, under load: nothing is taken for whole that is not. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, type TestContext, test, vi } from 'vitest';
import { Client, configurationFor, createKey, installed } from '../e2e/service.ts';
import { describeWith } from '../peers/need.ts';
import type { Installation, RunningServer } from '../peers/server.ts';
import { startSmtpSink } from '../peers/smtp-sink.ts';
import { untilFound } from '../peers/watch.ts';
import { tell, times } from '../support/proof.ts';
import { HttpCustomer } from './http-customer.ts';
import { deathAt, strike, underFault } from './under-fault.ts';

/** Of the calls of a restore, every so-manieth. */
const STRIDE = times('restore_stride', 180);
/** What a restore with its secrets does, on one file or on whichever, and how often one of its threads does so at the least. */
const CALLS = [
  { call: 'rename', file: null, stride: 1, least: 4 },
  { call: 'fsync', file: null, stride: STRIDE, least: 15 },
  { call: 'pwrite64', file: null, stride: STRIDE === 1 ? 1 : STRIDE * 8, least: 45 },
  { call: 'unlink,rmdir', file: null, stride: STRIDE, least: 4 },
  // The process writes to wake its threads, too: only what goes to the secrets is of the restore.
  { call: 'write', file: '.restoring/secret.key', stride: 1, least: 1 },
] as const;
const WRITERS = 4;
/** What a customer waits after each letter, in ms: the processor is for who is to die. */
const PACE_MS = 20;
const TIMEOUT = { timeout: 300_000 + 3_000_000 / STRIDE };
const PATIENCE = { timeout: 180_000, interval: 50 };
/** What is written so is restored with the key that is in the backup, and read with it. */
const ENCRYPTED = 'secrets: { encrypt_contents: true }\n';
const SCOPES = ['send', 'read', 'content'].flatMap((name) => ['--scope', `messages:${name}`]);

describeWith(['strace'], 'a backup under load', () => {
  test.concurrent('has no name before it is whole, whoever dies', TIMEOUT, async (context) => {
    const office = await Office.open(context);
    const file = join(office.folder, 'backup.tar');
    // The server dies as it copies the database, as it writes the archive, and as it would give it its name.
    for (const [call, part] of [
      ['pwrite64', '.part-db'],
      ['write,pwrite64', '.part'],
      ['rename', '.part'],
    ] as const) {
      const server = await office.startUnderLoad();
      await strike(server, deathAt(call, 1), `${file}${part}`);
      const asked = await office.installation.run('backup', file);
      expect(asked.code, asked.stdout).toBe(1);
      expect(await server.exited).toBeNull();
      expect(existsSync(file)).toBe(false);
    }
    // Whoever asked for it dies: the server goes on, and leaves nothing half.
    const server = await office.startUnderLoad();
    const ofNext = () => readdirSync(office.folder).filter((name) => name.startsWith('next.tar'));
    const next = join(office.folder, 'next.tar');
    const asking = office.installation.spawn('backup', next);
    await untilFound(office.folder, () => ofNext()[0]);
    asking.kill('SIGKILL');
    await vi.waitUntil(() => ofNext().every((name) => name === 'next.tar'), PATIENCE);
    rmSync(next, { force: true });

    const acknowledged = office.acknowledged();
    const taken = await office.installation.run('backup', file);
    expect(taken, taken.stderr).toMatchObject({ code: 0 });
    expect(readdirSync(office.folder)).toEqual(['backup.tar']);
    expect(office.acknowledged().size, 'mail went in meanwhile').toBeGreaterThan(acknowledged.size);
    await server.end('SIGKILL');
    await office.closed();
    await expectRestorable(context, [file], office.key, acknowledged);
  });

  test.concurrent('leaves nothing in the folder of backups for long', TIMEOUT, async (context) => {
    const { installation, folder } = await Office.open(context);
    const backups = join(installation.dataDir, 'backups');
    mkdirSync(backups);
    const file = join(backups, 'waybill-1.tar');
    const died = await installation.runUnder(
      underFault(deathAt('rename', 1), `${file}.part`),
      'backup',
      file,
    );
    expect(died.code).toBe(-1);
    expect(readdirSync(backups).sort()).toEqual(['waybill-1.tar.part', 'waybill-1.tar.part-db']);
    expect((await installation.run('backup', join(folder, 'next.tar'))).code).toBe(0);
    expect(readdirSync(backups)).toEqual([]);
  });
});

describeWith(['strace'], 'a restore', () => {
  test.concurrent(
    'that dies leaves all of it, nothing, or what nobody takes for whole',
    TIMEOUT,
    async (context) => {
      const office = await Office.open(context, ENCRYPTED);
      const server = await office.startUnderLoad();
      await vi.waitUntil(() => office.acknowledged().size > 20, PATIENCE);
      await server.end('SIGKILL');
      await office.closed();
      const acknowledged = office.acknowledged();
      const file = join(office.folder, 'backup.tar');
      const passphrase = join(office.folder, 'passphrase');
      writeFileSync(passphrase, 'a passphrase for tests\n');
      const secretly = [file, '--passphrase-file', passphrase];
      const taken = await office.installation.run('backup', ...secretly);
      expect(taken, taken.stderr).toMatchObject({ code: 0 });
      const ends = { whole: 0, nothing: 0, refused: 0 };
      for (const { call, file: name, stride, least } of CALLS)
        for (let n = 1; ; n += stride) {
          const restored = emptied(context);
          const path = name === null ? null : join(restored.dataDir, name);
          const { code } = await restored.runUnder(
            underFault(deathAt(call, n), path),
            'restore',
            ...secretly,
          );
          if (code === 0) {
            expect(n, `${call} on ${name ?? 'any file'}`).toBeGreaterThan(least);
            break;
          }
          expect(code).toBe(-1);
          ends[await endOf(restored, secretly)]++;
        }
      expect(ends.refused).toBeGreaterThan(2);
      tell('deaths of a restore', { deaths: ends.whole + ends.nothing + ends.refused, ...ends });
      await expectRestorable(context, secretly, office.key, acknowledged);
    },
  );

  test.concurrent('that fails at the last leaves the directory as it was', TIMEOUT, async (context) => {
    const { installation, folder } = await Office.open(context);
    const file = join(folder, 'backup.tar');
    const passphrase = join(folder, 'passphrase');
    writeFileSync(passphrase, 'a passphrase for tests\n');
    const secretly = [file, '--passphrase-file', passphrase];
    expect((await installation.run('backup', ...secretly)).code).toBe(0);
    const restored = emptied(context);
    // The database goes last, after the spool and the secrets.
    const fault = underFault('rename:error=EIO', join(restored.dataDir, '.restoring/waybill.db'));
    const failed = await restored.runUnder(fault, 'restore', ...secretly);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('EIO') });
    expect(readdirSync(restored.dataDir)).toEqual([]);
    expect((await restored.run('restore', ...secretly)).code).toBe(0);
  });
});

/** A server whose customers hand in one letter after the other, and a folder for backups. */
class Office {
  readonly installation: Installation;
  readonly folder: string;
  readonly key: string;
  readonly #customers: readonly HttpCustomer[];
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(installation: Installation, folder: string, key: string) {
    this.installation = installation;
    this.folder = folder;
    this.key = key;
    this.#customers = Array.from({ length: WRITERS }, () => new HttpCustomer(key));
  }

  static async open(context: TestContext, settings = ''): Promise<Office> {
    const sink = await startSmtpSink();
    const folder = mkdtempSync(join(tmpdir(), 'waybill-backup-'));
    context.onTestFinished(async () => {
      rmSync(folder, { recursive: true });
      await sink.close();
    });
    const installation = installed(context, configurationFor(sink.port) + settings);
    return new Office(installation, folder, await createKey(installation, 'app', ...SCOPES));
  }

  /** Starts the server; resolves once each customer has had an answer. They go on until it ends. */
  async startUnderLoad(): Promise<RunningServer> {
    await this.#writing;
    const server = await this.installation.start();
    await Promise.all(this.#customers.map((customer) => customer.send(server)));
    this.#writing = Promise.all(this.#customers.map((customer) => write(server, customer)));
    return server;
  }

  /** Resolves when no customer waits for an answer any more. */
  async closed(): Promise<void> {
    await this.#writing;
  }

  /** Ids of what was acknowledged so far, by their subjects. */
  acknowledged(): Map<string, string> {
    return new Map(this.#customers.flatMap((customer) => [...customer.acknowledged]));
  }
}

async function write(server: RunningServer, customer: HttpCustomer): Promise<void> {
  for (;;) {
    const answer = await customer.send(server).catch(() => null);
    // The server was killed.
    if (answer === null) return;
    expect(customer.idIn(answer), JSON.stringify(answer)).not.toBeNull();
    await pause(PACE_MS);
  }
}

/** A data directory in which nothing is. */
function emptied(context: TestContext): Installation {
  const installation = installed(context, '');
  rmSync(join(installation.dataDir, 'waybill.yaml'));
  // One thread writes, so that calls are counted in their order.
  installation.environment['UV_THREADPOOL_SIZE'] = '1';
  return installation;
}

/** What a restore that died has left: it can be used, it can be restored into, or both are refused, with the reason. */
async function endOf(
  restored: Installation,
  backup: readonly string[],
): Promise<'whole' | 'nothing' | 'refused'> {
  const again = await restored.run('restore', ...backup);
  if (again.code === 0) return 'nothing';
  const { code, stdout, stderr } = await restored.run('keys', 'list');
  if (again.stderr.includes('is not empty')) {
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: expect.stringContaining('app') });
    expect(existsSync(join(restored.dataDir, 'secret.key'))).toBe(true);
    return 'whole';
  }
  expect(again.stderr).toContain('was broken off');
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('was broken off') });
  return 'refused';
}

/** A backup brings back all of these, with what they say. */
async function expectRestorable(
  context: TestContext,
  backup: readonly string[],
  key: string,
  acknowledged: ReadonlyMap<string, string>,
): Promise<void> {
  const restored = emptied(context);
  const { code, stderr } = await restored.run('restore', ...backup);
  expect(code, stderr).toBe(0);
  restored.configure(configurationFor(1));
  const client = new Client(await restored.start(), key);
  for (const [subject, id] of acknowledged) {
    const content = await client.get(`/${id}/content`);
    expect(content.status, subject).toBe(200);
    expect(await content.text()).toContain(`Subject: ${subject}\r\n`);
  }
}
