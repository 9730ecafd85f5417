/** A start after a death with a long log: everything that was answered is there, in the time that it is told. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ContentRef } from '../../src/domain/message.ts';
import { openSegmentSpool } from '../../src/spool/segments/segment-spool.ts';
import type { FactLog, Spool, SpoolEntry } from '../../src/spool/spool.ts';
import type { AcceptRecord } from '../../src/store/accepting.ts';
import type { Applying } from '../../src/store/applying.ts';
import { LoggedStore } from '../../src/store/logged/logged-store.ts';
import { replay } from '../../src/store/logged/replay.ts';
import { openSqlite, type SqliteStores } from '../../src/store/sqlite/open.ts';
import {
  at,
  beginAll,
  DELIVERED,
  message,
  POLICY,
  read,
  recipient,
  refTo,
  SETTLED,
  settlement,
  takeLane,
} from '../contract/store/fixtures.ts';
import { UNLESS_ASKED, withoutFlushes } from '../support/logged-rig.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { tell, times } from '../support/proof.ts';
import { bytesOf, entryOf, readAll } from '../support/spool-entry.ts';

const FACTS = times('replayed_facts', 3_000);
/** Each has three facts, but for the last two. */
const MESSAGES = Math.max(2, Math.round(FACTS / 3));
const AT_ONCE = 50;
const LIMITS = { maxBytes: Number.MAX_SAFE_INTEGER, maxMessagesPerKey: Number.MAX_SAFE_INTEGER };

interface Opened extends SqliteStores {
  readonly spool: Spool & FactLog;
}

async function openIn(folder: string, files = withoutFlushes().files): Promise<Opened> {
  const stores = openSqlite(join(folder, 'waybill.db'));
  const spool = await openSegmentSpool({ directory: join(folder, 'spool'), files, onFailure() {} });
  onTestFinished(async () => {
    await spool.close();
    await stores.store.close();
  });
  return { ...stores, spool };
}

interface Written {
  readonly id: string;
  readonly entry: SpoolEntry;
}

/**
 * Takes, begins and settles mail over a database that only seems to follow: all of it is in the log alone. The last
 * message but one has begun, the last has not.
 */
async function fill(folder: string): Promise<Written[]> {
  const { spool, applying, ...stores } = await openIn(folder);
  await replay(spool, applying);
  const behind: Pick<Applying, 'apply'> = { apply: async () => ({ bytes: 0, messages: [] }) };
  const logged = new LoggedStore({
    ...stores,
    applying: behind,
    log: spool,
    spool,
    clock: new ManualClock(),
    behind: UNLESS_ASKED,
  });
  const store = logged.asStore();
  const lease = await takeLane(store);
  const written: Written[] = [];
  const deliver = async (nth: number) => {
    const record = message({ keyId: null, deliveries: [recipient({ fence: lease.fence })] });
    const entry = { ...entryOf(`contents of ${record.id}\r\n`), messageId: record.id };
    written[nth] = { id: record.id, entry };
    await takeOne(logged, record, entry);
    const unit = refTo(record.id, lease);
    if (nth < MESSAGES - 1) expect(await beginAll(store, [unit], at(1))).toEqual(['begun']);
    if (nth < MESSAGES - 2)
      expect(await store.settle([settlement(unit, [DELIVERED], at(1))], at(2))).toEqual([SETTLED]);
  };
  for (let first = 0; first < MESSAGES; first += AT_ONCE) {
    const count = Math.min(AT_ONCE, MESSAGES - first);
    await Promise.all(Array.from({ length: count }, (_, place) => deliver(first + place)));
  }
  return written;
}

async function takeOne(logged: LoggedStore, record: AcceptRecord, entry: SpoolEntry): Promise<void> {
  const { messageId, content } = entry;
  const wish = { keyId: record.keyId, sizeBytes: content.sizeBytes, idempotency: null };
  const recipients = record.deliveries.map(({ recipient }) => recipient);
  const taken = {
    messageId,
    content,
    wish,
    recipients,
    record: (ref: ContentRef) => ({ ...record, content: ref }),
  };
  const terms = { at: () => at(), limits: LIMITS, counted: () => {} };
  expect(await logged.take([taken], terms)).toEqual([{ kind: 'accepted', leased: [true] }]);
}

test(`a start with ${FACTS} facts behind what was written finds everything`, {
  timeout: 600_000,
}, async () => {
  const parent = mkdtempSync(join(tmpdir(), 'waybill-start-'));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const [dead, found] = [join(parent, 'dead'), join(parent, 'found')];
  mkdirSync(dead);
  const written = await fill(dead);
  // As a kill leaves it: nothing is closed, and the database knows of nothing.
  cpSync(dead, found, { recursive: true });

  const next = await openIn(found);
  const startedAt = performance.now();
  expect(await replay(next.spool, next.applying)).toBe(MESSAGES * 3 - 3);
  const ms = Math.round(performance.now() - startedAt);

  const counts = new Map<string, number>();
  for (const { id, entry } of written) {
    const { message: stored } = await read(next.views, id);
    counts.set(stored.status, (counts.get(stored.status) ?? 0) + 1);
    if (stored.content === null) throw new Error(`${id} has no contents`);
    const content = await readAll(await next.spool.read(stored.content));
    expect(content.equals(bytesOf(entry)), `the contents of ${id}`).toBe(true);
  }
  expect([...counts]).toEqual([
    ['delivered', MESSAGES - 2],
    ['processing', 2],
  ]);
  const seized = { seize: true, policy: POLICY, dice: 0, limit: 10 };
  await next.store.reclaim(seized, at(10));
  const last = await Promise.all(written.slice(-2).map(({ id }) => read(next.views, id)));
  expect(last.map(({ message: { status, possibleDuplicate } }) => [status, possibleDuplicate])).toEqual([
    ['retrying', true],
    ['queued', false],
  ]);
  const again = await openIn(found);
  expect(await replay(again.spool, again.applying)).toBe(0);
  tell('a start with a long log', { facts: MESSAGES * 3 - 3, lost: 0 }, { 'ms at most': ms });
});
