-- The index that mail is found by.

-- The words of a message, by its number. Only the index is kept: what was indexed stands in the messages themselves.
-- Words come lower-case, without accents and apart from each other (domain/mail-words.ts); any other tokenizer would
-- take them apart once more.
CREATE VIRTUAL TABLE search USING fts5 (
  subject, sender, recipients, tags, ids,
  content = '', contentless_delete = 1, tokenize = 'ascii'
);

-- One row: what is indexed is every message from `low` to `high`, both included. New ones are added above, old ones,
-- from before there was this index, below.
CREATE TABLE search_range (low INTEGER NOT NULL, high INTEGER NOT NULL) STRICT;
INSERT INTO search_range SELECT coalesce(max(seq), 0) + 1, coalesce(max(seq), 0) FROM messages;

-- Lists over all keys by the statuses that are rare and looked for.
CREATE INDEX messages_troubled ON messages (status, id) WHERE status IN ('failed', 'retrying');
