-- The certificate that is ordered by ACME.

CREATE TABLE acme_accounts (
  directory TEXT PRIMARY KEY,                     -- the URL of the authority's
  sealed    TEXT NOT NULL                         -- the account's key
) STRICT, WITHOUT ROWID;

CREATE TABLE acme_certificate (
  id          INTEGER PRIMARY KEY CHECK (id = 1),
  certificate TEXT,                               -- PEM, with its chain; null: none was issued
  sealed      TEXT,                               -- its key
  directory   TEXT,                               -- of whom issued it
  renewal     TEXT NOT NULL,                      -- JSON (domain/certificate.ts)
  holder      TEXT,                               -- the node that orders; null: none
  held_until  INTEGER
) STRICT;

CREATE TABLE acme_challenges (
  token  TEXT PRIMARY KEY,
  answer TEXT NOT NULL                            -- JSON (domain/certificate.ts)
) STRICT, WITHOUT ROWID;
