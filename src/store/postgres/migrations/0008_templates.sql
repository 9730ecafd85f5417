-- compatible-with: 3
-- Templates of messages, in versions; one version of each may be published.

CREATE TABLE templates (
  id                text    COLLATE "C" PRIMARY KEY,        -- tpl_…; sorts by time
  alias             text    COLLATE "C" NOT NULL UNIQUE,    -- what it is called by in requests
  name              text    NOT NULL,
  version           bigint  NOT NULL,                       -- the newest
  published_version bigint,                                 -- the one that is sent; null: none
  created_at        bigint  NOT NULL,
  updated_at        bigint  NOT NULL
);

CREATE TABLE template_versions (
  template text    COLLATE "C" NOT NULL,
  version  bigint  NOT NULL,
  at       bigint  NOT NULL,
  author   text    NOT NULL,                                -- a user or a key; empty: the command line
  note     text    NOT NULL,
  subject  text    NOT NULL,
  html     text,
  text     text,                                            -- null, with HTML: made of that
  sample   text    NOT NULL,                                -- JSON
  PRIMARY KEY (template, version)
);
