import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  at,
  attempt,
  CAPTURED,
  message,
  recipient,
  refTo,
  T0,
  takeLane,
} from '../../test/contract/store/fixtures.ts';
import { FaultyFiles } from '../../test/support/faulty-files.ts';
import { readAll } from '../../test/support/spool-entry.ts';
import { openSegmentSpool } from '../spool/segments/segment-spool.ts';
import type { Spool } from '../spool/spool.ts';
import type { NewJournalEntry } from '../store/journal.ts';
import { openSqlite, type SqliteStores } from '../store/sqlite/open.ts';
import { StoreError } from '../store/store.ts';
import { Collection, Compaction, UpkeepRecord } from './compaction.ts';

const NOTHING_KEPT = { contentAgeMs: 0, contentMaxBytes: 0, capturedAgeMs: 0, capturedMaxBytes: 0 };
const GO_ON = new AbortController().signal;

let folder: string;
let files: FaultyFiles;
let stores: SqliteStores;
let spool: Spool;
let mono: number;
let compactBelowPercent: number;
let collection: Collection;
let entries: NewJournalEntry[];
let record: UpkeepRecord;
let compaction: Compaction;
/** Ids and bytes of what is to be kept. */
let kept: Map<string, string>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'waybill-compaction-'));
  files = new FaultyFiles();
  stores = openSqlite(':memory:');
  mono = 0;
  compactBelowPercent = 25;
  kept = new Map();
  entries = [];
  await open();
});

afterEach(async () => {
  await spool.close();
  await stores.store.close();
  rmSync(folder, { recursive: true });
});

/** Opens the spool, and what is in memory, as after a start. */
async function open(): Promise<void> {
  spool = await openSegmentSpool({ directory: join(folder, 'spool'), onFailure() {}, files: files.files });
  const sleep = async (ms: number) => {
    mono += ms;
  };
  const clock = { wall: () => T0, mono: () => mono, sleep };
  collection = new Collection();
  record = new UpkeepRecord({ record: async (added) => void entries.push(...added) }, clock);
  const settings = () => ({ compactBelowPercent });
  compaction = new Compaction({ store: stores.store, spool, clock, node: 'a', settings, collection, record });
}

async function put(text: string, deliveries = [recipient()]): Promise<string> {
  const record = message({ deliveries });
  const bytes = Buffer.from(text);
  const flags = { eightBit: false, utf8: false, dotStuffing: true };
  const [content] = await spool.append([
    { messageId: record.id, content: { chunks: [bytes], sizeBytes: bytes.length, flags } },
  ]);
  if (content === undefined) throw new Error('no reference');
  await stores.store.accept([{ ...record, content }], at());
  spool.decided([content]);
  return record.id;
}

/** A segment of which little lives: so many messages whose contents are gone, and `live` that wait. */
async function mostlyDead(dead = 40, live = 3): Promise<void> {
  const lease = await takeLane(stores.store);
  for (let i = 0; i < dead; i++) {
    const id = await put(`dead ${i} ${'x'.repeat(500)}`, [recipient({ fence: lease.fence })]);
    await attempt(stores.store, refTo(id, lease), [CAPTURED], at());
    if (i % Math.ceil(dead / live) === 0) {
      const text = `alive ${i} ${'y'.repeat(300)}`;
      kept.set(await put(text), text);
    }
  }
  await stores.store.releaseLanes([lease], at());
  await stores.store.purge(
    { ...NOTHING_KEPT, recordAgeMs: 1e12, eventAgeMs: 1e12, feedbackAgeMs: 1e12, maxUnsubscribeLinks: 9 },
    1000,
    at(),
  );
  // After a start nothing is written to it any more, and with another behind it it is idle.
  await spool.close();
  await open();
  await put('the newest');
}

async function expectAllReadable(): Promise<void> {
  for (const [id, text] of kept) {
    const content = (await stores.views.message(id))?.message.content ?? null;
    if (content === null) throw new Error(`${id} has no contents`);
    expect((await readAll(await spool.read(content))).toString()).toBe(text);
  }
}

const segmentOf = async (id: string | undefined) =>
  (await stores.views.message(id ?? ''))?.message.content?.segment;
const first = () => kept.keys().next().value;

it('empties a segment that is mostly dead, and lets those go on who read there', async () => {
  await mostlyDead();
  const old = (await stores.views.message(first() ?? ''))?.message.content;
  await compaction.round(GO_ON);
  expect(await segmentOf(first())).toBe(2);
  expect(await stores.store.liveSegments([1])).toEqual(new Map([[1, 0]]));
  await expectAllReadable();
  if (!old) throw new Error('it had no contents');
  expect(compaction.mustStay(1), 'for those who were told the old place').toBe(true);
  expect((await readAll(await spool.read(old))).toString()).toBe(kept.get(first() ?? ''));
  mono += 5 * 60_000;
  expect(compaction.mustStay(1)).toBe(false);
  await spool.unlink([1]);
  await expectAllReadable();
  await record.write(true);
  expect(entries.map(({ actorKind, action, after }) => [actorKind, action, JSON.parse(after ?? '')])).toEqual(
    [['service', 'compaction', { segments: 1, contents: 3, bytes: [...kept.values()].join('').length }]],
  );
});

it('leaves alone what is mostly alive, and everything when it is switched off', async () => {
  await mostlyDead(4, 4);
  await compaction.round(GO_ON);
  expect(await segmentOf(first())).toBe(1);
  compactBelowPercent = 90;
  await compaction.round(GO_ON);
  expect(await segmentOf(first())).toBe(2);
});

it('copies nothing where the disk has no room for it, and goes on when it has', async () => {
  await mostlyDead();
  const free = (mebibytes: number) =>
    files.set('statfs', async () => ({ bavail: mebibytes, blocks: 1000, bsize: 1024 * 1024 }));
  free(64);
  await compaction.round(GO_ON);
  expect(await segmentOf(first())).toBe(1);
  free(65);
  await compaction.round(GO_ON);
  expect(await segmentOf(first())).toBe(2);
});

it('does nothing while the spool is held, and goes on afterwards', async () => {
  await mostlyDead();
  const release = await collection.hold();
  await compaction.round(GO_ON);
  expect(await segmentOf(first())).toBe(1);
  release();
  release();
  await compaction.round(GO_ON);
  expect(await segmentOf(first())).toBe(2);
});

it('does not move what is damaged, nor take the segment for empty', async () => {
  await mostlyDead();
  const [id = ''] = [...kept.keys()].slice(1);
  const content = (await stores.views.message(id))?.message.content;
  // Its first byte is another, whoever reads it, and with whatever else.
  files.set('pread', async (real, fd, target, position) => {
    const count = await real(fd, target, position);
    const at = content ? content.offset + 36 - position : -1;
    if (at >= 0 && at < count) target[at] = (target[at] ?? 0) ^ 1;
    return count;
  });
  await compaction.round(GO_ON);
  files.set('pread', null);
  expect(await segmentOf(id)).toBe(1);
  expect(await segmentOf(first())).toBe(2);
  expect(await stores.store.liveSegments([1])).toEqual(new Map([[1, 1]]));
  await expectAllReadable();
});

it('loses nothing wherever it is broken off, and gets done in the end', async () => {
  const relocate = stores.store.relocate.bind(stores.store);
  for (const fault of ['before', 'after'] as const) {
    await mostlyDead();
    Object.assign(stores.store, {
      relocate: async (...args: Parameters<typeof relocate>) => {
        if (fault === 'after') await relocate(...args);
        throw new StoreError('store_unavailable', `simulated: ${fault}`);
      },
    });
    await expect(compaction.round(GO_ON)).rejects.toThrow('simulated');
    await expectAllReadable();
    Object.assign(stores.store, { relocate });
    await spool.close();
    await open();
    await put('another');
    await compaction.round(GO_ON);
    await expectAllReadable();
  }
  // What nobody refers to is what may go.
  const idle = await spool.idle();
  const live = await stores.store.liveSegments(idle);
  await spool.unlink(idle.filter((segment) => live.get(segment) === 0));
  await expectAllReadable();
  expect(existsSync(join(folder, 'spool', '00000001.seg'))).toBe(false);
});
