-- DMARC aggregate reports (RFC 7489): what receivers saw of mail that names a domain in From. No address of a person is in them.

CREATE TABLE dmarc_reports (
  id          TEXT    PRIMARY KEY,                -- dmr_…; sorts by time
  reporter    TEXT    NOT NULL,
  contact     TEXT    NOT NULL,                   -- of the reporter; may be empty
  report_id   TEXT    NOT NULL,
  domain      TEXT    NOT NULL,
  begin_at    INTEGER NOT NULL,
  end_at      INTEGER NOT NULL,
  policy      TEXT    NOT NULL,                   -- JSON
  received_at INTEGER NOT NULL,
  via         TEXT    NOT NULL,                   -- mail, upload
  row_count   INTEGER NOT NULL,
  messages    INTEGER NOT NULL,
  passed      INTEGER NOT NULL                    -- of the messages
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX dmarc_reports_once ON dmarc_reports (domain, reporter, report_id);
CREATE INDEX dmarc_reports_by_time ON dmarc_reports (begin_at, id);

CREATE TABLE dmarc_rows (
  report      TEXT    NOT NULL,
  place       INTEGER NOT NULL,
  source      TEXT    NOT NULL,                   -- an IP address; empty: the sum of many
  messages    INTEGER NOT NULL,
  disposition TEXT    NOT NULL,
  dkim        INTEGER NOT NULL,                   -- passed, and is aligned
  spf         INTEGER NOT NULL,
  header_from TEXT    NOT NULL,
  spf_domain  TEXT    NOT NULL,
  dkim_domain TEXT    NOT NULL,
  selector    TEXT    NOT NULL,
  PRIMARY KEY (report, place)
) STRICT, WITHOUT ROWID;
