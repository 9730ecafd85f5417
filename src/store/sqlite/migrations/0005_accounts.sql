-- Users of the dashboard, their sessions, and the links by which they choose passwords.

CREATE TABLE users (
  name            TEXT    PRIMARY KEY,
  role            TEXT    NOT NULL,
  disabled        INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  password        TEXT,                          -- argon2id, as a PHC string; null until one was chosen
  last_sign_in_at INTEGER,
  second_factor   TEXT,                          -- sealed secret
  last_step       INTEGER                        -- newest time step of which a code was used
) STRICT, WITHOUT ROWID;

CREATE TABLE recovery_codes (
  user TEXT NOT NULL,
  hash TEXT NOT NULL,                            -- SHA-256, hex
  PRIMARY KEY (user, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  hash           TEXT    PRIMARY KEY,            -- SHA-256 of the token, hex
  id             TEXT    NOT NULL UNIQUE,
  user           TEXT    NOT NULL,
  stage          TEXT    NOT NULL,
  created_at     INTEGER NOT NULL,
  last_seen_at   INTEGER NOT NULL,
  expires_at     INTEGER NOT NULL,
  source_address TEXT    NOT NULL,
  agent          TEXT    NOT NULL,
  offered        TEXT,                           -- sealed second factor that waits to be confirmed
  tries          INTEGER NOT NULL                -- codes that were tried
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_user ON sessions (user);

CREATE TABLE setup_links (
  hash       TEXT    PRIMARY KEY,                -- SHA-256 of the token, hex
  user       TEXT    UNIQUE,                     -- null: the first administrator
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
