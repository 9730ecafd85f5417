-- What authenticators know a user by, which tells nothing about them.

ALTER TABLE passkeys ADD COLUMN handle TEXT;      -- random, base64url; null for passkeys of earlier versions
