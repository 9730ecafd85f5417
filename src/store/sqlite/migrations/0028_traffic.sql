-- What became of mail, by where it went and whose it was. Nodes add what they gathered.

CREATE TABLE traffic (
  period     TEXT    NOT NULL,                   -- 'minute', 'hour' or 'day'
  start      INTEGER NOT NULL,                   -- whole minutes, hours or days since 1970, UTC
  relay      TEXT    NOT NULL,                   -- '' for none, '*' for what is not told apart
  domain     TEXT    NOT NULL,                   -- of recipients
  provider   TEXT    NOT NULL,                   -- of mailboxes
  key_id     TEXT    NOT NULL,
  tags       TEXT    NOT NULL,                   -- each in a line of its own
  accepted   INTEGER NOT NULL,
  delivered  INTEGER NOT NULL,
  captured   INTEGER NOT NULL,
  failed     INTEGER NOT NULL,
  deferred   INTEGER NOT NULL,
  bounced    INTEGER NOT NULL,
  complained INTEGER NOT NULL,
  t0         INTEGER NOT NULL,                   -- of the delivered, how long they took (domain/delivery-times.ts)
  t1         INTEGER NOT NULL,
  t2         INTEGER NOT NULL,
  t3         INTEGER NOT NULL,
  t4         INTEGER NOT NULL,
  t5         INTEGER NOT NULL,
  t6         INTEGER NOT NULL,
  t7         INTEGER NOT NULL,
  t8         INTEGER NOT NULL,
  t9         INTEGER NOT NULL,
  t10        INTEGER NOT NULL,
  t11        INTEGER NOT NULL,
  t12        INTEGER NOT NULL,
  t13        INTEGER NOT NULL,
  t14        INTEGER NOT NULL,
  t15        INTEGER NOT NULL,
  t16        INTEGER NOT NULL,
  PRIMARY KEY (period, start, relay, domain, provider, key_id, tags)
) STRICT, WITHOUT ROWID;

-- What receivers replied, in groups (domain/reply-group.ts).
CREATE TABLE traffic_replies (
  period     TEXT    NOT NULL,                   -- 'hour' or 'day'
  start      INTEGER NOT NULL,                   -- whole hours or days since 1970, UTC
  relay      TEXT    NOT NULL,                   -- '' for none, '*' for what is not told apart
  domain     TEXT    NOT NULL,                   -- of recipients
  provider   TEXT    NOT NULL,                   -- of mailboxes
  key_id     TEXT    NOT NULL,
  tags       TEXT    NOT NULL,                   -- each in a line of its own
  reply_group TEXT   NOT NULL,
  deferred   INTEGER NOT NULL,
  failed     INTEGER NOT NULL,
  bounced    INTEGER NOT NULL,
  example    TEXT    NOT NULL,
  message    TEXT    NOT NULL,                   -- of the example
  PRIMARY KEY (period, start, relay, domain, provider, key_id, tags, reply_group)
) STRICT, WITHOUT ROWID;
