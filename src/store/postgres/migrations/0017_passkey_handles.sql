-- compatible-with: 3
-- What authenticators know a user by, which tells nothing about them.

ALTER TABLE passkeys ADD COLUMN handle text;      -- random, base64url; null for passkeys of earlier versions
