-- compatible-with: 3
-- SMTP sessions beside the requests to the API in the log of requests, and where both came from.
ALTER TABLE request_log ADD COLUMN source_address text NOT NULL DEFAULT '';  -- empty: of several, or not known
ALTER TABLE request_log ADD COLUMN session text;                            -- JSON; null: a request to the API
CREATE INDEX request_log_by_source ON request_log (source_address, at, number);
