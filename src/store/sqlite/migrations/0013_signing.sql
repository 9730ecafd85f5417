-- What clients sign their requests with (contract-2 §C6): it cannot be checked against a hash, so it is sealed.
CREATE TABLE signing_secrets (
  id     TEXT    PRIMARY KEY,                    -- the access key id
  key_id TEXT    NOT NULL,
  sealed TEXT    NOT NULL,
  until  INTEGER                                 -- null while it is the newest
) STRICT, WITHOUT ROWID;
CREATE INDEX signing_secrets_by_key ON signing_secrets (key_id);
