import { describe, expect, it } from 'vitest';
import { planOf, watched } from '../../../test/support/watched-driver.ts';
import { type ListFilter, type ListQuery, UNFILTERED } from '../views.ts';
import type { Driver } from './driver.ts';
import { openDatabase } from './open.ts';
import { SLICE_RECORDS, sliceFinder } from './pages.ts';
import { Paging } from './paging.ts';

const MESSAGES = 4_000;
const MAX_EXAMINED = 500;
const ENVELOPE = 3;
const KEY = { keyId: 'key_one' };
const STATUSES = ['queued', 'retrying'] as const;

/** Messages of one key and one tag, of two statuses, each to three recipients. */
function fill(db: Driver): void {
  db.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MESSAGES})
    INSERT INTO messages (seq, id, key_id, status, queued, processing, retrying, delivered, failed, created_at,
      updated_at, status_at, expires_at, priority, test, source, reverse_path, header_from, subject, message_id, tags,
      metadata, size_bytes, eight_bit, utf8, dot_stuffing, route_table)
    SELECT i, printf('msg_%026d', i), 'key_one', iif(i % 2, 'queued', 'retrying'), 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0,
      'api', 'a@example.com', 'a@example.com', 'Hello', '<1@example.com>', '["t"]', '{}', 1, 0, 0, 0, 0 FROM n;
    INSERT INTO message_tags SELECT key_id, 't', id FROM messages;
    INSERT INTO deliveries (message, idx, state, priority, expires_at, address, kind)
      SELECT seq, value, 'queued', 1, 1, 'b@example.net', 'to' FROM messages, json_each('[0, 1, 2]');
    ANALYZE;
  `);
}

describe('the cost of a page', () => {
  const inner = openDatabase(':memory:');
  fill(inner);
  const { db, seen } = watched(inner);
  const findSlice = sliceFinder(db);
  const find = (query: ListQuery, sliceRecords = SLICE_RECORDS, isOver = () => false) => {
    const paging = new Paging(query, MAX_EXAMINED);
    const seqs: number[] = [];
    let slices = 0;
    while (paging.page === null) {
      const { query: rest, maxExamined } = paging.rest;
      const records = Math.min(sliceRecords, maxExamined);
      paging.add({
        messages: [],
        characters: 0,
        ...findSlice({ ...rest, limit: query.limit - seqs.length }, records, (seq) => seqs.push(seq), isOver),
      });
      slices++;
    }
    return { seqs, next: paging.page.next, slices };
  };

  const queries: [string, Partial<ListQuery>, Partial<ListFilter>][] = [
    ['subject, over everything', {}, { subject: 'nowhere' }],
    ['sender, of a key', { owner: KEY }, { from: '@nowhere.example' }],
    ['recipient, of a key', { owner: KEY }, { to: 'nobody@example.net' }],
    ['recipient, of some statuses of a key', { owner: KEY, statuses: STATUSES }, { to: '@nowhere.example' }],
    ['a tag that all have, and a status none has', { statuses: ['failed'] }, { tag: 't' }],
    ['a tag of a key, and a subject', { owner: KEY }, { tag: 't', subject: 'nowhere' }],
    ['a tag, and a recipient', {}, { tag: 't', to: 'nobody@example.net' }],
    ['a status none has, over everything', { statuses: ['delivered'] }, {}],
  ];

  it.each(queries)('is bounded when nothing is found: %s', (_name, query, filter) => {
    seen.rows = 0;
    const asked = { owner: 'all', statuses: [], before: null, limit: 20, ...query } as const;
    const page = find({ ...asked, filter: { ...UNFILTERED, ...filter } });
    expect(page.seqs).toEqual([]);
    expect(page.next, 'there is more to look at').not.toBeNull();
    expect(seen.rows).toBeGreaterThan(MAX_EXAMINED / 2);
    expect(seen.rows).toBeLessThanOrEqual(MAX_EXAMINED + ENVELOPE);
  });

  it.each([
    ['everything', {}, {}, 1],
    ['a tag', {}, { tag: 't' }, 1],
    ['a tag of a key', { owner: KEY }, { tag: 't' }, 1],
    ['two statuses of a key', { owner: KEY, statuses: STATUSES }, {}, 2],
    ['mail in trouble, over everything', { statuses: ['retrying', 'failed', 'retrying'] }, {}, 1],
  ] as const)('is that of the page alone when all is found: %s', (_name, query, filter, streams) => {
    seen.rows = 0;
    const asked = { owner: 'all', statuses: [], before: null, limit: 20, ...query } as const;
    expect(find({ ...asked, filter: { ...UNFILTERED, ...filter } }).seqs).toHaveLength(20);
    expect(seen.rows).toBe(21 * streams);
  });

  it.each(queries)('slices, however small, cost no more and find the same: %s', (_name, query, filter) => {
    const asked = {
      owner: 'all',
      statuses: [],
      before: null,
      limit: 20,
      ...query,
      filter: { ...UNFILTERED, ...filter },
    } as const;
    seen.rows = 0;
    const page = find(asked, 50);
    expect(page.slices).toBeGreaterThanOrEqual(MAX_EXAMINED / (50 + ENVELOPE));
    expect(page.seqs).toEqual([]);
    expect(page.next).not.toBeNull();
    expect(seen.rows).toBeLessThanOrEqual(MAX_EXAMINED + page.slices * ENVELOPE);
  });

  it('a slice that has taken long enough ends after the message it is at, and the next goes on', () => {
    const asked = { owner: KEY, statuses: STATUSES, before: null, limit: 20 } as const;
    const page = find(asked, 50, () => true);
    expect(page.seqs).toEqual(find(asked).seqs);
    expect(page.slices).toBe(21);
  });

  it('every statement walks an index in its order: nothing is scanned, nothing is sorted', () => {
    // What a next hop named by one id is little, and sorted.
    for (const sql of seen.sql.filter((one) => !one.includes('deliveries_by_provider_id'))) {
      const plan = planOf(inner, sql);
      expect(plan.length, sql).toBeGreaterThan(0);
      for (const detail of plan)
        expect(detail, sql).toMatch(/^SEARCH \w+ USING (COVERING )?(INDEX|INTEGER|PRIMARY)/);
    }
  });
});
