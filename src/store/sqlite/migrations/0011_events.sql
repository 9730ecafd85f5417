-- Every fact of a message's story, in the order in which it became true (contract-2 §B1). `seq` is the sequence that readers
-- page by: it must never be given twice, so the newest row is never removed.
CREATE TABLE events (
  seq     INTEGER PRIMARY KEY,
  at      INTEGER NOT NULL,                      -- when it happened
  type    INTEGER NOT NULL,                      -- domain/event.ts; 0 only holds its place
  message INTEGER,
  idx     INTEGER,                               -- the recipient's place in the envelope; null: of the whole message
  attempt INTEGER,                               -- its number, if it followed from one
  facts   TEXT                                   -- JSON: what the message does not say
) STRICT;

CREATE INDEX events_by_message ON events (message) WHERE message IS NOT NULL;
