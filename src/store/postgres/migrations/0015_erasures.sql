-- compatible-with: 3
-- People who asked to be erased.

CREATE TABLE erasures (
  id           text   COLLATE "C" PRIMARY KEY,    -- era_…; sorts by time
  pseudonym    text   NOT NULL,                   -- what stands in the person's place
  sealed       text,                              -- the address; null once nothing is left to do
  requested_at bigint NOT NULL,
  finished_at  bigint,
  progress     text   NOT NULL                    -- JSON
);
