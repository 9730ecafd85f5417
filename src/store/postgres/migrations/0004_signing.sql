-- compatible-with: 3
-- What clients sign their requests with (contract-2 §C6): it cannot be checked against a hash, so it is sealed.
CREATE TABLE signing_secrets (
  id     text COLLATE "C" PRIMARY KEY,           -- the access key id
  key_id text COLLATE "C" NOT NULL,
  sealed text NOT NULL,
  until  bigint                                  -- null while it is the newest
);
CREATE INDEX signing_secrets_by_key ON signing_secrets (key_id);
