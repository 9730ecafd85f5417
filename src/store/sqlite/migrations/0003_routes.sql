-- Routes that are published, holds, reports on deliveries, and lanes that are found without looking at all of them.

-- A delivery status notification may go to the reverse-path.
ALTER TABLE messages ADD COLUMN reportable INTEGER NOT NULL DEFAULT 0;

-- Its sender was told that it is late.
ALTER TABLE deliveries ADD COLUMN delay_reported INTEGER NOT NULL DEFAULT 0;

-- Exactly what waits has a due time. By it alone the index answers without a look at the rows.
UPDATE deliveries SET due_at = NULL WHERE due_at IS NOT NULL AND state NOT IN ('queued', 'retrying');
DROP INDEX deliveries_waiting;
CREATE INDEX deliveries_waiting ON deliveries (lane, priority, due_at) WHERE due_at IS NOT NULL;

-- Due time of the lane's longest due waiting delivery; null when none waits.
ALTER TABLE lanes ADD COLUMN first_due INTEGER;
-- Discovery need not look at the lane before: never later than the end of its lease or the due time of its first
-- waiting delivery, whichever is later. May be earlier, as when the lease was renewed. Null: nothing waits.
ALTER TABLE lanes ADD COLUMN look_at INTEGER;
UPDATE lanes SET look_at = 0, first_due = (
  SELECT min(due_at) FROM deliveries INDEXED BY deliveries_waiting
  WHERE deliveries.lane = lanes.lane AND due_at IS NOT NULL)
WHERE waiting > 0;
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
