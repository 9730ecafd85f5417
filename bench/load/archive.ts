import { statSync } from 'node:fs';
import { systemClock } from '../../src/lib/clock.ts';
import { checkpoint } from '../../src/store/sqlite/connection.ts';
import { openBetterSqlite3 } from '../../src/store/sqlite/driver.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';

/** How long an index took to make, and how much room it takes. */
export interface ArchiveCost {
  readonly indexMicroseconds: number;
  readonly indexBytes: number;
}

/** Messages whose words are entered by one transaction: more than the service does at once, to be done sooner. */
const BATCH = 2_000;

/**
 * Makes a database with so many delivered messages of one recipient each. Every subject has the word `your`, every other
 * one `order` and the others `parcel`, the oldest one `zebra`; recipients are 50,000 people of 1,000 domains.
 */
export async function makeArchive(file: string, count: number): Promise<ArchiveCost> {
  const { store } = openSqlite(file);
  const db = openBetterSqlite3(file);
  db.exec(MESSAGES(count, systemClock.wall()));
  db.exec(DELIVERIES);
  db.exec(TAGS);
  const before = sizeOf();
  const start = systemClock.mono();
  while ((await store.index(BATCH)).more);
  const took = systemClock.mono() - start;
  const after = sizeOf();
  db.close();
  await store.close();
  return { indexMicroseconds: (took * 1000) / count, indexBytes: (after - before) / count };

  function sizeOf(): number {
    checkpoint(db);
    return statSync(file).size;
  }
}

/** The id of the message with that number, from 1 on. */
export function idInArchive(number: number): string {
  return `msg_01k${String(number).padStart(23, '0')}`;
}

/** 2026, a message each 10 ms, all ended just now, so that nobody removes them; ids that sort so. */
const MESSAGES = (count: number, now: number) => `
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
  INSERT INTO messages (seq, id, key_id, status, queued, processing, retrying, delivered, failed, kept, created_at,
    updated_at, status_at, final_at, expires_at, priority, test, source, reverse_path, header_from, subject,
    message_id, tags, metadata, size_bytes, eight_bit, utf8, dot_stuffing, route_table)
  SELECT i, printf('msg_01k%023d', i), printf('key_%d', i % 5), iif(i % 50000 = 7, 'failed', 'delivered'), 0, 0, 0, 1, 0, 'gone',
    1767225600000 + i * 10, ${now}, ${now}, ${now}, ${now}, 1, 0, 'api', 'bounce@shop.example', 'Shop <news@shop.example>',
    printf('Your %s %d: %s of week w%d', iif(i % 2, 'order', 'parcel'), i, iif(i = 1, 'zebra', 'news'), i % 500),
    printf('<%d.abc@shop.example>', i), iif(i % 10 = 0, '["news"]', '[]'), '{}', 1, 0, 0, 0, 0 FROM n;`;

const DELIVERIES = `
  INSERT INTO deliveries (message, idx, state, lane, relay, priority, expires_at, outcome, address, kind)
  SELECT seq, 0, status, 'out', iif(seq % 1000 = 1, 'spare', 'out'), 1, 1, 'accepted',
    printf('person%d@d%d.example', seq % 50000, seq % 1000), 'to' FROM messages;`;

const TAGS = `INSERT INTO message_tags SELECT key_id, 'news', id FROM messages WHERE tags <> '[]';`;
