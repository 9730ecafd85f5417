-- Alerts: what operators decided about them, and their history.

CREATE TABLE alert_rules (
  name   TEXT PRIMARY KEY,
  change TEXT NOT NULL                            -- JSON: what differs from the rule as declared
) STRICT, WITHOUT ROWID;

CREATE TABLE alert_channels (
  id         TEXT PRIMARY KEY,                    -- alc_…; sorts by time
  name       TEXT NOT NULL UNIQUE,
  definition TEXT NOT NULL,                       -- JSON (domain/alert-channel.ts)
  secret     TEXT                                 -- sealed; null: it has none
) STRICT, WITHOUT ROWID;

CREATE TABLE alert_silences (
  id         TEXT    PRIMARY KEY,                 -- als_…; sorts by time
  definition TEXT    NOT NULL,                    -- JSON
  ends_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE alerts (
  id       TEXT    PRIMARY KEY,                   -- alr_…; sorts by time
  fired    INTEGER NOT NULL,                      -- 1: it has fired
  is_open  INTEGER NOT NULL,                      -- 1: it is not over, or somebody is still to be told
  ended_at INTEGER,                               -- null: it is not over
  body     TEXT    NOT NULL                       -- JSON (domain/alert.ts)
) STRICT, WITHOUT ROWID;
CREATE INDEX alerts_open ON alerts (is_open) WHERE is_open = 1;
CREATE INDEX alerts_ended ON alerts (ended_at) WHERE ended_at IS NOT NULL;
