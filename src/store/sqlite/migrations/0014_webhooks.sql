-- Endpoints of webhooks, and what each is still to be told of the log of events (contract-2 §B2, §B3).

CREATE TABLE webhook_endpoints (
  id         TEXT PRIMARY KEY,                    -- whe_…; sorts by time
  key_id     TEXT,                                -- whose; null: an administrator's
  definition TEXT NOT NULL,                       -- JSON (domain/webhook.ts)
  secrets    TEXT NOT NULL,                       -- sealed
  health     TEXT NOT NULL                        -- JSON
) STRICT, WITHOUT ROWID;

-- The last event that was looked at for all of them: one row, once there has been an endpoint.
CREATE TABLE webhook_cursor (
  seq INTEGER NOT NULL
) STRICT;

CREATE TABLE webhook_deliveries (
  endpoint    TEXT    NOT NULL,
  seq         INTEGER NOT NULL,                   -- of the event
  type        INTEGER NOT NULL,                   -- of the event
  state       TEXT    NOT NULL,                   -- pending, delivered, failed
  tries       TEXT    NOT NULL,                   -- JSON
  attempts    INTEGER NOT NULL,
  next_try_at INTEGER,                            -- null: it has ended
  PRIMARY KEY (endpoint, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint, next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (seq);

-- The provider whose API a message came through (domain/drop-in.ts); null: none.
ALTER TABLE messages ADD COLUMN door TEXT;
