-- Routes that are published, holds, reports on deliveries, and lanes that are found without looking at all of them.

-- A delivery status notification may go to the reverse-path.
ALTER TABLE messages ADD COLUMN reportable INTEGER NOT NULL DEFAULT 0;

-- Its sender was told that it is late.
ALTER TABLE deliveries ADD COLUMN delay_reported INTEGER NOT NULL DEFAULT 0;

-- Discovery need not look at the lane before: never later than the end of its lease or the due time of its first
-- waiting delivery, whichever is later. May be earlier, as when the lease was renewed. Null: nothing waits.
ALTER TABLE lanes ADD COLUMN look_at INTEGER;
UPDATE lanes SET look_at = 0 WHERE waiting > 0;
CREATE INDEX lanes_to_look_at ON lanes (look_at) WHERE look_at IS NOT NULL;

-- Lanes and relays that an operator holds back.
CREATE TABLE holds (
  target TEXT    PRIMARY KEY,
  kind   TEXT    NOT NULL,
  since  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Published routing tables; the newest one is never removed.
CREATE TABLE route_tables (
  version      INTEGER PRIMARY KEY,
  published_at INTEGER NOT NULL,
  origin       TEXT    NOT NULL,
  definition   TEXT    NOT NULL                  -- JSON
) STRICT;
