-- Limits of the queue, retrying by hand, and lists by tag over all keys.

-- How many messages of each key are not final; kept by differences, like the gauges. No row is none.
CREATE TABLE key_queues (
  key_id   TEXT    PRIMARY KEY,
  messages INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO key_queues
  SELECT key_id, count(*) FROM messages INDEXED BY messages_by_key
  WHERE key_id IS NOT NULL AND status IN ('queued', 'processing', 'retrying') GROUP BY key_id;

-- The bytes of contents of messages that are not final.
INSERT INTO gauges
  SELECT 'queued_bytes', coalesce(sum(length), 0) FROM messages WHERE seq IN (
    SELECT message FROM deliveries INDEXED BY deliveries_expiring WHERE state IN ('queued', 'retrying')
    UNION SELECT message FROM deliveries INDEXED BY deliveries_leased WHERE state = 'processing');

-- How many of a delivery's attempts came before it was last retried by hand: its backoff counts from there.
ALTER TABLE deliveries ADD COLUMN attempts_before INTEGER NOT NULL DEFAULT 0;

CREATE INDEX message_tags_by_tag ON message_tags (tag, id);
