/** The least that a statement is run by: both libraries, and the store's driver over them. */
interface Executor {
  exec(sql: string): unknown;
}

/** Writes the records of `count` delivered messages of a key behind the store's back: as old as can be, and no more. */
export function writeManyMessages(db: Executor, keyId: string, count: number): void {
  db.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO messages (id, key_id, status, queued, processing, retrying, delivered, failed, kept, created_at,
      updated_at, status_at, final_at, expires_at, priority, test, source, reverse_path, header_from, subject,
      message_id, tags, metadata, size_bytes, eight_bit, utf8, dot_stuffing, route_table)
    SELECT printf('msg_%026d', i), '${keyId}', 'delivered', 0, 0, 0, 1, 0, 'gone', 1, 1, 1, 1, 1, 1, 0, 'api',
      'a@example.com', 'a@example.com', 'Hello', '<1@example.com>', '[]', '{}', 1, 0, 0, 0, 0 FROM n;`);
}
