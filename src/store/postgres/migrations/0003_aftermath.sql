-- compatible-with: 1
-- What became of messages after they were delivered, and the addresses that get no mail (contract-2 §A). A program that
-- does not know these tables sends to suppressed addresses.

-- Events of the suppression list have no message.
ALTER TABLE events ALTER COLUMN message DROP NOT NULL;

-- The stream of a message, as it is compared (domain/suppression.ts), and whether its submitter passes the list.
ALTER TABLE messages ADD COLUMN stream text;
ALTER TABLE messages ADD COLUMN ignores_suppression boolean NOT NULL DEFAULT false;
-- Each recipient's copy, where each has its own, in envelope order: length:checksum,… (store/columns.ts).
ALTER TABLE messages ADD COLUMN copies text;
-- What others name a message by: a Message-ID that the sender chose (ours has the id in it), and the id of a provider.
CREATE INDEX messages_by_message_id ON messages (message_id) WHERE position(id in message_id) = 0;
CREATE INDEX deliveries_by_provider_id ON deliveries (provider_message_id) WHERE provider_message_id IS NOT NULL;

-- One row for each recipient of whom more is known than what the next hop said.
CREATE TABLE aftermath (
  message         text    COLLATE "C" NOT NULL,
  idx             integer NOT NULL,               -- the recipient's place in the envelope
  confirmed_at    bigint,
  complained_at   bigint,
  unsubscribed_at bigint,
  bounce          text,                           -- JSON: the first bounce
  suppression     text,                           -- the id of the entry that stopped it
  PRIMARY KEY (message, idx)
);

CREATE TABLE suppressions (
  id         text   COLLATE "C" PRIMARY KEY,      -- sup_…; sorts by time
  address    text   COLLATE "C" NOT NULL,         -- the normal form, or a pattern (domain/suppressed-address.ts)
  domain     text   COLLATE "C" NOT NULL,
  scope      text   COLLATE "C" NOT NULL,         -- global, domain:NAME, key:ID
  stream     text   COLLATE "C" NOT NULL,         -- '' for all streams
  reason     text   NOT NULL,
  source     text   NOT NULL,
  evidence   text,                                -- JSON
  note       text   NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  expires_at bigint                               -- null: it stays
);
CREATE UNIQUE INDEX suppressions_by_address ON suppressions (address, scope, stream);
CREATE INDEX suppressions_by_domain ON suppressions (domain, id);
CREATE INDEX suppressions_by_scope ON suppressions (scope, id) WHERE scope <> 'global';
CREATE INDEX suppressions_ending ON suppressions (expires_at) WHERE expires_at IS NOT NULL;
-- How many there are: the sum.
CREATE TABLE suppression_counts (
  change integer NOT NULL
);

-- Soft bounces of addresses in a row. A delivery ends the row, unless its message bounces later.
CREATE TABLE soft_bounces (
  address text   COLLATE "C" PRIMARY KEY,         -- the normal form
  times   text   NOT NULL,                        -- JSON: wall ms, at most as many as suppress
  last_at bigint NOT NULL,
  delivered_by text                               -- the message that was delivered since; '': several
);
CREATE INDEX soft_bounces_by_age ON soft_bounces (last_at);

-- What others told us, and the evidence.
CREATE TABLE feedback (
  id           text    COLLATE "C" PRIMARY KEY,   -- fbk_…; sorts by time
  at           bigint  NOT NULL,
  source       text    NOT NULL,
  kind         text    NOT NULL,                  -- of the first thing told; 'nothing' if it told nothing
  message      text    COLLATE "C",               -- the id of the message that it is about
  address      text   ,                      -- of the recipient
  content_type text    NOT NULL,
  evidence     text    NOT NULL                   -- base64 of its beginning
);
CREATE INDEX feedback_by_message ON feedback (message) WHERE message IS NOT NULL;

-- Events of providers that were counted: each counts once.
CREATE TABLE told_once (
  source text   COLLATE "C" NOT NULL,
  once   text   COLLATE "C" NOT NULL,
  at     bigint NOT NULL,
  PRIMARY KEY (source, once)
);
CREATE INDEX told_once_by_age ON told_once (at);

-- What came before the message it is about, and is tried again for a while.
CREATE TABLE early_feedback (
  id   text   COLLATE "C" PRIMARY KEY,            -- fbk_…, a blank, and its place in that
  at   bigint NOT NULL,
  body text   NOT NULL                            -- JSON
);
