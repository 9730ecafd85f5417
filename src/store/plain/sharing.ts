import { fromJson } from '../columns.ts';
import type { SavedView, Sharing, StoryLink } from '../sharing.ts';
import { Columns, type Flag, OF_USER, type Sql, sql } from './sql.ts';
import { alone, rows, run, type Subject, send, type Work } from './work.ts';

/** What users keep and show each other, as rows. */

interface ViewRow extends Omit<SavedView, 'search' | 'isShared'> {
  /** JSON. */
  readonly search: string;
  readonly isShared: Flag;
}

const VIEW = new Columns<ViewRow>({
  id: sql`id`,
  user: OF_USER,
  page: sql`page`,
  name: sql`name`,
  search: sql`search`,
  isShared: sql`is_shared`,
  createdAt: sql`created_at`,
});

const LINK = new Columns<StoryLink>({
  id: sql`id`,
  message: sql`message`,
  madeBy: sql`made_by`,
  hasContent: sql`has_content`,
  createdAt: sql`created_at`,
  expiresAt: sql`expires_at`,
});

/** See {@link Sharing}. */
export const SHARING: Subject<Sharing> = {
  reads: { savedViews: 'statement', storyLinks: 'statement', storyLink: 'statement' },
  verbs: {
    savedViews: (user) => views(sql`${OF_USER} = ${user} OR is_shared = ${true} ORDER BY name, id`),
    *addView(view, max) {
      yield* aloneWithViews();
      if ((yield* countOf(sql`saved_views WHERE ${OF_USER} = ${view.user}`)) >= max) return 'too_many';
      if (yield* isTaken(view, sql`${OF_USER} = ${view.user}`)) return 'name_taken';
      yield* send`INSERT INTO saved_views (${VIEW.names}) VALUES (${VIEW.values({ ...view, search: JSON.stringify(view.search) })})`;
      return 'added';
    },
    *changeView(user, id, { name, search }) {
      yield* aloneWithViews();
      const [before] = yield* views(ownView(user, id));
      if (before === undefined) return null;
      const after = { ...before, name: name ?? before.name, search: search ?? before.search };
      const isOthers = before.isShared
        ? sql`(${OF_USER} = ${user} OR is_shared = ${true})`
        : sql`${OF_USER} = ${user}`;
      if (yield* isTaken(after, isOthers)) return 'name_taken';
      yield* send`UPDATE saved_views SET name = ${after.name}, search = ${JSON.stringify(after.search)}
        WHERE id = ${id}`;
      return after;
    },
    *shareView(user, id, max) {
      yield* aloneWithViews();
      const [before] = yield* views(ownView(user, id));
      if (before === undefined || before.isShared) return before ?? null;
      if ((yield* countOf(sql`saved_views WHERE is_shared = ${true}`)) >= max) return 'too_many';
      if (yield* isTaken(before, sql`is_shared = ${true}`)) return 'name_taken';
      return yield* setShared(before, true);
    },
    *unshareView(user, id) {
      yield* aloneWithViews();
      const [before] = yield* views(user === null ? sql`id = ${id}` : ownView(user, id));
      return before === undefined ? null : yield* setShared(before, false);
    },
    *removeView(user, id) {
      yield* aloneWithViews();
      const [before] = yield* views(ownView(user, id));
      if (before === undefined) return null;
      yield* send`DELETE FROM saved_views WHERE id = ${id}`;
      return before;
    },

    storyLinks: (message, now) => links(sql`message = ${message} AND expires_at > ${now} ORDER BY id DESC`),
    *addStoryLink({ link, hash }, bounds, now) {
      yield* alone(sql`story_links`);
      yield* send`DELETE FROM story_links WHERE expires_at <= ${now}`;
      if ((yield* countOf(sql`story_links WHERE message = ${link.message}`)) >= bounds.ofMessage)
        return 'too_many';
      if ((yield* countOf(sql`story_links`)) >= bounds.all) return 'full';
      yield* send`INSERT INTO story_links (${LINK.names}, hash) VALUES (${LINK.values(link)}, ${hash})`;
      return 'added';
    },
    *endStoryLink(id) {
      const [before] = yield* links(sql`id = ${id}`);
      if (before === undefined) return null;
      yield* send`DELETE FROM story_links WHERE id = ${id}`;
      return before;
    },
    *storyLink(hash, now) {
      return (yield* links(sql`hash = ${hash} AND expires_at > ${now}`))[0] ?? null;
    },
  },
};

/** So that nobody has more than the limit, and no two have a name. */
function aloneWithViews(): Work<void> {
  return alone(sql`saved_views`);
}

function ownView(user: string, id: string): Sql {
  return sql`id = ${id} AND ${OF_USER} = ${user}`;
}

/** Whether another view of these, on its page, has its name. */
function* isTaken({ id, page, name }: SavedView, among: Sql): Work<boolean> {
  return (
    (yield* countOf(sql`saved_views WHERE page = ${page} AND name = ${name} AND id <> ${id} AND ${among}`)) >
    0
  );
}

function* setShared(before: SavedView, isShared: boolean): Work<SavedView> {
  yield* send`UPDATE saved_views SET is_shared = ${isShared} WHERE id = ${before.id}`;
  return { ...before, isShared };
}

function* countOf(which: Sql): Work<number> {
  const [row] = yield* rows<{ count: number }>`SELECT count(*) AS count FROM ${which}`;
  return row?.count ?? 0;
}

function* views(which: Sql): Work<SavedView[]> {
  const found = yield* rows<ViewRow>`SELECT ${VIEW.selected} FROM saved_views WHERE ${which}`;
  return found.map(({ search, isShared, ...row }) => ({
    ...row,
    search: fromJson<SavedView['search']>(search),
    isShared: Boolean(isShared),
  }));
}

function* links(which: Sql): Work<StoryLink[]> {
  const found = yield* rows<
    Omit<StoryLink, 'hasContent'> & { readonly hasContent: Flag }
  >`SELECT ${LINK.selected} FROM story_links WHERE ${which}`;
  return found.map((row) => ({ ...row, hasContent: Boolean(row.hasContent) }));
}

/** Removes what a user saved, with the user. */
export function removeViewsOf(user: string): Work<void> {
  return send`DELETE FROM saved_views WHERE ${OF_USER} = ${user}`;
}

/** Ends every link to the story of a message: who it is about is to be forgotten. */
export function endStoryLinksOf(message: string): Work<void> {
  return send`DELETE FROM story_links WHERE message = ${message}`;
}

/** Removes links that have ended, at most `limit`. Returns how many. */
export function forgetStoryLinks(now: number, limit: number): Work<number> {
  return run`DELETE FROM story_links WHERE hash IN (
    SELECT hash FROM story_links WHERE expires_at <= ${now} LIMIT ${limit})`;
}
