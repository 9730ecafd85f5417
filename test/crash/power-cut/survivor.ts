/** What a power cut left, opened by the code that a start opens it with, and held against what had been promised. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { contentKeysFor } from '../../../src/control/content-keys.ts';
import { openOffline } from '../../../src/control/offline.ts';
import { deriveStatus } from '../../../src/domain/delivery.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { type Random, systemRandom } from '../../../src/lib/random.ts';
import { openSegmentSpool } from '../../../src/spool/segments/segment-spool.ts';
import type { Spool } from '../../../src/spool/spool.ts';
import { replay } from '../../../src/store/logged/replay.ts';
import { openBetterSqlite3 } from '../../../src/store/sqlite/driver.ts';
import { lockDirectory } from '../../../src/store/sqlite/lock.ts';
import { openSqlite } from '../../../src/store/sqlite/open.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Views } from '../../../src/store/views.ts';
import { at, message } from '../../contract/store/fixtures.ts';
import { readAll } from '../../support/spool-entry.ts';
import { subjectOf } from '../customer.ts';
import type { Found } from './disk.ts';
import type { Promised } from './promises.ts';
import type { Letter } from './recording.ts';

/** How often the command line opens it first. */
const OFFLINE_SHARE = 0.1;
/** Promises of a kind that are looked at closely: the newest, and as many others. All else is looked for. */
const NEWEST = 16;
const OTHERS = 6;

/** What had been promised when the power went. */
export class Promises {
  readonly accepted = new Set<string>();
  readonly ended = new Map<string, 'delivered' | 'failed'>();
  /** How often a next hop may have it. */
  readonly sent = new Map<string, number>();

  add(promised: Promised): void {
    if (promised.kind === 'accepted') this.accepted.add(promised.id);
    else if (promised.kind === 'ended') this.ended.set(promised.id, promised.status);
    else this.sent.set(promised.id, (this.sent.get(promised.id) ?? 0) + 1);
  }
}

/** Writes what was found into a folder, which it empties first. */
export function layOut(found: Found, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  for (const [name, bytes] of found)
    if (bytes === null) mkdirSync(join(folder, name), { mode: 0o700 });
    else writeFileSync(join(folder, name), bytes, { mode: 0o600 });
}

/**
 * Opens a folder, recovers as a start does, accepts one more message, and holds all of it against the promises. `dice` choose
 * by which door it comes in, and which older promises are looked at closely besides the newest.
 */
export async function expectKept(
  folder: string,
  promises: Promises,
  { letters, dice }: { readonly letters: ReadonlyMap<string, Letter>; readonly dice: Random },
): Promise<void> {
  if (dice.next() < OFFLINE_SHARE) await acceptOffline(folder, promises);
  const lock = lockDirectory(folder, process.pid);
  const keys = contentKeysFor({ dataDir: folder, environment: {}, random: systemRandom });
  const { store, views, applying } = openSqlite(join(folder, 'waybill.db'));
  const spool = await openSegmentSpool({ directory: join(folder, 'spool'), keys, onFailure() {} });
  await replay(spool, applying);
  try {
    const policy = { firstMs: 1, maxMs: 1, maxAgeMs: 3_600_000, ambiguous: 'retry' } as const;
    await store.reclaim({ seize: true, policy, dice: 0, limit: 1_000_000 }, at());
    const added = await accept(store, spool);
    for (const id of [added, ...some(promises.accepted, dice)])
      await expectWhole(id, views, spool, letters.get(id));
    for (const [id, status] of promises.ended)
      expect((await views.message(id))?.message.status, `${id} was told as ${status}`).toBe(status);
    for (const [id, times] of some(promises.sent, dice)) await expectRemembered(id, times, views);
  } finally {
    await spool.close();
    await store.close();
    lock.release();
  }
  expectSound(join(folder, 'waybill.db'), promises.accepted);
}

/** The newest, and a few others. */
function some<T>(all: Iterable<T>, dice: Random): T[] {
  const list = [...all];
  const older = Math.max(0, list.length - NEWEST);
  const others = Array.from({ length: Math.min(older, OTHERS) }, () => list[Math.floor(dice.next() * older)]);
  return [...others.filter((one) => one !== undefined), ...list.slice(older)];
}

/** As the command line does it without a server: with the secret key, under the lock, by the same intake. */
async function acceptOffline(folder: string, { accepted }: Promises): Promise<void> {
  const surroundings = { environment: {}, clock: systemClock, random: systemRandom };
  const offline = await openOffline({ dataDir: folder, ...surroundings });
  try {
    expect(offline.faults()).toEqual([]);
    const message = { from: 'a@example.com', to: ['b@example.net'], subject: 'after', text: 'after' };
    const { id } = await offline.operations.submit({ message });
    expect(accepted).not.toContain(id);
  } finally {
    await offline.close();
  }
}

async function accept(store: Store, spool: Spool): Promise<string> {
  const record = message({ keyId: null });
  const bytes = Buffer.from(`Subject: ${record.header.subject}\r\n\r\nafter\r\n`);
  const content = { chunks: [bytes], sizeBytes: bytes.length, flags: record.flags };
  const [ref] = await spool.append([{ messageId: record.id, content }]);
  if (ref === undefined) throw new Error('nothing was appended');
  expect(await store.accept([{ ...record, content: ref, sizeBytes: bytes.length }], at())).toMatchObject([
    { kind: 'accepted' },
  ]);
  return record.id;
}

/** The message is there, says of itself what its recipients say, and its contents are those that came. */
async function expectWhole(
  id: string,
  views: Views,
  spool: Spool,
  letter: Letter | undefined,
): Promise<void> {
  const detail = await views.message(id);
  if (detail === null) throw new Error(`${id} was acknowledged and is lost`);
  const counts = { queued: 0, processing: 0, retrying: 0, delivered: 0, failed: 0 };
  for (const { state } of detail.recipients) counts[state]++;
  const { status, content, header, finalAt } = detail.message;
  expect(status, id).toBe(deriveStatus(counts));
  if (letter !== undefined) expect(header.subject, id).toBe(letter.subject);
  if (content === null) {
    expect([letter?.brief, finalAt !== null], `${id}: whether its contents may have gone`).toEqual([
      true,
      true,
    ]);
    return;
  }
  const bytes = await readAll(await spool.read(content));
  expect(subjectOf(bytes), id).toBe(Buffer.from(header.subject).toString('latin1'));
  for (const copy of letter?.copies ?? [])
    expect(bytes.equals(copy), `${id}: whether it is what next hops saw`).toBe(true);
}

/** Every time that a next hop may have taken it is on record: as it ended, or as unknown, and then flagged. */
async function expectRemembered(id: string, times: number, views: Views): Promise<void> {
  const detail = await views.message(id);
  const { attempts } = await views.attempts(id, { after: 0, limit: 100 });
  const unknown = attempts.filter(({ results }) => results.some(({ outcome }) => outcome.kind === 'unknown'));
  const answered = attempts.filter((one) => !unknown.includes(one) && one.evidence.timings.replyMs !== null);
  expect(unknown.length + answered.length, `attempts of ${id} that reached the dot`).toBeGreaterThanOrEqual(
    times,
  );
  expect(detail?.message.possibleDuplicate, `${id} is flagged`).toBe(unknown.length > 0);
}

/** Each of these finds what contradicts something else. */
const CONTRADICTIONS = [
  'SELECT message FROM deliveries EXCEPT SELECT seq FROM messages',
  'SELECT message FROM attempts EXCEPT SELECT seq FROM messages',
  'SELECT id FROM message_tags EXCEPT SELECT id FROM messages',
  'SELECT id FROM idempotency EXCEPT SELECT id FROM messages',
  'SELECT key_id FROM messages WHERE key_id IS NOT NULL EXCEPT SELECT key_id FROM key_secrets',
  `SELECT seq FROM messages m WHERE attempts <> (SELECT count(*) FROM attempts WHERE message = m.seq)
   OR queued + processing + retrying + delivered + failed <> (SELECT count(*) FROM deliveries WHERE message = m.seq)`,
  `SELECT segment, count(*), sum(length) FROM messages WHERE segment IS NOT NULL GROUP BY segment
   EXCEPT SELECT segment, live, bytes FROM segments`,
  'SELECT id FROM messages GROUP BY id HAVING count(*) > 1',
  `SELECT segment, offset FROM messages WHERE segment IS NOT NULL GROUP BY segment, offset HAVING count(*) > 1`,
] as const;

function expectSound(database: string, accepted: ReadonlySet<string>): void {
  const db = openBetterSqlite3(database);
  try {
    expect(db.prepare('PRAGMA integrity_check').all()).toEqual([['ok']]);
    for (const query of CONTRADICTIONS) expect(db.prepare(query).all(), query).toEqual([]);
    const ids = new Set(db.prepare<[], [string]>('SELECT id FROM messages').all().flat());
    const lost = [...accepted].filter((id) => !ids.has(id));
    expect(lost, 'acknowledged and lost').toEqual([]);
  } finally {
    db.close();
  }
}
