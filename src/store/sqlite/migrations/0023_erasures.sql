-- People who asked to be erased.

CREATE TABLE erasures (
  id           TEXT    PRIMARY KEY,               -- era_…; sorts by time
  pseudonym    TEXT    NOT NULL,                  -- what stands in the person's place
  sealed       TEXT,                              -- the address; null once nothing is left to do
  requested_at INTEGER NOT NULL,
  finished_at  INTEGER,
  progress     TEXT    NOT NULL                   -- JSON
) STRICT, WITHOUT ROWID;
