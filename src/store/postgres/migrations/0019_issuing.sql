-- compatible-with: 3
-- The certificate that is ordered by ACME, for all nodes.

CREATE TABLE acme_accounts (
  directory text COLLATE "C" PRIMARY KEY,         -- the URL of the authority's
  sealed    text NOT NULL                         -- the account's key
);

CREATE TABLE acme_certificate (
  id          integer PRIMARY KEY CHECK (id = 1),
  certificate text,                               -- PEM, with its chain; null: none was issued
  sealed      text,                               -- its key
  directory   text,                               -- of whom issued it
  renewal     text NOT NULL,                      -- JSON (domain/certificate.ts)
  holder      text,                               -- the node that orders; null: none
  held_until  bigint
);

CREATE TABLE acme_challenges (
  token  text COLLATE "C" PRIMARY KEY,
  answer text NOT NULL                            -- JSON (domain/certificate.ts)
);
