-- compatible-with: 3
-- The log of requests to the ingestion API: no part of backups' promise, nor moved to another database.
CREATE TABLE request_log (
  number      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at          bigint  NOT NULL,
  key_id      text    COLLATE "C" NOT NULL,       -- empty: no known key
  refused     boolean NOT NULL,
  method      text    NOT NULL,
  path        text    NOT NULL,                   -- as it is shown
  status      integer,                            -- null: the client left
  code        text,
  faults      text,
  duration_ms integer NOT NULL,
  request_id  text    NOT NULL,
  weight      integer NOT NULL                    -- requests that it stands for
);
CREATE INDEX request_log_by_time ON request_log (at, number);
CREATE INDEX request_log_by_kind ON request_log (refused, at, number);
CREATE INDEX request_log_by_key ON request_log (key_id, at, number);
CREATE INDEX request_log_by_key_and_kind ON request_log (key_id, refused, at, number);
