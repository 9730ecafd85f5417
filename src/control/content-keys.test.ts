import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { restoreBackup } from '../backup/restore.ts';
import { takeBackup } from '../backup/take.ts';
import { systemClock } from '../lib/clock.ts';
import { systemRandom } from '../lib/random.ts';
import { contentKeysFor } from './content-keys.ts';
import { layoutOf } from './layout.ts';
import { openOffline } from './offline.ts';

const SECRET = 'for nobody else to read';
const PASSPHRASE = 'a passphrase for tests';
const ENCRYPTED = { WAYBILL_SECRETS__ENCRYPT_CONTENTS: 'true' };
const PACE = { clock: systemClock, signal: new AbortController().signal, tell() {}, bytesPerSecond: null };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waybill-content-keys-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const openIn = (dataDir: string, environment: Record<string, string> = ENCRYPTED) =>
  openOffline({ dataDir, environment, clock: systemClock, random: systemRandom });

async function submitIn(dataDir: string): Promise<string> {
  const offline = await openIn(dataDir);
  try {
    const message = { from: 'a@example.com', to: ['b@example.net'], subject: 'hello', text: SECRET };
    return (await offline.operations.submit({ message })).id;
  } finally {
    await offline.close();
  }
}

async function contentIn(dataDir: string, id: string): Promise<string> {
  const offline = await openIn(dataDir, {});
  try {
    const { content } = await offline.operations.messageContent({ id });
    return Buffer.from(content, 'base64').toString();
  } finally {
    await offline.close();
  }
}

test('a backup of encrypted mail is verified without the key, shows none of it, and comes back with the key', async () => {
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  const id = await submitIn(dataDir);
  const { database, spool } = layoutOf(dataDir);
  const file = join(folder, 'backup.tar');
  const files = [{ name: 'secret.key', path: join(dataDir, 'secret.key') }];
  const secrets = { passphrase: PASSPHRASE, files };
  const task = { database, spool, file, version: '1.0.0', createdAt: Date.UTC(2026, 10, 28), secrets };
  expect(await takeBackup(task, PACE, systemRandom)).toMatchObject({ messages: 1, damaged: 0 });
  expect(readFileSync(file).includes(SECRET)).toBe(false);

  const restored = join(folder, 'restored');
  await restoreBackup({ file, dataDir: restored, passphrase: PASSPHRASE }, PACE);
  expect(await contentIn(restored, id)).toContain(SECRET);

  const keyless = join(folder, 'keyless');
  await restoreBackup({ file, dataDir: keyless, passphrase: null }, PACE);
  await expect(openIn(keyless)).rejects.toMatchObject({ code: 'spool_other_key' });
  writeFileSync(join(keyless, 'secret.key'), readFileSync(join(dataDir, 'secret.key')));
  expect(await contentIn(keyless, id)).toContain(SECRET);
});

test('a backup of a segment whose key is damaged says how many messages nobody can read', async () => {
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  await submitIn(dataDir);
  const { database, spool } = layoutOf(dataDir);
  const [segment = ''] = readdirSync(spool);
  const bytes = readFileSync(join(spool, segment));
  const task = { database, spool, version: '1.0.0', createdAt: Date.UTC(2026, 10, 28), secrets: null };
  const damagedIn = async (name: string) =>
    (await takeBackup({ ...task, file: join(folder, name) }, PACE, systemRandom)).damaged;
  expect(await damagedIn('whole.tar')).toBe(0);
  for (const at of [0, 40, 103]) {
    writeFileSync(join(spool, segment), bytes.with(at, (bytes[at] ?? 0) ^ 1));
    expect(await damagedIn(`damaged-${at}.tar`), `byte ${at}`).toBe(1);
  }
});

test('with a key that cannot be read nothing is opened that is to be encrypted', async () => {
  writeFileSync(join(folder, 'secret.key'), 'no key\n');
  const options = { dataDir: folder, random: systemRandom };
  expect(() => contentKeysFor({ ...options, environment: ENCRYPTED })).toThrow(/contains no key/);
  expect(contentKeysFor({ ...options, environment: {} })).toBeNull();
  expect(readdirSync(folder)).toEqual(['secret.key']);
});
