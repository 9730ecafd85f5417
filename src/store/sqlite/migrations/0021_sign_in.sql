-- Passkeys, and the identity provider that some users sign in with.

-- The account of a user at an identity provider: its issuer and subject (OpenID Connect); null for one who is known here only.
ALTER TABLE users ADD COLUMN issuer TEXT;
ALTER TABLE users ADD COLUMN subject TEXT;
CREATE UNIQUE INDEX users_by_subject ON users (issuer, subject);

CREATE TABLE passkeys (
  id           TEXT    PRIMARY KEY,              -- of the credential, base64url
  user         TEXT    NOT NULL,
  host         TEXT    NOT NULL,                 -- RP ID: the host name that it signs in to
  public_key   TEXT    NOT NULL,                 -- COSE, base64url
  counter      INTEGER NOT NULL,                 -- signatures, by its own count
  label        TEXT    NOT NULL,
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkeys_by_user ON passkeys (user);
CREATE INDEX passkeys_by_host ON passkeys (host);

-- Challenges that were answered, until no answer to them counts.
CREATE TABLE spent_challenges (
  hash       TEXT    PRIMARY KEY,                -- SHA-256, hex
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
