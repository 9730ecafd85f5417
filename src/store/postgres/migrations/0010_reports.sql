-- compatible-with: 3
-- DMARC aggregate reports (RFC 7489): what receivers saw of mail that names a domain in From. No address of a person is in them.

CREATE TABLE dmarc_reports (
  id          text    COLLATE "C" PRIMARY KEY,    -- dmr_…; sorts by time
  reporter    text    COLLATE "C" NOT NULL,
  contact     text    NOT NULL,                   -- of the reporter; may be empty
  report_id   text    COLLATE "C" NOT NULL,
  domain      text    COLLATE "C" NOT NULL,
  begin_at    bigint  NOT NULL,
  end_at      bigint  NOT NULL,
  policy      text    NOT NULL,                   -- JSON
  received_at bigint  NOT NULL,
  via         text    NOT NULL,                   -- mail, upload
  row_count   integer NOT NULL,
  messages    bigint  NOT NULL,
  passed      bigint  NOT NULL                    -- of the messages
);
CREATE UNIQUE INDEX dmarc_reports_once ON dmarc_reports (domain, reporter, report_id);
CREATE INDEX dmarc_reports_by_time ON dmarc_reports (begin_at, id);

CREATE TABLE dmarc_rows (
  report      text    COLLATE "C" NOT NULL,
  place       integer NOT NULL,
  source      text    COLLATE "C" NOT NULL,       -- an IP address; empty: the sum of many
  messages    bigint  NOT NULL,
  disposition text    COLLATE "C" NOT NULL,
  dkim        boolean NOT NULL,                   -- passed, and is aligned
  spf         boolean NOT NULL,
  header_from text    COLLATE "C" NOT NULL,
  spf_domain  text    COLLATE "C" NOT NULL,
  dkim_domain text    COLLATE "C" NOT NULL,
  selector    text    COLLATE "C" NOT NULL,
  PRIMARY KEY (report, place)
);
