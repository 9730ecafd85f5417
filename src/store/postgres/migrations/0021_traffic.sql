-- compatible-with: 3
-- What became of mail, by where it went and whose it was. Nodes add what they gathered.

CREATE TABLE traffic (
  period     text    COLLATE "C" NOT NULL,       -- 'minute', 'hour' or 'day'
  start      integer NOT NULL,                   -- whole minutes, hours or days since 1970, UTC
  relay      text    COLLATE "C" NOT NULL,       -- '' for none, '*' for what is not told apart
  domain     text    COLLATE "C" NOT NULL,       -- of recipients
  provider   text    COLLATE "C" NOT NULL,       -- of mailboxes
  key_id     text    COLLATE "C" NOT NULL,
  tags       text    COLLATE "C" NOT NULL,       -- each in a line of its own
  accepted   integer NOT NULL,
  delivered  integer NOT NULL,
  captured   integer NOT NULL,
  failed     integer NOT NULL,
  deferred   integer NOT NULL,
  bounced    integer NOT NULL,
  complained integer NOT NULL,
  t0         integer NOT NULL,                   -- of the delivered, how long they took (domain/delivery-times.ts)
  t1         integer NOT NULL,
  t2         integer NOT NULL,
  t3         integer NOT NULL,
  t4         integer NOT NULL,
  t5         integer NOT NULL,
  t6         integer NOT NULL,
  t7         integer NOT NULL,
  t8         integer NOT NULL,
  t9         integer NOT NULL,
  t10        integer NOT NULL,
  t11        integer NOT NULL,
  t12        integer NOT NULL,
  t13        integer NOT NULL,
  t14        integer NOT NULL,
  t15        integer NOT NULL,
  t16        integer NOT NULL,
  PRIMARY KEY (period, start, relay, domain, provider, key_id, tags)
);

-- What receivers replied, in groups (domain/reply-group.ts).
CREATE TABLE traffic_replies (
  period     text    COLLATE "C" NOT NULL,       -- 'hour' or 'day'
  start      integer NOT NULL,                   -- whole hours or days since 1970, UTC
  relay      text    COLLATE "C" NOT NULL,       -- '' for none, '*' for what is not told apart
  domain     text    COLLATE "C" NOT NULL,       -- of recipients
  provider   text    COLLATE "C" NOT NULL,       -- of mailboxes
  key_id     text    COLLATE "C" NOT NULL,
  tags       text    COLLATE "C" NOT NULL,       -- each in a line of its own
  reply_group text   COLLATE "C" NOT NULL,
  deferred   integer NOT NULL,
  failed     integer NOT NULL,
  bounced    integer NOT NULL,
  example    text    COLLATE "C" NOT NULL,
  message    text    COLLATE "C" NOT NULL,       -- of the example
  PRIMARY KEY (period, start, relay, domain, provider, key_id, tags, reply_group)
);
