-- Sessions with the mail servers of recipient domains, and the reports on them (RFC 8460). No address of a recipient is in them.

CREATE TABLE tls_sessions (
  day      INTEGER NOT NULL,                      -- since 1970, UTC
  domain   TEXT    NOT NULL,
  kind     TEXT    NOT NULL,                      -- the same for sessions alike
  session  TEXT    NOT NULL,                      -- JSON
  is_good  INTEGER NOT NULL,
  sessions INTEGER NOT NULL,
  PRIMARY KEY (day, domain, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE tls_reports (
  day        INTEGER NOT NULL,
  domain     TEXT    NOT NULL,
  report_id  TEXT    NOT NULL,
  state      TEXT    NOT NULL,                    -- waiting, sent, failed, unwanted
  targets    TEXT    NOT NULL,                    -- JSON: where to, and what became of it there
  tries      INTEGER NOT NULL,
  next_at    INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (day, domain)
) STRICT, WITHOUT ROWID;
CREATE INDEX tls_reports_waiting ON tls_reports (next_at) WHERE state = 'waiting';
