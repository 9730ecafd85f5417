import type { MessageStatus } from '../../domain/delivery.ts';
import type { MailQuery, QueryTerm } from '../../domain/query.ts';
import { type MailFacts, queryTest } from '../../domain/query-test.ts';
import { fromJson } from '../columns.ts';
import type { Driver } from './driver.ts';
import type { Budget, Matches } from './matching.ts';

/** Builds the test of what a query asks and no index has answered. `known`: what one has. */
export function factMatcher(
  db: Driver,
): (query: MailQuery, budget: Budget, known?: (term: QueryTerm) => boolean, bounds?: IdBounds) => Matches {
  const sql = prepareFacts(db);
  return (query, budget, known, bounds = ANY_ID) => {
    const test = queryTest(query, known);
    if (test === null && bounds === ANY_ID) return () => true;
    return (seq) => {
      const row = sql.message.get(seq);
      if (row === undefined) return false;
      const [id] = row;
      if (id < bounds.floor || id >= bounds.before) return false;
      if (test === null) return true;
      // Recipients are records as well: a page of large envelopes ends sooner.
      let isShort = false;
      let found: ReturnType<MailFacts['recipients']> | null = null;
      const recipients = () => {
        if (budget.left <= 0) isShort = true;
        if (isShort) return [];
        if (found !== null) return found;
        const rows = sql.recipients.all(seq);
        budget.left -= rows.length;
        found = rows.map(([address, relay, captured]) => ({ address, relay, captured: captured === 1 }));
        return found;
      };
      const matches = test(factsOf(row, recipients));
      return isShort ? 'spent' : matches;
    };
  };
}

/** Ids from `floor` up to, and without, `before`. */
export interface IdBounds {
  readonly floor: string;
  readonly before: string;
}

/** Every id. */
export const ANY_ID: IdBounds = { floor: '', before: '~' };

type FactsRow = [
  id: string,
  status: MessageStatus,
  keyId: string | null,
  test: number,
  from: string,
  reversePath: string,
  subject: string,
  messageId: string,
  tags: string,
];

function factsOf(row: FactsRow, recipients: MailFacts['recipients']): MailFacts {
  const [id, status, keyId, test, from, reversePath, subject, messageId, tags] = row;
  return {
    ...{ id, status, keyId, from, reversePath, subject, messageId, recipients },
    test: test === 1,
    tags: fromJson<string[]>(tags),
  };
}

function prepareFacts(db: Driver) {
  return {
    message: db.prepare<[seq: number], FactsRow>(
      `SELECT id, status, key_id, test, header_from, reverse_path, subject, message_id, tags
       FROM messages WHERE seq = ?`,
    ),
    recipients: db.prepare<[seq: number], [address: string, relay: string | null, captured: number | null]>(
      `SELECT address, relay, outcome = 'captured' FROM deliveries WHERE message = ?`,
    ),
  };
}
