-- compatible-with: 3
-- The key of a segment whose contents are encrypted, itself encrypted under a key from `secret.key`; null: they are not.
ALTER TABLE spool_segments ADD COLUMN wrapped_key bytea;
