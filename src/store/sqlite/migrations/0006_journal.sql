-- Who did what. Entries are never changed; the oldest go, by number and by age.
CREATE TABLE journal (
  number         INTEGER PRIMARY KEY AUTOINCREMENT,
  at             INTEGER NOT NULL,
  actor_kind     TEXT    NOT NULL,
  actor          TEXT    NOT NULL,               -- a user's or key's name; else empty
  source_address TEXT,
  action         TEXT    NOT NULL,
  subject        TEXT    NOT NULL,
  before         TEXT,                           -- JSON
  after          TEXT                            -- JSON
) STRICT;
