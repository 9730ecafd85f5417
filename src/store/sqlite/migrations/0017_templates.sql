-- Templates of messages, in versions; one version of each may be published.

CREATE TABLE templates (
  id                TEXT    PRIMARY KEY,          -- tpl_…; sorts by time
  alias             TEXT    NOT NULL UNIQUE,      -- what it is called by in requests
  name              TEXT    NOT NULL,
  version           INTEGER NOT NULL,             -- the newest
  published_version INTEGER,                      -- the one that is sent; null: none
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE template_versions (
  template TEXT    NOT NULL,
  version  INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  author   TEXT    NOT NULL,                      -- a user or a key; empty: the command line
  note     TEXT    NOT NULL,
  subject  TEXT    NOT NULL,
  html     TEXT,
  text     TEXT,                                  -- null, with HTML: made of that
  sample   TEXT    NOT NULL,                      -- JSON
  PRIMARY KEY (template, version)
) STRICT;
