import { FINAL_STATUSES, type MessageStatus } from '../../domain/delivery.ts';
import { idFloor, messageIdFloor } from '../../lib/id.ts';
import { IDEMPOTENCY_MS } from '../accepting.ts';
import { fromJson } from '../columns.ts';
import { BYTES_GAUGE, dayOf, KEEP_QUOTA_DAYS } from '../counting.ts';
import { endStoryLinksOf, forgetStoryLinks } from '../plain/sharing.ts';
import { forgetTold } from '../plain/telling.ts';
import { forgetLinks, LINK_COLUMNS } from '../plain/unsubscribe-links.ts';
import type { Stamp } from '../store.ts';
import type { PurgeAnswer, PurgePolicy } from '../upkeep.ts';
import type { Books } from './books.ts';
import type { Driver } from './driver.ts';
import { EventPurge } from './events.ts';
import { runnerOver } from './plain.ts';
import { WordIndex } from './word-index.ts';

const DAY_MS = 86_400_000;

/** The retention rule that keeps contents. */
type KeptRule = keyof typeof BYTES_GAUGE;

/** Builds the verb `purge`. Every search starts from the index of final messages, so that it can find no other. */
export function purgeVerb(books: Books) {
  const sql = preparePurge(books.db);
  const contentsOf = new ContentPurge(books);
  const words = new WordIndex(books.db);
  const events = new EventPurge(books.db);
  const run = runnerOver(books.db);
  return (policy: PurgePolicy, limit: number, at: Stamp): PurgeAnswer => {
    books.tallies.flush();
    let contents = contentsOf.byAge('sent', policy.contentAgeMs, limit, at);
    contents += contentsOf.byAge('captured', policy.capturedAgeMs, limit - contents, at);
    contents += contentsOf.bySize('sent', policy.contentMaxBytes, limit - contents);
    contents += contentsOf.bySize('captured', policy.capturedMaxBytes, limit - contents);
    let records = purgeRecords(at.now - policy.recordAgeMs, limit - contents);
    records += purgeOfKeys(at.now, limit - contents - records);
    if (records > 0) words.recede();
    const forgotten = events.byAge(at.now - policy.eventAgeMs, limit);
    const told = run(forgetTold(idFloor('fbk_', at.now - policy.feedbackAgeMs), limit, at.now));
    const links = run(forgetLinks(policy.maxUnsubscribeLinks, limit));
    const ended = run(forgetStoryLinks(at.now, limit));
    const repeats = sql.idempotency.run(at.now - IDEMPOTENCY_MS, limit);
    books.closeOff();
    books.quotas.prune(dayOf(at.now) - KEEP_QUOTA_DAYS, limit);
    const more = Math.max(contents + records, forgotten, told, links, ended, repeats) >= limit;
    if (!more) sql.emptyQueues.run();
    books.leases.prune(at.now);
    return { contents, records, more };
  };

  function purgeRecords(finalBefore: number, limit: number): number {
    let removed = 0;
    for (const rule of ['gone', 'sent', 'captured'] as const)
      for (const row of sql.finalBefore.all(rule, finalBefore, limit - removed)) {
        removeRecord(rule, row);
        removed++;
      }
    return removed;
  }

  /** Removes the records of keys whose own days are over. */
  function purgeOfKeys(now: number, limit: number): number {
    let removed = 0;
    for (const [keyId, days] of sql.recordDays.all()) {
      const finalBefore = now - days * DAY_MS;
      const below = messageIdFloor(finalBefore + 1);
      for (const status of FINAL_STATUSES) {
        const rows = sql.ofKeyBefore.all(keyId, status, below, finalBefore, limit - removed);
        for (const [kept, ...row] of rows) removeRecord(kept, row);
        removed += rows.length;
      }
    }
    return removed;
  }

  function removeRecord(kept: KeptRule | 'gone', row: FinalRow): void {
    const [seq, id, , , , keyId, tags] = row;
    if (kept !== 'gone') contentsOf.giveUp(kept, row);
    for (const tag of fromJson<string[]>(tags)) sql.deleteTag.run(keyId ?? '', tag, id);
    words.remove(seq);
    events.ofMessage(seq);
    for (const table of sql.deleteRecords) table.run(seq);
    sql.deleteAftermath.run(id);
    run(endStoryLinksOf(id));
  }
}

/** Removes contents, and leaves the records. */
export class ContentPurge {
  readonly #books: Books;
  readonly #sql: ReturnType<typeof preparePurge>;

  constructor(books: Books) {
    this.#books = books;
    this.#sql = preparePurge(books.db);
  }

  /** Removes those of a final message, whatever keeps them. Returns the segment that held them; null: none did. */
  forget(id: string): number | null {
    const row = this.#sql.ofMessage.get(id);
    if (row === undefined) return null;
    const [kept, ...final] = row;
    const [seq, , status, segment, length] = final;
    if (kept === 'sent' || kept === 'captured') this.#remove(kept, final);
    if (kept !== 'held') return segment;
    // Nobody will decide on it any more.
    const { tallies } = this.#books;
    if (segment !== null && length !== null) tallies.segment(segment, -1, -length);
    if (status === 'failed' && length !== null) tallies.gauge('failed_kept', -1);
    tallies.gauge('restored', -this.#sql.undecided.run(seq));
    this.#sql.dropContents.run(seq);
    return segment;
  }

  /** Visits every key with kept contents once: the number of messages kept longer makes no difference. */
  byAge(rule: KeptRule, ageMs: number, limit: number, at: Stamp): number {
    let removed = 0;
    let keyId: string | null | undefined = null;
    while (keyId !== undefined && removed < limit) {
      const days: number | null = this.#sql.contentDays.get(keyId)?.[0] ?? null;
      const finalBefore = at.now - (days === null ? ageMs : days * DAY_MS);
      for (const row of this.#sql.ofKey.all(rule, keyId, finalBefore, limit - removed)) {
        this.#remove(rule, row);
        removed++;
      }
      keyId = this.#sql.nextKey.get(rule, keyId ?? '')?.[0];
    }
    return removed;
  }

  /** The messages that have been final longest go first, whatever their keys' rules. */
  bySize(rule: KeptRule, maxBytes: number, limit: number): number {
    let excess = this.#books.tallies.gaugeNow(BYTES_GAUGE[rule]) - maxBytes;
    if (excess <= 0) return 0;
    let removed = 0;
    for (const row of this.#sql.oldest.all(rule, limit)) {
      const [, , , , length] = row;
      if (excess <= 0) break;
      this.#remove(rule, row);
      excess -= length ?? 0;
      removed++;
    }
    return removed;
  }

  /** Counts that a message's contents are no longer kept, and keeps the links of those who got a copy. */
  giveUp(rule: KeptRule, [seq, , status, segment, length, , , copies]: FinalRow): void {
    // Captured mail has reached nobody.
    if (copies !== null && rule === 'sent') this.#sql.keepLinks.run(seq);
    if (segment === null || length === null) return;
    const { tallies } = this.#books;
    tallies.segment(segment, -1, -length);
    tallies.gauge(BYTES_GAUGE[rule], -length);
    if (status === 'failed') tallies.gauge('failed_kept', -1);
  }

  #remove(rule: KeptRule, row: FinalRow): void {
    this.giveUp(rule, row);
    this.#sql.dropContents.run(row[0]);
  }
}

type FinalRow = [
  seq: number,
  id: string,
  status: MessageStatus,
  segment: number | null,
  length: number | null,
  keyId: string | null,
  tags: string,
  copies: string | null,
];

const COLUMNS = 'seq, id, status, segment, length, key_id, tags, copies';

function preparePurge(db: Driver) {
  return {
    oldest: db.prepare<[rule: string, limit: number], FinalRow>(
      `SELECT ${COLUMNS} FROM messages INDEXED BY messages_by_final
       WHERE kept = (SELECT ?) ORDER BY final_at LIMIT (SELECT ?)`,
    ),
    ofKey: db.prepare<[rule: string, keyId: string | null, finalBefore: number, limit: number], FinalRow>(
      `SELECT ${COLUMNS} FROM messages INDEXED BY messages_by_key_final
       WHERE kept = (SELECT ?) AND length IS NOT NULL AND key_id IS (SELECT ?) AND final_at <= (SELECT ?) ORDER BY final_at LIMIT (SELECT ?)`,
    ),
    nextKey: db.prepare<[rule: string, after: string], [keyId: string]>(
      `SELECT key_id FROM messages INDEXED BY messages_by_key_final
       WHERE kept = (SELECT ?) AND length IS NOT NULL AND key_id > (SELECT ?) ORDER BY key_id LIMIT 1`,
    ),
    contentDays: db.prepare<[keyId: string | null], [days: number | null]>(
      'SELECT content_days FROM keys WHERE id = ?',
    ),
    finalBefore: db.prepare<[rule: string, finalBefore: number, limit: number], FinalRow>(
      `SELECT ${COLUMNS} FROM messages INDEXED BY messages_by_final
       WHERE kept = (SELECT ?) AND final_at <= (SELECT ?) ORDER BY final_at LIMIT (SELECT ?)`,
    ),
    recordDays: db.prepare<[], [keyId: string, days: number]>(
      'SELECT id, record_days FROM keys WHERE record_days IS NOT NULL',
    ),
    // In order of acceptance: what is passed over took longer than others until it was final.
    ofKeyBefore: db.prepare<
      [keyId: string, status: MessageStatus, below: string, finalBefore: number, limit: number],
      [kept: KeptRule | 'gone', ...FinalRow]
    >(
      `SELECT kept, ${COLUMNS} FROM messages INDEXED BY messages_by_key
       WHERE key_id = ? AND status = ? AND id < ? AND final_at <= ? AND kept IN ('sent', 'captured', 'gone')
       ORDER BY id LIMIT ?`,
    ),
    ofMessage: db.prepare<[id: string], [kept: string, ...FinalRow]>(
      `SELECT kept, ${COLUMNS} FROM messages WHERE id = ? AND kept IS NOT NULL`,
    ),
    undecided: db.prepare<[seq: number]>('DELETE FROM restored WHERE message = ?'),
    dropContents: db.prepare<[seq: number]>(
      `UPDATE messages SET kept = 'gone', segment = NULL, offset = NULL, length = NULL, copies = NULL WHERE seq = ?`,
    ),
    // An attempt whose end nobody knows may have delivered, too.
    keepLinks: db.prepare<[seq: number]>(
      `INSERT OR IGNORE INTO unsubscribe_links (${LINK_COLUMNS})
       SELECT messages.id, deliveries.idx, deliveries.address, messages.key_id, messages.header_from, messages.stream
       FROM messages JOIN deliveries ON deliveries.message = messages.seq
       WHERE messages.seq = ? AND messages.stream IS NOT NULL
         AND (deliveries.state = 'delivered' OR deliveries.outcome = 'unknown')`,
    ),
    deleteTag: db.prepare<[keyId: string, tag: string, id: string]>(
      'DELETE FROM message_tags WHERE key_id = ? AND tag = ? AND id = ?',
    ),
    deleteRecords: [
      db.prepare<[seq: number]>('DELETE FROM attempts WHERE message = ?'),
      db.prepare<[seq: number]>('DELETE FROM deliveries WHERE message = ?'),
      db.prepare<[seq: number]>('DELETE FROM messages WHERE seq = ?'),
    ],
    deleteAftermath: db.prepare<[id: string]>('DELETE FROM aftermath WHERE message = ?'),
    emptyQueues: db.prepare('DELETE FROM key_queues WHERE messages = 0'),
    idempotency: db.prepare<[before: number, limit: number]>(
      `DELETE FROM idempotency WHERE (key_id, idem_key) IN (
         SELECT key_id, idem_key FROM idempotency WHERE created_at <= ? ORDER BY created_at LIMIT ?)`,
    ),
  };
}
