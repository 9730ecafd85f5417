-- compatible-with: 1
-- Times are milliseconds since the epoch. Columns that are compared or ordered are in the order of their bytes,
-- whatever the database's own. JSON is kept as text: it is never searched, and text holds it as it was written.

-- What verbs work on stays as small as the queue, however much of the past is kept: a message lies in `messages_open` until it
-- is final, in `messages_kept` while its contents are kept, and then in the part of `messages_gone` that is of the UTC day
-- of its acceptance. PostgreSQL moves the row when `kept` changes. `partitions.ts` makes the parts of days, and retention
-- drops them; what is of a day that has none lies in `…_rest`. Ids are unique in each part.
CREATE TABLE messages (
  id                 text    COLLATE "C" NOT NULL, -- msg_…; sorts by time of acceptance
  key_id             text    COLLATE "C",
  status             text    COLLATE "C" NOT NULL,
  queued             integer NOT NULL,
  processing         integer NOT NULL,
  retrying           integer NOT NULL,
  delivered          integer NOT NULL,
  failed             integer NOT NULL,
  attempts           integer NOT NULL,           -- number of attempt records
  kept               text    COLLATE "C",        -- null until final; then 'sent', 'captured' or, contents removed, 'gone'
  possible_duplicate boolean NOT NULL,
  last_error         text,                       -- JSON: code, class, message, recipient
  created_at         bigint  NOT NULL,
  updated_at         bigint  NOT NULL,
  status_at          bigint  NOT NULL,
  delivered_at       bigint,
  final_at           bigint,
  not_before         bigint,
  expires_at         bigint  NOT NULL,
  priority           integer NOT NULL,           -- 0 high, 1 normal, 2 bulk
  test               boolean NOT NULL,
  reportable         boolean NOT NULL,
  source             text    NOT NULL,
  source_address     text,
  reverse_path       text    NOT NULL,
  ret                text,
  envid              text,
  header_from        text    NOT NULL,
  subject            text    NOT NULL,
  message_id         text    NOT NULL,
  tags               text    NOT NULL,           -- JSON array
  metadata           text    NOT NULL,           -- JSON object
  size_bytes         bigint  NOT NULL,
  eight_bit          boolean NOT NULL,
  utf8               boolean NOT NULL,
  dot_stuffing       boolean NOT NULL,
  segment            bigint,                     -- null, like offset and length, once the contents are removed
  "offset"           bigint,
  length             bigint,
  route_table        integer NOT NULL
) PARTITION BY LIST (kept);
CREATE TABLE messages_open PARTITION OF messages FOR VALUES IN (NULL)
  WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
CREATE TABLE messages_kept PARTITION OF messages FOR VALUES IN ('sent', 'captured', 'held')
  WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
CREATE TABLE messages_gone PARTITION OF messages FOR VALUES IN ('gone') PARTITION BY RANGE (id);
CREATE UNIQUE INDEX messages_open_id ON messages_open (id);
CREATE UNIQUE INDEX messages_kept_id ON messages_kept (id);
CREATE UNIQUE INDEX messages_gone_id ON messages_gone (id);

-- Lists: a page of a key is a merge of its statuses, each in order of id.
CREATE INDEX messages_by_key ON messages (key_id, status, id) WHERE key_id IS NOT NULL;
-- Lists over all keys by the statuses that are rare and looked for.
CREATE INDEX messages_troubled ON messages (status, id) WHERE status IN ('failed', 'retrying');
-- Retention: the longest final first.
CREATE INDEX messages_kept_by_final ON messages_kept (kept, final_at, id);
CREATE INDEX messages_gone_by_final ON messages_gone (final_at, id);
-- The same of every key, while contents are kept.
CREATE INDEX messages_kept_by_key ON messages_kept (kept, key_id, final_at, id);
CREATE INDEX messages_in_inbox ON messages_kept (id) WHERE kept = 'captured';
CREATE INDEX messages_in_inbox_by_key ON messages_kept (key_id, id) WHERE kept = 'captured';
CREATE TABLE messages_gone_rest PARTITION OF messages_gone DEFAULT;

-- One row per recipient: the unit of work, in `deliveries_open` until it is final, then with the past. Whoever changes one holds
-- the lock of its message.
CREATE TABLE deliveries (
  message             text    COLLATE "C" NOT NULL,
  index               integer NOT NULL,          -- place in the envelope
  state               text    COLLATE "C" NOT NULL,
  lane                text    COLLATE "C",       -- null, like relay, while there is no route
  relay               text    COLLATE "C",
  priority            integer NOT NULL,
  due_at              bigint,                    -- null unless waiting
  expires_at          bigint  NOT NULL,
  fence               bigint,                    -- of the lane lease it was claimed under; null unless processing
  begun_at            bigint,                    -- null until the attempt under that lease has begun
  cancel_requested    boolean NOT NULL,
  attempts            integer NOT NULL,
  attempts_before     integer NOT NULL,          -- of them, before it was last retried by hand
  delay_reported      boolean NOT NULL,
  outcome             text,
  address             text    NOT NULL,
  kind                text    NOT NULL,
  notify              text,
  orcpt               text,
  route_rule          text,
  route_group         text,                      -- names of relays, separated by commas
  provider_message_id text,
  last_code           integer,
  last_enhanced       text,
  last_reply          text
) PARTITION BY LIST (state);
CREATE TABLE deliveries_open PARTITION OF deliveries FOR VALUES IN ('queued', 'retrying', 'processing')
  WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
CREATE TABLE deliveries_final PARTITION OF deliveries FOR VALUES IN ('delivered', 'failed') PARTITION BY RANGE (message);
CREATE UNIQUE INDEX deliveries_open_place ON deliveries_open (message, index);
CREATE UNIQUE INDEX deliveries_final_place ON deliveries_final (message, index);
CREATE TABLE deliveries_final_rest PARTITION OF deliveries_final DEFAULT;

CREATE INDEX deliveries_waiting ON deliveries_open (lane, priority, due_at, message, index)
  WHERE state IN ('queued', 'retrying');
CREATE INDEX deliveries_expiring ON deliveries_open (expires_at, message, index)
  WHERE state IN ('queued', 'retrying');
CREATE INDEX deliveries_leased ON deliveries_open (lane, fence, message, index)
  WHERE state = 'processing';

-- Append-only: what each attempt did.
CREATE TABLE attempts (
  message    text    COLLATE "C" NOT NULL,
  number     integer NOT NULL,                   -- 1 for the message's first
  started_at bigint  NOT NULL,
  relay      text    NOT NULL,
  evidence   text    NOT NULL,                   -- JSON
  results    text    NOT NULL,                   -- JSON array
  PRIMARY KEY (message, number)
) PARTITION BY RANGE (message);
CREATE TABLE attempts_rest PARTITION OF attempts DEFAULT;

CREATE TABLE message_tags (
  key_id text COLLATE "C" NOT NULL,              -- '' for mail without a key
  tag    text COLLATE "C" NOT NULL,
  id     text COLLATE "C" NOT NULL,
  PRIMARY KEY (key_id, tag, id)
) PARTITION BY RANGE (id);
CREATE INDEX message_tags_by_tag ON message_tags (tag, id);
CREATE TABLE message_tags_rest PARTITION OF message_tags DEFAULT;

-- What mail is found by: its words (domain/mail-words.ts), each by itself and behind the letter of its field. A message is
-- pending until they are entered; accepting leaves that for later.
CREATE TABLE message_words (
  id    text   COLLATE "C" PRIMARY KEY,
  words text[] COLLATE "C" NOT NULL
) PARTITION BY RANGE (id);
CREATE INDEX message_words_by_word ON message_words USING gin (words);
CREATE TABLE message_words_rest PARTITION OF message_words DEFAULT;
CREATE TABLE pending_words (
  id text COLLATE "C" PRIMARY KEY
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE idempotency (
  key_id     text   COLLATE "C" NOT NULL,        -- '' for mail without a key
  idem_key   text   COLLATE "C" NOT NULL,
  hash       text   NOT NULL,
  id         text   NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (key_id, idem_key)
);
CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- Who may work a lane. One that is free and empty needs no row.
CREATE TABLE lanes (
  lane        text   COLLATE "C" PRIMARY KEY,
  node        text,
  fence       bigint NOT NULL,
  lease_until bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
-- Fences rise over all lanes, also when a lane's row is removed.
CREATE SEQUENCE lane_fences;

-- How full a lane is: apart from its lease, because verbs lock leases first and figures last.
CREATE TABLE depths (
  lane       text    COLLATE "C" PRIMARY KEY,
  waiting    integer NOT NULL,
  processing integer NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE segments (
  segment bigint PRIMARY KEY,
  live    bigint NOT NULL,                       -- messages whose contents lie in it
  bytes   bigint NOT NULL                        -- the sum of their lengths
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

-- Events per UTC day, hour and minute, counted in the transaction of their cause.
CREATE TABLE counters (
  period text    COLLATE "C" NOT NULL,           -- 'day', 'hour' or 'minute'
  start  integer NOT NULL,                       -- whole days, hours or minutes since the epoch
  node   text    COLLATE "C" NOT NULL,
  event  text    COLLATE "C" NOT NULL,
  relay  text    COLLATE "C" NOT NULL,           -- '' when the event is not a relay's
  count  bigint  NOT NULL,
  PRIMARY KEY (period, start, node, event, relay)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

-- Numbers that hold now, kept by their differences so that reading them costs nothing.
CREATE TABLE gauges (
  name  text   COLLATE "C" PRIMARY KEY,
  value bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

-- How many messages of each key are not final. No row is none.
CREATE TABLE key_queues (
  key_id   text   COLLATE "C" PRIMARY KEY,
  messages bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE keys (
  id             text    COLLATE "C" PRIMARY KEY,
  name           text    COLLATE "C" NOT NULL,
  mode           text    NOT NULL,
  prefix         text    NOT NULL,
  scopes         text    NOT NULL,               -- JSON array
  created_at     bigint  NOT NULL,
  last_used_at   bigint,
  expires_at     bigint,
  revoked_at     bigint,
  rate_limit     integer,
  cidrs          text    NOT NULL,               -- JSON array
  sender_domains text    NOT NULL,               -- JSON array
  content_days   integer                         -- contents are kept so long after the final status; null: as configured
);
CREATE UNIQUE INDEX keys_by_name ON keys (name) WHERE revoked_at IS NULL;

CREATE TABLE key_secrets (
  hash   text COLLATE "C" PRIMARY KEY,           -- SHA-256, hex
  key_id text COLLATE "C" NOT NULL,
  until  bigint                                  -- null while it is the newest
);
CREATE INDEX key_secrets_by_key ON key_secrets (key_id);

CREATE TABLE relays (
  name       text    COLLATE "C" PRIMARY KEY,
  definition text    NOT NULL,                   -- JSON without secrets
  secret     text,                               -- sealed
  disabled   boolean NOT NULL
);

CREATE TABLE settings (
  name  text COLLATE "C" PRIMARY KEY,
  value text NOT NULL                            -- JSON
);

-- Lanes and relays that an operator holds back.
CREATE TABLE holds (
  target text   COLLATE "C" PRIMARY KEY,
  kind   text   NOT NULL,
  since  bigint NOT NULL
);

-- Published routing tables; the newest one is never removed.
CREATE TABLE route_tables (
  version      integer PRIMARY KEY,
  published_at bigint  NOT NULL,
  origin       text    NOT NULL,
  definition   text    NOT NULL                  -- JSON
);

-- Recipients handed to a relay on a UTC day, or that may have been; kept where the relay had a quota.
CREATE TABLE quotas (
  relay text    COLLATE "C" NOT NULL,
  day   integer NOT NULL,                        -- whole days since the epoch
  used  bigint  NOT NULL,
  PRIMARY KEY (day, relay)
);

-- Domains that mail is sent from.
CREATE TABLE domains (
  name       text COLLATE "C" PRIMARY KEY,
  definition text NOT NULL,                      -- JSON
  secrets    text NOT NULL                       -- JSON: sealed private keys by selector
);

-- Who did what. Entries are never changed; the oldest go, by number and by age.
CREATE TABLE journal (
  number         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at             bigint NOT NULL,
  actor_kind     text   NOT NULL,
  actor          text   NOT NULL,                -- a user's or key's name; else empty
  source_address text,
  action         text   NOT NULL,
  subject        text   NOT NULL,
  before         text,                           -- JSON
  after          text                            -- JSON
);

-- Users of the dashboard, their sessions, and the links by which they choose passwords.
CREATE TABLE users (
  name            text    COLLATE "C" PRIMARY KEY,
  role            text    NOT NULL,
  disabled        boolean NOT NULL,
  created_at      bigint  NOT NULL,
  password        text,                          -- argon2id, as a PHC string; null until one was chosen
  last_sign_in_at bigint,
  second_factor   text,                          -- sealed secret
  last_step       bigint                         -- newest time step of which a code was used
);

CREATE TABLE recovery_codes (
  user_name text COLLATE "C" NOT NULL,
  hash      text COLLATE "C" NOT NULL,           -- SHA-256, hex
  PRIMARY KEY (user_name, hash)
);

CREATE TABLE sessions (
  hash           text    COLLATE "C" PRIMARY KEY, -- SHA-256 of the token, hex
  id             text    COLLATE "C" NOT NULL UNIQUE,
  user_name      text    COLLATE "C" NOT NULL,
  stage          text    NOT NULL,
  created_at     bigint  NOT NULL,
  last_seen_at   bigint  NOT NULL,
  expires_at     bigint  NOT NULL,
  source_address text    NOT NULL,
  agent          text    NOT NULL,
  offered        text,                           -- sealed second factor that waits to be confirmed
  tries          integer NOT NULL                -- codes that were tried
);
CREATE INDEX sessions_by_user ON sessions (user_name);

CREATE TABLE setup_links (
  hash       text   COLLATE "C" PRIMARY KEY,     -- SHA-256 of the token, hex
  user_name  text   COLLATE "C" UNIQUE,          -- null: the first administrator
  expires_at bigint NOT NULL
);

-- The nodes that are, or were until a short while ago. No foreign key leads here: nodes go without asking.
CREATE TABLE nodes (
  id           text    COLLATE "C" PRIMARY KEY,  -- another at every start
  number       bigint  GENERATED ALWAYS AS IDENTITY UNIQUE,
  name         text    NOT NULL,
  roles        text    NOT NULL,                 -- JSON array
  version      text    NOT NULL,
  started_at   bigint  NOT NULL,
  last_seen_at bigint  NOT NULL,
  shares_with  text,                             -- JSON array of numbers; null while it does not send
  lanes        integer NOT NULL,                 -- held, or left to others for a while
  report       text    NOT NULL                  -- JSON
);

-- What nodes let through of keys' rates, for a minute. Lost in a crash, which costs nobody anything.
CREATE UNLOGGED TABLE key_rates (
  second      bigint  NOT NULL,                  -- whole seconds since the epoch
  node        text    COLLATE "C" NOT NULL,
  key_id      text    COLLATE "C" NOT NULL,
  rate_window text    COLLATE "C" NOT NULL,
  units       integer NOT NULL,
  PRIMARY KEY (second, node, key_id, rate_window)
);

-- Rises with every change of relays, settings, domains, holds and routing tables, in the transaction that makes it.
CREATE TABLE registry_revision (
  revision bigint NOT NULL
);
INSERT INTO registry_revision VALUES (1);

-- Names the key that stored secrets are sealed under: all nodes have the same. Empty until the first node has started.
CREATE TABLE secret_key (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  key_id   text    NOT NULL
);

-- Contents: the bytes of messages, written once, never changed, removed by whole segments.
CREATE TABLE spool_segments (
  segment    bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  node       text    COLLATE "C" NOT NULL,       -- who writes it
  opened_at  bigint  NOT NULL,
  bytes      bigint,                             -- of all contents with their headers; null until it is sealed
  dropped_at bigint,                             -- nothing may refer to it from then on; null while something may
  emptied    boolean NOT NULL DEFAULT false      -- its contents are gone; the row stays, so that nothing ever does
);

CREATE TABLE contents (
  segment  bigint  NOT NULL,
  "offset" bigint  NOT NULL,                     -- place in the segment: 0 for the first
  piece    integer NOT NULL,                     -- of a content in several rows; 0 for the first
  header   bytea,                                -- of the first: flags, length, message id, CRC-32 of all
  bytes    bytea   NOT NULL,                     -- at most 256 KiB
  PRIMARY KEY (segment, "offset", piece)
) WITH (
  fillfactor = 100, toast_tuple_target = 8160,
  -- What was removed makes room soon: after a twentieth of a large table, not a fifth.
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.2,
  toast.autovacuum_vacuum_scale_factor = 0.05
);
-- A letter of a few kilobytes lies in its row, where one read finds it; nothing is compressed.
ALTER TABLE contents ALTER COLUMN header SET STORAGE PLAIN, ALTER COLUMN bytes SET STORAGE EXTERNAL;
