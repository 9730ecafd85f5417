/**
 * What users of the dashboard keep and show each other: views that they saved, and links to the stories of messages.
 * Tokens are passed only as SHA-256 (hex). Every verb is one transaction; times are wall ms. Errors are `StoreError`.
 */
export interface Sharing {
  /** The views of a user, and those that others share; by name. */
  savedViews(user: string): Promise<SavedView[]>;
  /** Adds a view that is not shared, unless its user has `max`, or one on its page with its name. */
  addView(view: SavedView, max: number): Promise<'added' | 'too_many' | 'name_taken'>;
  /** Changes what is not null of one of a user's own views. Null: there is none. */
  changeView(user: string, id: string, change: ViewChange): Promise<SavedView | 'name_taken' | null>;
  /** Shares one of a user's own views, unless `max` are, of all together, or one on its page has its name. */
  shareView(user: string, id: string, max: number): Promise<SavedView | 'name_taken' | 'too_many' | null>;
  /** Shares a view no more: one of a user's own; with null, anybody's. Null: there is none. */
  unshareView(user: string | null, id: string): Promise<SavedView | null>;
  /** Removes one of a user's own views. Returns it as it was; null: there is none. */
  removeView(user: string, id: string): Promise<SavedView | null>;

  /** The links to a message's story that have not ended; the newest first. */
  storyLinks(message: string, now: number): Promise<StoryLink[]>;
  /**
   * Adds a link, unless there are as many, of its message (`too_many`) or of all (`full`); those that have ended are
   * forgotten.
   */
  addStoryLink(stored: StoredLink, bounds: LinkBounds, now: number): Promise<'added' | 'too_many' | 'full'>;
  /** Ends a link. Returns it as it was; null: there is none. */
  endStoryLink(id: string): Promise<StoryLink | null>;
  /** The link with a token of this hash; null: there is none, or it has ended. */
  storyLink(hash: string, now: number): Promise<StoryLink | null>;
}

/** What a page shows, under a name. */
export interface SavedView {
  /** `viw_…` */
  readonly id: string;
  readonly user: string;
  /** The path of the page, such as `/messages`. */
  readonly page: string;
  readonly name: string;
  /** What its address says after `?`, by name; nothing: all that the page shows. */
  readonly search: Readonly<Record<string, string>>;
  /** Everybody who uses the dashboard has it. */
  readonly isShared: boolean;
  readonly createdAt: number;
}

/** See {@link Sharing.changeView}. */
export interface ViewChange {
  readonly name: string | null;
  readonly search: SavedView['search'] | null;
}

/** A link that shows the story of a message to whoever has it. */
export interface StoryLink {
  /** `stl_…` */
  readonly id: string;
  readonly message: string;
  /** The user or key that made it; empty: somebody at the command line. */
  readonly madeBy: string;
  /** It shows the subject and the content, too. */
  readonly hasContent: boolean;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** A link, and the hash of its token. */
export interface StoredLink {
  readonly link: StoryLink;
  readonly hash: string;
}

/** How many links there may be. */
export interface LinkBounds {
  readonly ofMessage: number;
  readonly all: number;
}
