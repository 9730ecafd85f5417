/** Backup and restore by the command line, of the real server, while mail goes in and out. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext, test, vi } from 'vitest';
import { lastBackup, listBackups } from '../../src/control/backups.ts';
import { healthOf } from '../crash/customer.ts';
import type { Installation } from '../peers/server.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import type { SinkEvent } from '../peers/smtp-sink-script.ts';
import { Client, createKey, installed } from './service.ts';

const LATER = 'later@example.net';
const WRITERS = 4;
const BEFORE = 60;

function configuration(sink: SmtpSink): string {
  return `
api: { port: 0, rate_limit_per_key: 0, bind: ["127.0.0.1"] }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [] }
health: { disk_critical_bytes: 0, disk_low_bytes: 0 }
delivery: { default_relay: out, retry_first_seconds: 1, retry_max_seconds: 1 }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none }]
`;
}

/** A next hop that puts one recipient off for as long as it is told to. */
async function startHop({ onTestFinished }: TestContext): Promise<SmtpSink> {
  const putOff = ({ argument }: SinkEvent) => (argument.includes(LATER) ? '451 4.7.1 Not now' : undefined);
  const sink = await startSmtpSink({ script: { RCPT: putOff } });
  onTestFinished(() => sink.close());
  return sink;
}

function folderFor({ onTestFinished }: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-backup-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A data directory in which nothing is. */
function emptyInstallation(context: TestContext): Installation {
  const installation = installed(context, '');
  rmSync(join(installation.dataDir, 'waybill.yaml'));
  return installation;
}

const letter = (subject: string, to = 'b@example.net') => ({
  from: 'a@example.com',
  to: [to],
  subject,
  text: `${subject} ${'.'.repeat(2000)}`,
});

const SCOPES = ['send', 'read', 'content'].flatMap((name) => ['--scope', `messages:${name}`]);

/** Sends until told to stop; ids by subject, as they are acknowledged. */
async function sendUntil(client: Client, name: string, signal: AbortSignal, ids: Map<string, string>) {
  for (let i = 0; !signal.aborted; i++) {
    const subject = `${name}-${i}`;
    ids.set(subject, await client.send(letter(subject)));
  }
}

test('what was acknowledged before a backup is in it; what was still to be sent is held until it is decided on', {
  timeout: 180_000,
}, async (context) => {
  const hop = await startHop(context);
  const installation = installed(context, configuration(hop));
  const folder = folderFor(context);
  const passphraseFile = join(folder, 'passphrase');
  writeFileSync(passphraseFile, 'a passphrase for tests\n');
  const key = await createKey(installation, 'app', ...SCOPES);
  const server = await installation.start();
  const client = new Client(server, key);
  const held = [];
  for (const name of ['one', 'two']) held.push(await client.send(letter(name, LATER)));
  const scheduled = { ...letter('scheduled'), sendAt: new Date(Date.now() + 3_600_000).toISOString() };
  held.push(await client.send(scheduled));
  const enough = new AbortController();
  const ids = new Map<string, string>();
  const writers = Array.from({ length: WRITERS }, (_, i) => sendUntil(client, `w${i}`, enough.signal, ids));
  await vi.waitFor(() => expect(ids.size).toBeGreaterThan(BEFORE), { timeout: 60_000 });
  const before = new Map(ids);
  const file = join(folder, 'backup.tar');
  const taken = await installation.run('backup', file, '--passphrase-file', passphraseFile, '--json');
  const during = ids.size - before.size;
  enough.abort();
  await Promise.all(writers);
  expect(taken, taken.stderr).toMatchObject({ code: 0 });
  expect(JSON.parse(taken.stdout)).toMatchObject({ verified: true, withSecretKey: true, path: file });
  expect(during, 'mail went in meanwhile').toBeGreaterThan(0);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).sort()).toEqual(['backup.tar', 'passphrase']);
  expect((await installation.run('backup', file)).stderr).toContain('exists already');
  const nowhere = join(installation.dataDir, 'nowhere');
  expect((await installation.run('backup', join(nowhere, 'x.tar'))).stderr).toContain(
    `There is no directory ${nowhere}. Make it first, or choose another.`,
  );
  await server.end('SIGKILL');

  for (const act of ['resume', 'cancel']) {
    const restored = emptyInstallation(context);
    const absent = await restored.run('restore', `${file}.none`);
    expect(absent.stderr).toBe(`${file}.none cannot be read: there is no such file.\n`);
    const done = await restored.run('restore', file, '--passphrase-file', passphraseFile);
    expect(done, done.stderr).toMatchObject({ code: 0 });
    for (const command of [`queue ${act} --restored`, 'serve'])
      expect(done.stdout).toContain(`./waybill ${command} --data ${restored.dataDir}`);
    const again = await restored.start();
    const there = new Client(again, key);
    for (const [subject, id] of before) {
      const content = await there.get(`/${id}/content`);
      expect(content.status, subject).toBe(200);
      expect(await content.text()).toContain(`Subject: ${subject}\r\n`);
    }
    for (const id of held)
      expect(await there.record(id)).toMatchObject({ status: 'failed', outcome: 'unknown' });
    const health = await healthOf(again);
    expect(health).toMatchObject({ httpStatus: 200, status: 'degraded' });
    expect(health.checks.map(({ name }) => name)).toContain('restored');
    hop.script = {};
    const takenBefore = hop.taken;
    await there.end(await there.send(letter('new mail flows')));
    expect(hop.taken - takenBefore, 'nothing that is held was sent').toBe(1);
    expect((await restored.run('queue', act, '--restored')).code).toBe(0);
    if (act === 'resume') {
      for (const id of held.slice(0, 2)) expect(await there.end(id)).toMatchObject({ status: 'delivered' });
      expect(await there.record(held[2] ?? ''), 'keeps its time').toMatchObject({ status: 'queued' });
      expect((await there.record(held[0] ?? '')).possibleDuplicate).toBe(true);
    } else
      for (const id of held)
        expect(await there.record(id)).toMatchObject({ status: 'failed', outcome: 'cancelled' });
    await vi.waitFor(
      async () => expect((await healthOf(again)).checks.map(({ name }) => name)).not.toContain('restored'),
      { timeout: 60_000 },
    );
    await again.end('SIGKILL');
  }
});

test('a backup of mail that is damaged already says so, and is not called whole', {
  timeout: 180_000,
}, async (context) => {
  const hop = await startHop(context);
  const installation = installed(context, configuration(hop));
  const key = await createKey(installation, 'app', ...SCOPES);
  const server = await installation.start();
  const client = new Client(server, key);
  await client.end(await client.send(letter('damaged')));
  await server.end('SIGKILL');
  const segment = join(installation.dataDir, 'spool', '00000001.seg');
  const bytes = readFileSync(segment);
  bytes[bytes.lastIndexOf('.')] = 0x21;
  writeFileSync(segment, bytes);

  const { dataDir } = installation;
  mkdirSync(join(dataDir, 'backups'));
  const taken = await installation.run('backup', join(dataDir, 'backups', 'one.tar'));
  expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining('1 message were already damaged') });
  expect(taken.stdout).not.toContain('whole');
  const told = { name: 'one.tar', verified: false, damaged: 1 };
  expect(await lastBackup(dataDir)).toMatchObject(told);
  expect(await listBackups(dataDir)).toMatchObject([told]);
});

test('a restore changes nothing where it is refused, and a backup needs no server', {
  timeout: 180_000,
}, async (context) => {
  const hop = await startHop(context);
  const installation = installed(context, configuration(hop));
  const folder = folderFor(context);
  await createKey(installation, 'app');
  const file = join(folder, 'backup.tar');
  expect((await installation.run('backup', file)).stdout).toContain('without the secret key');

  const occupied = await installation.run('restore', file);
  expect(occupied).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });
  const server = await installation.start();
  const running = await installation.run('restore', file);
  expect(running).toMatchObject({ code: 1, stderr: expect.stringContaining('A server is running') });
  await server.end('SIGKILL');

  const passphraseFile = join(folder, 'passphrase');
  writeFileSync(passphraseFile, 'short\n');
  const short = await installation.run('backup', join(folder, 'b.tar'), '--passphrase-file', passphraseFile);
  expect(short).toMatchObject({ code: 2, stderr: expect.stringContaining('at least 12') });
  writeFileSync(passphraseFile, 'a passphrase for tests\n');
  const target = emptyInstallation(context);
  const useless = await target.run('restore', file, '--passphrase-file', passphraseFile);
  expect(useless).toMatchObject({ code: 1, stderr: expect.stringContaining('no secrets') });
  expect(readdirSync(target.dataDir)).toEqual([]);
  const plain = await target.run('restore', file);
  expect(plain.code).toBe(0);
  expect(plain.stdout).toContain('secret.key into');
  expect(existsSync(join(target.dataDir, 'secret.key'))).toBe(false);
  expect((await target.run('keys', 'list')).stdout).toContain('app');
});
