-- The local inbox: captured messages whose contents are kept, the newest first.
CREATE INDEX messages_in_inbox ON messages (id) WHERE kept = 'captured';
CREATE INDEX messages_in_inbox_by_key ON messages (key_id, id) WHERE kept = 'captured';
