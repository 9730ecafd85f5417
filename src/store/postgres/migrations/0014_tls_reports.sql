-- compatible-with: 3
-- Sessions with the mail servers of recipient domains, and the reports on them (RFC 8460). No address of a recipient is in them.

CREATE TABLE tls_sessions (
  day      integer NOT NULL,                      -- since 1970, UTC
  domain   text    COLLATE "C" NOT NULL,
  kind     text    COLLATE "C" NOT NULL,          -- the same for sessions alike
  session  text    COLLATE "C" NOT NULL,          -- JSON
  is_good  boolean NOT NULL,
  sessions bigint  NOT NULL,
  PRIMARY KEY (day, domain, kind)
);

CREATE TABLE tls_reports (
  day        integer NOT NULL,
  domain     text    COLLATE "C" NOT NULL,
  report_id  text    NOT NULL,
  state      text    NOT NULL,                    -- waiting, sent, failed, unwanted
  targets    text    NOT NULL,                    -- JSON: where to, and what became of it there
  tries      integer NOT NULL,
  next_at    bigint  NOT NULL,
  updated_at bigint  NOT NULL,
  PRIMARY KEY (day, domain)
);
CREATE INDEX tls_reports_waiting ON tls_reports (next_at) WHERE state = 'waiting';
