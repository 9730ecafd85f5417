-- The first schema, frozen. Later changes are new numbered files; this one never changes again.
-- Times are wall milliseconds. Flags are 0 or 1. Only primary keys and the indexes below are ever searched by.

-- One row per accepted message. `status` and the five counts always equal what the deliveries say.
CREATE TABLE messages (
  seq                INTEGER PRIMARY KEY,       -- what other tables refer to
  id                 TEXT    NOT NULL UNIQUE,   -- msg_…; sorts by time of acceptance
  key_id             TEXT,
  status             TEXT    NOT NULL,
  queued             INTEGER NOT NULL,
  processing         INTEGER NOT NULL,
  retrying           INTEGER NOT NULL,
  delivered          INTEGER NOT NULL,
  failed             INTEGER NOT NULL,
  attempts           INTEGER NOT NULL DEFAULT 0, -- number of attempt records
  kept               TEXT,                       -- null until final; then 'sent', 'captured' or, contents removed, 'gone'
  possible_duplicate INTEGER NOT NULL DEFAULT 0,
  last_error         TEXT,                       -- JSON: code, class, message, recipient
  created_at         INTEGER NOT NULL,
  updated_at         INTEGER NOT NULL,
  status_at          INTEGER NOT NULL,
  delivered_at       INTEGER,
  final_at           INTEGER,
  not_before         INTEGER,
  expires_at         INTEGER NOT NULL,
  priority           INTEGER NOT NULL,           -- 0 high, 1 normal, 2 bulk
  test               INTEGER NOT NULL,
  source             TEXT    NOT NULL,
  source_address     TEXT,
  reverse_path       TEXT    NOT NULL,
  ret                TEXT,
  envid              TEXT,
  header_from        TEXT    NOT NULL,
  subject            TEXT    NOT NULL,
  message_id         TEXT    NOT NULL,
  tags               TEXT    NOT NULL,           -- JSON array
  metadata           TEXT    NOT NULL,           -- JSON object
  size_bytes         INTEGER NOT NULL,
  eight_bit          INTEGER NOT NULL,
  utf8               INTEGER NOT NULL,
  dot_stuffing       INTEGER NOT NULL,
  segment            INTEGER,                    -- null, like offset and length, once the contents are removed
  offset             INTEGER,
  length             INTEGER,
  route_table        INTEGER NOT NULL
) STRICT;

-- Lists: a page of a key is a merge of its statuses, each in order of id.
CREATE INDEX messages_by_key ON messages (key_id, status, id) WHERE key_id IS NOT NULL;
-- Retention: the longest final first.
CREATE INDEX messages_by_final ON messages (kept, final_at) WHERE kept IS NOT NULL;

-- One row per recipient: the unit of work.
CREATE TABLE deliveries (
  message             INTEGER NOT NULL,
  idx                 INTEGER NOT NULL,          -- place in the envelope
  state               TEXT    NOT NULL,
  lane                TEXT,                      -- null, like relay, while there is no route
  relay               TEXT,
  priority            INTEGER NOT NULL,
  due_at              INTEGER,                   -- null when final
  expires_at          INTEGER NOT NULL,
  fence               INTEGER,                   -- of the lane lease it was claimed under; null unless processing
  begun_at            INTEGER,                   -- null until the attempt under that lease has begun
  cancel_requested    INTEGER NOT NULL DEFAULT 0,
  attempts            INTEGER NOT NULL DEFAULT 0,
  outcome             TEXT,
  address             TEXT    NOT NULL,
  kind                TEXT    NOT NULL,
  notify              TEXT,
  orcpt               TEXT,
  route_rule          TEXT,
  route_group         TEXT,
  provider_message_id TEXT,
  last_code           INTEGER,
  last_enhanced       TEXT,
  last_reply          TEXT,
  PRIMARY KEY (message, idx)
) STRICT, WITHOUT ROWID;

CREATE INDEX deliveries_waiting ON deliveries (lane, priority, due_at)
  WHERE state IN ('queued', 'retrying');
CREATE INDEX deliveries_expiring ON deliveries (expires_at)
  WHERE state IN ('queued', 'retrying');
CREATE INDEX deliveries_leased ON deliveries (lane, fence)
  WHERE state = 'processing';

-- Append-only: what each attempt did.
CREATE TABLE attempts (
  message    INTEGER NOT NULL,
  number     INTEGER NOT NULL,                   -- 1 for the message's first
  started_at INTEGER NOT NULL,
  relay      TEXT    NOT NULL,
  evidence   TEXT    NOT NULL,                   -- JSON
  results    TEXT    NOT NULL,                   -- JSON array
  PRIMARY KEY (message, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE message_tags (
  key_id TEXT NOT NULL,                          -- '' for mail without a key
  tag    TEXT NOT NULL,
  id     TEXT NOT NULL,
  PRIMARY KEY (key_id, tag, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
  key_id     TEXT    NOT NULL,                   -- '' for mail without a key
  idem_key   TEXT    NOT NULL,
  hash       TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (key_id, idem_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- Who may work a lane, and how full it is. A lane that is free, empty and idle needs no row.
CREATE TABLE lanes (
  lane        TEXT    PRIMARY KEY,
  node        TEXT,
  fence       INTEGER NOT NULL DEFAULT 0,
  lease_until INTEGER NOT NULL DEFAULT 0,
  waiting     INTEGER NOT NULL DEFAULT 0,
  processing  INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- One row: the last fence granted, of any lane, so that fences rise even when a lane's row is removed.
CREATE TABLE fences (last INTEGER NOT NULL) STRICT;
INSERT INTO fences VALUES (0);

CREATE TABLE segments (
  segment INTEGER PRIMARY KEY,
  live    INTEGER NOT NULL,                      -- messages whose contents lie in it
  bytes   INTEGER NOT NULL                       -- the sum of their lengths
) STRICT;

-- Events per UTC day and minute, counted in the transaction of their cause.
CREATE TABLE counters (
  period TEXT    NOT NULL,                       -- 'day' or 'minute'
  start  INTEGER NOT NULL,                       -- whole days or minutes since the epoch
  node   TEXT    NOT NULL,
  event  TEXT    NOT NULL,
  relay  TEXT    NOT NULL,                       -- '' when the event is not a relay's
  count  INTEGER NOT NULL,
  PRIMARY KEY (period, start, node, event, relay)
) STRICT, WITHOUT ROWID;

-- Numbers that hold now, kept by their differences so that reading them costs nothing.
CREATE TABLE gauges (
  name  TEXT    PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
  id             TEXT    PRIMARY KEY,
  name           TEXT    NOT NULL,
  mode           TEXT    NOT NULL,
  prefix         TEXT    NOT NULL,
  scopes         TEXT    NOT NULL,               -- JSON array
  created_at     INTEGER NOT NULL,
  last_used_at   INTEGER,
  expires_at     INTEGER,
  revoked_at     INTEGER,
  rate_limit     INTEGER,
  cidrs          TEXT    NOT NULL,               -- JSON array
  sender_domains TEXT    NOT NULL                -- JSON array
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX keys_by_name ON keys (name) WHERE revoked_at IS NULL;

CREATE TABLE key_secrets (
  hash   TEXT    PRIMARY KEY,                    -- SHA-256, hex
  key_id TEXT    NOT NULL,
  until  INTEGER                                 -- null while it is the newest
) STRICT, WITHOUT ROWID;
CREATE INDEX key_secrets_by_key ON key_secrets (key_id);

CREATE TABLE relays (
  name       TEXT    PRIMARY KEY,
  definition TEXT    NOT NULL,                   -- JSON without secrets
  secret     TEXT,                               -- sealed
  disabled   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL                            -- JSON
) STRICT, WITHOUT ROWID;
