import { describe, expect, it } from 'vitest';
import { message } from '../../test/contract/store/fixtures.ts';
import { IDLE } from '../engine/contract.ts';
import { systemClock } from '../lib/clock.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import { csvLine, exportMessages } from './export.ts';
import type { InForce } from './in-force.ts';

describe('a line of CSV', () => {
  it.each([
    ['=1+1', `"'=1+1"`],
    ['+1', `"'+1"`],
    ['-1', `"'-1"`],
    ['@SUM(A1)', `"'@SUM(A1)"`],
    ['\t=1', `"'\t=1"`],
    ['\r=1', `"'\r=1"`],
    ['a=1', 'a=1'],
    ['a, b', '"a, b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
    ['', ''],
  ])('holds %j as %j', (text, cell) => {
    expect(csvLine([text, 1, null])).toBe(`${cell},1,\r\n`);
  });
});

describe('an export', () => {
  const NOTHING = { config: { relays: [] } } as unknown as InForce;
  const at = { node: 'a', now: 1 };

  it('has all that a query finds, page by page, and reads no page before it is wanted', async () => {
    const { store, views, keyring } = openSqlite(':memory:');
    const records = Array.from({ length: 450 }, (_, i) =>
      message({
        header: {
          from: 'a@example.com',
          subject: i % 2 === 0 ? '=even' : 'odd',
          messageId: '<1@example.com>',
        },
      }),
    );
    await store.accept(records, at);
    let searches = 0;
    const counted: typeof views = {
      ...views,
      search: (query) => {
        searches++;
        return views.search(query);
      },
    };
    const deps = { views: counted, keyring, queue: IDLE, clock: systemClock, resolution: () => NOTHING };
    const pieces: string[] = [];
    for await (const piece of exportMessages({ query: 'even', format: 'csv' }, deps)) pieces.push(piece);
    const [head, ...lines] = pieces.join('').trimEnd().split('\r\n');
    expect(head?.split(',').slice(0, 3)).toEqual(['id', 'created_at', 'status']);
    const even = records.filter((_, i) => i % 2 === 0).map(({ id }) => id);
    expect(lines.map((line) => line.split(',')[0])).toEqual(even.reverse());
    expect(lines[0]).toContain(`"'=even"`);

    searches = 0;
    for await (const piece of exportMessages({ query: '', format: 'json' }, deps)) {
      expect(
        piece
          .trimEnd()
          .split('\n')
          .map((line) => (JSON.parse(line) as { id: string }).id),
      ).toHaveLength(200);
      break;
    }
    expect(searches).toBe(1);
    expect(() => exportMessages({ query: 'x'.repeat(501), format: 'csv' }, deps)).toThrow('at most 500');
    await store.close();
  });
});
