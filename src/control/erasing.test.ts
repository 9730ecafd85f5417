/** The work of erasing over a real database and a real spool; what goes wrong in the spool is told to its files. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FaultyFiles } from '../../test/support/faulty-files.ts';
import { entryOf } from '../../test/support/spool-entry.ts';
import { createVault } from '../config/secrets.ts';
import { systemClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { PSEUDONYM_INFO, Pseudonyms } from '../lib/pseudonym.ts';
import { seededRandom } from '../lib/random.ts';
import { openSegmentSpool } from '../spool/segments/segment-spool.ts';
import { BEGINNING, type Erasure } from '../store/erasing.ts';
import { openSqlite, type SqliteStores } from '../store/sqlite/open.ts';
import { type ErasingDeps, erasureOwner, holdKeys, keepErasing } from './erasing.ts';
import { privacyOperations } from './privacy.ts';

const ANN = 'ann@example.org';
const vault = createVault(new Uint8Array(32), seededRandom(1));

let folder: string;
let disk: FaultyFiles;
let stores: SqliteStores;
let spool: Awaited<ReturnType<typeof openSegmentSpool>>;
let stopping: AbortController;
let deps: ErasingDeps;
let held: boolean;
const warned: string[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'waybill-erasing-'));
  disk = new FaultyFiles();
  stores = openSqlite(join(folder, 'waybill.db'));
  await holdKeys({ ...stores, holdSecretKey: async () => {} }, vault);
  spool = await openSegmentSpool({ directory: join(folder, 'spool'), onFailure() {}, files: disk.files });
  stopping = new AbortController();
  held = false;
  warned.splice(0);
  // Nobody else writes to its log.
  const log = { info() {}, warn: (event: string) => warned.push(event) } as unknown as Log;
  let now = 1_000;
  deps = {
    ...stores,
    files: { spool, rebuild: async () => 'rebuilt' },
    engine: {
      isFirst: () => true,
      undisturbed: async (step) => {
        if (!held) await step();
        return !held;
      },
      // Nothing is live.
      empty: async (segments) => {
        const idle = await spool.idle();
        if (!held) await spool.unlink(segments.filter((segment) => idle.includes(segment)));
      },
    },
    // Time goes on whenever somebody sleeps.
    clock: {
      ...systemClock,
      wall: () => now,
      sleep: async (ms, signal) => {
        now += ms;
        await systemClock.sleep(0, signal).catch(() => {});
      },
    },
    log,
    node: 'node_1',
    vault: () => vault,
    signal: stopping.signal,
  };
});
afterEach(async () => {
  stopping.abort();
  await spool.close();
  await stores.store.close();
  rmSync(folder, { recursive: true });
});

async function ask(id: string, address = ANN): Promise<void> {
  const pseudonyms = new Pseudonyms();
  pseudonyms.hold(vault.derive(PSEUDONYM_INFO));
  await stores.erasures.addErasure({
    id,
    pseudonym: pseudonyms.of(address) ?? '',
    sealed: vault.seal(address, erasureOwner(id)),
    requestedAt: 0,
    finishedAt: null,
    progress: BEGINNING,
  });
}

/** Works until an erasure is as expected. */
async function until(id: string, isAsExpected: (erasure: Erasure) => boolean): Promise<Erasure> {
  const stop = new AbortController();
  const working = keepErasing({ ...deps, signal: stop.signal });
  try {
    for (;;) {
      const erasure = await stores.erasures.erasure(id);
      if (erasure !== null && isAsExpected(erasure)) return erasure;
      await systemClock.sleep(1, stopping.signal);
    }
  } finally {
    stop.abort();
    await working;
  }
}

const isDone = ({ finishedAt }: Erasure) => finishedAt !== null;
const waitsFor = (words: string) => (erasure: Erasure) => erasure.progress.trouble?.includes(words) === true;

/** A message to her that the store does not know: it was given up. */
async function put(text: string): Promise<number> {
  const [ref] = await spool.append([entryOf(text)]);
  if (ref === undefined) throw new Error('no reference');
  spool.decided([ref]);
  return ref.segment;
}

function bytesLeft(): boolean {
  const files = readdirSync(join(folder, 'spool'));
  return files.some((name) => readFileSync(join(folder, 'spool', name), 'latin1').includes(ANN));
}

test('files that hold her bytes are gone before it says so', async () => {
  await put(`To: ${ANN}`);
  await ask('era_1');
  expect(await until('era_1', isDone)).toMatchObject({
    sealed: null,
    progress: { step: 'done', trouble: null },
  });
  expect(bytesLeft()).toBe(false);
});

test('so are those to which nothing refers, and those that the database told of', async () => {
  const dead = await put('Bcc: somebody');
  await ask('era_1');
  await until('era_1', isDone);
  expect(await spool.existing(99)).not.toContain(dead);
});

test.each(['openRead', 'pread'] as const)(
  'a spool that cannot be searched (%s) is no empty one',
  async (call) => {
    await put(`To: ${ANN}`);
    await ask('era_1');
    disk.fail(call, 'EIO');
    const { progress } = await until('era_1', waitsFor('erasure.failed'));
    expect(progress.step).toBe('spool');
    expect(warned).toContain('erasure.failed');
    disk.set(call, null);
    await until('era_1', isDone);
    expect(bytesLeft()).toBe(false);
  },
);

test('while a backup copies the spool, it waits', async () => {
  await put(`To: ${ANN}`);
  held = true;
  await ask('era_1');
  await until('era_1', waitsFor('backup'));
  held = false;
  await until('era_1', isDone);
  expect(bytesLeft()).toBe(false);
});

test('one that fails lets others pass', async () => {
  await put(`To: ${ANN}`);
  await ask('era_1');
  disk.fail('openRead', 'EIO');
  await until('era_1', waitsFor('erasure.failed'));
  disk.set('openRead', null);
  await ask('era_2', 'bob@example.org');
  await until('era_2', isDone);
});

test('what was sealed under another key ends, and says so', async () => {
  await ask('era_1');
  deps = { ...deps, vault: () => createVault(new Uint8Array(32).fill(9), seededRandom(1)) };
  await until('era_1', isDone);
  // Only the erasures are asked.
  const { listErasures } = privacyOperations(deps as unknown as Parameters<typeof privacyOperations>[0]);
  const { erasures } = await listErasures({});
  expect(erasures).toMatchObject([
    { state: 'failed', stepsDone: 0, notice: expect.stringMatching(/^The address cannot be read/) },
  ]);
});

test('two workers at once do nothing twice, and forget nothing', async () => {
  const segment = await put(`To: ${ANN}`);
  await ask('era_1');
  const other = keepErasing({ ...deps, node: 'node_2' });
  await until('era_1', isDone);
  expect(await spool.existing(99)).not.toContain(segment);
  stopping.abort();
  await other;
});
