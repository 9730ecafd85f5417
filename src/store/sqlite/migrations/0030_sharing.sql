-- What users of the dashboard keep and show each other.

CREATE TABLE saved_views (
  id         TEXT    PRIMARY KEY,                 -- viw_…; sorts by time
  user       TEXT    NOT NULL,
  page       TEXT    NOT NULL,                    -- its path
  name       TEXT    NOT NULL,
  search     TEXT    NOT NULL,                    -- JSON: what its address says after ?, by name
  is_shared  INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (user, page, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX saved_views_shared ON saved_views (is_shared) WHERE is_shared = 1;

CREATE TABLE story_links (
  hash        TEXT    PRIMARY KEY,                -- SHA-256 of the token, hex
  id          TEXT    NOT NULL UNIQUE,            -- stl_…; sorts by time
  message     TEXT    NOT NULL,                   -- its id
  made_by     TEXT    NOT NULL,
  has_content INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX story_links_by_message ON story_links (message);
CREATE INDEX story_links_by_end ON story_links (expires_at);
