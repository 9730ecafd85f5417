-- The log of requests to the ingestion API: no part of backups' promise, nor moved to another database.
CREATE TABLE request_log (
  number      INTEGER PRIMARY KEY,
  at          INTEGER NOT NULL,
  key_id      TEXT    NOT NULL,                   -- empty: no known key
  refused     INTEGER NOT NULL,
  method      TEXT    NOT NULL,
  path        TEXT    NOT NULL,                   -- as it is shown
  status      INTEGER,                            -- null: the client left
  code        TEXT,
  faults      TEXT,
  duration_ms INTEGER NOT NULL,
  request_id  TEXT    NOT NULL,
  weight      INTEGER NOT NULL                    -- requests that it stands for
) STRICT;
CREATE INDEX request_log_by_time ON request_log (at, number);
CREATE INDEX request_log_by_kind ON request_log (refused, at, number);
CREATE INDEX request_log_by_key ON request_log (key_id, at, number);
CREATE INDEX request_log_by_key_and_kind ON request_log (key_id, refused, at, number);
