-- compatible-with: 3
-- What users of the dashboard keep and show each other.

CREATE TABLE saved_views (
  id         text    COLLATE "C" PRIMARY KEY,     -- viw_…; sorts by time
  user_name  text    COLLATE "C" NOT NULL,
  page       text    COLLATE "C" NOT NULL,        -- its path
  name       text    COLLATE "C" NOT NULL,
  search     text    NOT NULL,                    -- JSON: what its address says after ?, by name
  is_shared  boolean NOT NULL,
  created_at bigint  NOT NULL,
  UNIQUE (user_name, page, name)
);
CREATE INDEX saved_views_shared ON saved_views (is_shared) WHERE is_shared;

CREATE TABLE story_links (
  hash        text    COLLATE "C" PRIMARY KEY,    -- SHA-256 of the token, hex
  id          text    COLLATE "C" NOT NULL UNIQUE, -- stl_…; sorts by time
  message     text    COLLATE "C" NOT NULL,       -- its id
  made_by     text    NOT NULL,
  has_content boolean NOT NULL,
  created_at  bigint  NOT NULL,
  expires_at  bigint  NOT NULL
);
CREATE INDEX story_links_by_message ON story_links (message);
CREATE INDEX story_links_by_end ON story_links (expires_at);
