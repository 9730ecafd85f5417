-- compatible-with: 3
-- Endpoints of webhooks, and what each is still to be told of the log of events (contract-2 §B2, §B3).

CREATE TABLE webhook_endpoints (
  id         text COLLATE "C" PRIMARY KEY,        -- whe_…; sorts by time
  key_id     text,                                -- whose; null: an administrator's
  definition text NOT NULL,                       -- JSON (domain/webhook.ts)
  secrets    text NOT NULL,                       -- sealed
  health     text NOT NULL                        -- JSON
);

-- The last event that was looked at for all of them: one row, once there has been an endpoint.
CREATE TABLE webhook_cursor (
  seq bigint NOT NULL
);

CREATE TABLE webhook_deliveries (
  endpoint    text    COLLATE "C" NOT NULL,
  seq         bigint  NOT NULL,                   -- of the event
  type        integer NOT NULL,                   -- of the event
  state       text    NOT NULL,                   -- pending, delivered, failed
  tries       text    NOT NULL,                   -- JSON
  attempts    integer NOT NULL,
  next_try_at bigint,                             -- null: it has ended
  PRIMARY KEY (endpoint, seq)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint, next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (seq);

-- The provider whose API a message came through (domain/drop-in.ts); null: none.
ALTER TABLE messages ADD COLUMN door text;
