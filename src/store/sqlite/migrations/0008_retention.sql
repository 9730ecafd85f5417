-- Retention per key, and deliveries that came back with a restored backup.

-- Days that contents of the key's mail are kept after the final status; null: what the configuration says.
ALTER TABLE keys ADD COLUMN content_days INTEGER;

-- Retention by age: of every key, the longest final first, while contents are kept.
CREATE INDEX messages_by_key_final ON messages (kept, key_id, final_at)
  WHERE kept IS NOT NULL AND length IS NOT NULL;

-- Deliveries that were not final in a backup when it was restored, and that nobody has decided on since. Each failed
-- as unknown then, and retention leaves its message alone: its `kept` is 'held'.
CREATE TABLE restored (
  message INTEGER NOT NULL,
  idx     INTEGER NOT NULL,
  PRIMARY KEY (message, idx)
) STRICT, WITHOUT ROWID;
