import { describe, expect, it } from 'vitest';
import { writeManyMessages } from '../../../test/support/many-messages.ts';
import { planOf, watched } from '../../../test/support/watched-driver.ts';
import { parseQuery } from '../../domain/query.ts';
import { MAX_COUNTED, MAX_EXAMINED, type SearchQuery } from '../views.ts';
import { openDatabase } from './open.ts';
import { createViews } from './views.ts';
import { Writer } from './writer.ts';

/** So many messages of a key, all alike, all indexed; and what a search of them reads. */
function openArchive(count: number) {
  const inner = openDatabase(':memory:');
  writeManyMessages(inner, 'key_one', count);
  inner.exec(`UPDATE messages SET status = 'failed' WHERE seq % 1000 = 5;
    UPDATE messages SET subject = 'Hello zebra' WHERE seq = 3;
    INSERT INTO deliveries (message, idx, state, lane, relay, priority, expires_at, outcome, address, kind)
    SELECT seq, 0, status, 'out', 'out', 1, 1, 'accepted', iif(seq = 3, 'zoe@example.net', 'bob@example.net'), 'to'
    FROM messages;
    INSERT INTO message_tags SELECT key_id, 'news', id FROM messages WHERE seq % 2;`);
  const writer = new Writer(inner);
  let more = true;
  while (more) {
    const [answer] = writer.commit([{ verb: 'index', args: [5_000] }]);
    if (answer?.ok !== true) throw answer?.error;
    ({ more } = answer.value as { more: boolean });
  }
  const { db, seen } = watched(inner);
  const views = createViews(db);
  const ask = (text: string, change: Partial<SearchQuery> = {}): SearchQuery => ({
    query: parseQuery(text, 0).query,
    after: null,
    before: null,
    limit: 20,
    ...change,
  });
  /** Rows read, and statements run. */
  const costOf = (work: () => unknown) => {
    seen.rows = 0;
    seen.runs.clear();
    work();
    return { rows: seen.rows, runs: [...seen.runs.values()].reduce((sum, runs) => sum + runs, 0) };
  };
  return { inner, seen, views, ask, costOf };
}

const FEW = openArchive(2_500);
const MANY = openArchive(50_000);

describe('the cost of a search', () => {
  it.each([
    '',
    'hello',
    'hello from:a@example.com',
    'to:bob',
    'key:key_one',
    'status:failed key:key_one',
    'relay:out',
  ])('for %j is that of the page, however many messages there are', (text) => {
    const [few, many] = [FEW, MANY].map(({ views, ask, costOf }) =>
      costOf(() => expect(views.search(ask(text, { limit: 2 })).messages.length).toBeGreaterThan(0)),
    );
    expect(many).toEqual(few);
  });

  it('for a word that one message has, far behind all others, is a few looks', () => {
    const { views, ask, costOf } = MANY;
    const { rows, runs } = costOf(() => {
      const page = views.search(ask('zebra'));
      expect([page.messages.length, page.next]).toEqual([1, null]);
    });
    expect(rows).toBeLessThan(10);
    expect(runs).toBeLessThan(60);
  });

  it.each([
    ['before anything is indexed, as after an upgrade', false],
    ['when all is indexed', true],
  ])(
    'an address that one message of 50,000 has, far behind all others, is found by a list %s',
    (_, indexed) => {
      const { inner, views, costOf } = MANY;
      if (!indexed) inner.exec('UPDATE search_range SET low = 50001, high = 50000');
      const filter = {
        tag: null,
        to: 'zoe@example.net',
        from: null,
        subject: null,
        since: null,
        until: null,
      };
      const ask = { owner: 'all', statuses: [], filter, limit: 20 } as const;
      let page = views.list({ ...ask, before: null });
      const { rows } = costOf(() => views.list({ ...ask, before: null }));
      // Each word of the address is asked for by itself, for at most 1,000 messages that have it.
      expect(rows).toBeLessThan(indexed ? 2_000 : 2 * MAX_EXAMINED);

      let pages = 1;
      for (; page.messages.length === 0 && page.next !== null; pages++)
        page = views.list({ ...ask, before: page.next });
      expect([pages > 1, page.messages.length, page.next]).toEqual([!indexed, 1, null]);
      inner.exec('UPDATE search_range SET low = 1, high = 50000');
    },
  );

  it.each([
    'relay:nowhere',
    'hello relay:nowhere',
    'to:@nowhere.example hello',
    'is:captured',
    'is:scheduled',
    'tag:news nothing',
    'hello -bob',
    'hello reply:nothing',
    'metadata:nothing',
    'nothing*',
    'to:nobody@nowh*',
  ])('for %j, which nothing has, is bounded', (text) => {
    const { views, ask, costOf } = MANY;
    const { rows } = costOf(() => expect(views.search(ask(text)).messages).toEqual([]));
    // A slice may read a little ahead of what it looks at.
    expect(rows).toBeLessThanOrEqual(1.5 * MAX_EXAMINED);
  });

  it('for an id of a next hop is a look into its index, whatever else is asked', () => {
    const { views, ask, costOf } = MANY;
    for (const text of ['hop:nothing', 'hello hop:nothing', 'status:queued hop:nothing']) {
      const { rows } = costOf(() => expect(views.search(ask(text)).messages).toEqual([]));
      expect([text, rows]).toEqual([text, 0]);
    }
  });

  it('is bounded for counting what is new', () => {
    const { views, ask, costOf } = MANY;
    const query = ask('relay:nowhere', { limit: 100 });
    const { rows } = costOf(() => expect(views.countFound(query)).toEqual({ count: 0, more: true }));
    expect(rows).toBeLessThanOrEqual(1.5 * MAX_COUNTED);
    expect(views.countFound(ask('hello', { limit: 100 }))).toEqual({ count: 100, more: true });
  });

  it('walks indexes only', () => {
    const { inner, seen } = MANY;
    const plans = seen.sql
      .filter((sql) => /FROM (messages|deliveries|message_tags|search|counters)\b/.test(sql))
      .map((sql) => ({ sql, plan: planOf(inner, sql.replace('MATCH ?', "MATCH 'hello' AND ?")) }));
    expect(plans.length).toBeGreaterThan(15);
    for (const { sql, plan } of plans)
      for (const line of plan) {
        expect(line, sql).not.toMatch(/^SCAN (messages|deliveries|message_tags|counters)\b/);
        if (/^SCAN search\b/.test(line)) expect(line, sql).toMatch(/VIRTUAL TABLE INDEX \d+:.*M/);
      }
  });
});
