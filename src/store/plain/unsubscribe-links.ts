import type { UnsubscribeLink } from '../views.ts';
import { sql } from './sql.ts';
import { rows, run, type Work } from './work.ts';

/**
 * Links to unsubscribe that outlive the record of their message (contract-2 §A7). They are kept when its contents go:
 * after that nobody sends it again, and a day of records may be dropped as a whole.
 */

/** The columns that a purge fills; the databases differ in how deliveries name their message. */
export const LINK_COLUMNS = 'message, idx, address, key_id, header_from, stream';

/** The link of a recipient of a message whose contents are gone; null if there is none. */
export function* unsubscribeLinkOf(message: string, index: number): Work<UnsubscribeLink | null> {
  const [link] = yield* rows<UnsubscribeLink>`SELECT address, key_id AS "keyId", header_from AS "from", stream
    FROM unsubscribe_links WHERE message = ${message} AND idx = ${index}`;
  return link ?? null;
}

/** Removes the oldest beyond `max`, at most `limit`. Returns how many. */
export function forgetLinks(max: number, limit: number): Work<number> {
  // Only the oldest ever go, so that numbers tell how many there are.
  const last = sql`(SELECT max(seq) FROM unsubscribe_links)`;
  return run`DELETE FROM unsubscribe_links WHERE seq IN
    (SELECT seq FROM unsubscribe_links WHERE seq <= ${last} - ${max} ORDER BY seq LIMIT ${limit})`;
}
