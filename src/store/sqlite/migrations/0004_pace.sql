-- Quotas of relays, and the domains that mail is sent from.

-- Recipients handed to a relay on a UTC day, or that may have been; kept where the relay had a quota.
CREATE TABLE quotas (
  relay TEXT    NOT NULL,
  day   INTEGER NOT NULL,                        -- whole days since the epoch
  used  INTEGER NOT NULL,
  PRIMARY KEY (day, relay)
) STRICT, WITHOUT ROWID;

CREATE TABLE domains (
  name       TEXT PRIMARY KEY,
  definition TEXT NOT NULL,                      -- JSON
  secrets    TEXT NOT NULL                       -- JSON: sealed private keys by selector
) STRICT, WITHOUT ROWID;
