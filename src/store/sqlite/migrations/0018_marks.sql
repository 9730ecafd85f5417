-- What tests did with captured messages (contract-2 §G2): that they were read, and the tags that took the place of
-- theirs, as JSON; null: none did.
ALTER TABLE messages ADD COLUMN inbox_read INTEGER NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN inbox_tags TEXT;
