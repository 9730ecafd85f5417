import { addressTest } from '../../domain/address-test.ts';
import type { MessageStatus } from '../../domain/delivery.ts';
import type { Kept } from '../counting.ts';
import { textTest } from '../matching.ts';
import type { ListQuery } from '../views.ts';
import type { Driver } from './driver.ts';

/** Records that a page may still look at. */
export interface Budget {
  left: number;
}

/** Whether a message belongs on the page; `spent` when the budget does not allow to look at all of it. */
export type Matches = (seq: number) => boolean | 'spent';

/** Builds the tests that no index answers: text, addresses, and statuses where the index is not by status. */
export function matchers(db: Driver): (query: ListQuery, budget: Budget) => Matches {
  const sql = prepareMatching(db);
  return ({ owner, statuses, filter }, budget) => {
    // The index of a key's mail is by status; the others are not.
    const byStatus =
      statuses.length > 0 && (owner === 'all' || (filter?.tag ?? null) !== null || filter?.captured === true);
    const wanted: ReadonlySet<MessageStatus> = new Set(statuses);
    const isCaptured = filter?.captured ?? false;
    const texts = textTest(filter);
    const to = filter?.to === undefined || filter.to === null ? null : addressTest(filter.to);
    return (seq) => {
      if (byStatus || isCaptured || texts !== null) {
        const row = sql.message.get(seq);
        if (row === undefined) return false;
        const [status, kept, from, reversePath, subject] = row;
        if (isCaptured && kept !== 'captured') return false;
        if (byStatus && !wanted.has(status)) return false;
        if (texts !== null && !texts(from, reversePath, subject)) return false;
      }
      if (to === null) return true;
      // Recipients are records as well: a page of large envelopes ends sooner.
      if (budget.left <= 0) return 'spent';
      const addresses = sql.recipients.all(seq);
      budget.left -= addresses.length;
      return addresses.some(([address]) => to(address));
    };
  };
}

function prepareMatching(db: Driver) {
  return {
    message: db.prepare<
      [seq: number],
      [status: MessageStatus, kept: Kept | null, headerFrom: string, reversePath: string, subject: string]
    >('SELECT status, kept, header_from, reverse_path, subject FROM messages WHERE seq = ?'),
    recipients: db.prepare<[seq: number], [address: string]>(
      'SELECT address FROM deliveries WHERE message = ?',
    ),
  };
}
