-- What became of messages after they were delivered, and the addresses that get no mail (contract-2 §A).

-- The stream of a message, as it is compared (domain/suppression.ts), and whether its submitter passes the list.
ALTER TABLE messages ADD COLUMN stream TEXT;
ALTER TABLE messages ADD COLUMN ignores_suppression INTEGER NOT NULL DEFAULT 0;
-- Each recipient's copy, where each has its own, in envelope order: length:checksum,… (store/columns.ts).
ALTER TABLE messages ADD COLUMN copies TEXT;
-- What others name a message by: a Message-ID that the sender chose (ours has the id in it), and the id of a provider.
CREATE INDEX messages_by_message_id ON messages (message_id) WHERE instr(message_id, id) = 0;
CREATE INDEX deliveries_by_provider_id ON deliveries (provider_message_id) WHERE provider_message_id IS NOT NULL;

-- One row for each recipient of whom more is known than what the next hop said.
CREATE TABLE aftermath (
  message         TEXT    NOT NULL,               -- its id
  idx             INTEGER NOT NULL,               -- the recipient's place in the envelope
  confirmed_at    INTEGER,
  complained_at   INTEGER,
  unsubscribed_at INTEGER,
  bounce          TEXT,                           -- JSON: the first bounce
  suppression     TEXT,                           -- the id of the entry that stopped it
  PRIMARY KEY (message, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE suppressions (
  id         TEXT    PRIMARY KEY,                 -- sup_…; sorts by time
  address    TEXT    NOT NULL,                    -- the normal form, or a pattern (domain/suppressed-address.ts)
  domain     TEXT    NOT NULL,
  scope      TEXT    NOT NULL,                    -- global, domain:NAME, key:ID
  stream     TEXT    NOT NULL,                    -- '' for all streams
  reason     TEXT    NOT NULL,
  source     TEXT    NOT NULL,
  evidence   TEXT,                                -- JSON
  note       TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER                              -- null: it stays
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX suppressions_by_address ON suppressions (address, scope, stream);
CREATE INDEX suppressions_by_domain ON suppressions (domain, id);
CREATE INDEX suppressions_by_scope ON suppressions (scope, id) WHERE scope <> 'global';
CREATE INDEX suppressions_ending ON suppressions (expires_at) WHERE expires_at IS NOT NULL;
-- How many there are: the sum.
CREATE TABLE suppression_counts (
  change INTEGER NOT NULL
) STRICT;

-- Soft bounces of addresses in a row. A delivery ends the row, unless its message bounces later.
CREATE TABLE soft_bounces (
  address TEXT    PRIMARY KEY,                    -- the normal form
  times   TEXT    NOT NULL,                       -- JSON: wall ms, at most as many as suppress
  last_at INTEGER NOT NULL,
  delivered_by TEXT                               -- the message that was delivered since; '': several
) STRICT, WITHOUT ROWID;
CREATE INDEX soft_bounces_by_age ON soft_bounces (last_at);

-- What others told us, and the evidence.
CREATE TABLE feedback (
  id           TEXT    PRIMARY KEY,               -- fbk_…; sorts by time
  at           INTEGER NOT NULL,
  source       TEXT    NOT NULL,
  kind         TEXT    NOT NULL,                  -- of the first thing told; 'nothing' if it told nothing
  message      TEXT,                              -- the id of the message that it is about
  address      TEXT,                              -- of the recipient
  content_type TEXT    NOT NULL,
  evidence     TEXT    NOT NULL                   -- base64 of its beginning
) STRICT, WITHOUT ROWID;
CREATE INDEX feedback_by_message ON feedback (message) WHERE message IS NOT NULL;

-- Events of providers that were counted: each counts once.
CREATE TABLE told_once (
  source TEXT    NOT NULL,
  once   TEXT    NOT NULL,
  at     INTEGER NOT NULL,
  PRIMARY KEY (source, once)
) STRICT, WITHOUT ROWID;
CREATE INDEX told_once_by_age ON told_once (at);

-- What came before the message it is about, and is tried again for a while.
CREATE TABLE early_feedback (
  id   TEXT    PRIMARY KEY,                       -- fbk_…, a blank, and its place in that
  at   INTEGER NOT NULL,
  body TEXT    NOT NULL                           -- JSON
) STRICT, WITHOUT ROWID;

-- Links to unsubscribe whose messages have no contents any more, and soon no record. Only the oldest are removed.
CREATE TABLE unsubscribe_links (
  seq         INTEGER PRIMARY KEY,
  message     TEXT    NOT NULL,                   -- its id
  idx         INTEGER NOT NULL,                   -- the recipient's place in the envelope
  address     TEXT    NOT NULL,
  key_id      TEXT,
  header_from TEXT    NOT NULL,
  stream      TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX unsubscribe_links_by_recipient ON unsubscribe_links (message, idx);
