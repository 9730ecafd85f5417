-- compatible-with: 3
-- Passkeys, and the identity provider that some users sign in with.

-- The account of a user at an identity provider: its issuer and subject (OpenID Connect); null for one who is known here only.
ALTER TABLE users ADD COLUMN issuer text COLLATE "C";
ALTER TABLE users ADD COLUMN subject text COLLATE "C";
CREATE UNIQUE INDEX users_by_subject ON users (issuer, subject);

CREATE TABLE passkeys (
  id           text    COLLATE "C" PRIMARY KEY,  -- of the credential, base64url
  user_name    text    COLLATE "C" NOT NULL,
  host         text    COLLATE "C" NOT NULL,     -- RP ID: the host name that it signs in to
  public_key   text    NOT NULL,                 -- COSE, base64url
  counter      bigint  NOT NULL,                 -- signatures, by its own count
  label        text    NOT NULL,
  created_at   bigint  NOT NULL,
  last_used_at bigint
);
CREATE INDEX passkeys_by_user ON passkeys (user_name);
CREATE INDEX passkeys_by_host ON passkeys (host);

-- Challenges that were answered, until no answer to them counts.
CREATE TABLE spent_challenges (
  hash       text   COLLATE "C" PRIMARY KEY,     -- SHA-256, hex
  expires_at bigint NOT NULL
);
