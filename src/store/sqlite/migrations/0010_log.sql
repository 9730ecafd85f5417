-- Up to where the log of fresh mail has been applied: one row, or none where there never was a log.
CREATE TABLE log_mark (
  one     INTEGER PRIMARY KEY CHECK (one = 1),
  segment INTEGER NOT NULL,
  "offset" INTEGER NOT NULL
) STRICT;
