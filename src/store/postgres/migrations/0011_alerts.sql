-- compatible-with: 3
-- Alerts: what operators decided about them, and their history.

CREATE TABLE alert_rules (
  name   text COLLATE "C" PRIMARY KEY,
  change text NOT NULL                                      -- JSON: what differs from the rule as declared
);

CREATE TABLE alert_channels (
  id         text COLLATE "C" PRIMARY KEY,                  -- alc_…; sorts by time
  name       text COLLATE "C" NOT NULL UNIQUE,
  definition text NOT NULL,                                 -- JSON (domain/alert-channel.ts)
  secret     text                                           -- sealed; null: it has none
);

CREATE TABLE alert_silences (
  id         text   COLLATE "C" PRIMARY KEY,                -- als_…; sorts by time
  definition text   NOT NULL,                               -- JSON
  ends_at    bigint NOT NULL
);

CREATE TABLE alerts (
  id       text    COLLATE "C" PRIMARY KEY,                 -- alr_…; sorts by time
  fired    integer NOT NULL,                                -- 1: it has fired
  is_open  integer NOT NULL,                                -- 1: it is not over, or somebody is still to be told
  ended_at bigint,                                          -- null: it is not over
  body     text    NOT NULL                                 -- JSON (domain/alert.ts)
);
CREATE INDEX alerts_open ON alerts (is_open) WHERE is_open = 1;
CREATE INDEX alerts_ended ON alerts (ended_at) WHERE ended_at IS NOT NULL;
