-- The box that a message is captured in (domain/box.ts); null: none.
ALTER TABLE messages ADD COLUMN box TEXT;
CREATE INDEX messages_in_box ON messages (key_id, box, id) WHERE kept = 'captured' AND box IS NOT NULL;
