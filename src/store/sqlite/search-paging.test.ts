import { expect, it } from 'vitest';
import { at, message } from '../../../test/contract/store/fixtures.ts';
import { parseQuery } from '../../domain/query.ts';
import { openSqlite } from './open.ts';

const COUNT = 10_000;

it.each(['', 'order', 'order -seventh'])(
  'pages of %j show each of 10,000 messages once, in order, while new ones arrive and are indexed',
  async (text) => {
    const { store, views } = openSqlite(':memory:');
    const letter = (i: number) => {
      const subject = `Order ${i}${i % 7 === 0 ? ' seventh' : ''}`;
      return message({ header: { from: 'a@example.com', subject, messageId: '<1@example.com>' } });
    };
    const records = Array.from({ length: COUNT }, (_, i) => letter(i));
    await store.accept(records, at());
    // A part is found without the index.
    while ((await store.index(1_000)).indexed === 1_000);
    const { query } = parseQuery(text);
    const seen: string[] = [];
    let before: string | null = null;
    do {
      const page = await views.search({ query, after: null, before, limit: 200 });
      seen.push(...page.messages.map(({ id }) => id));
      before = page.next;
      await store.accept([letter(1)], at());
      await store.index(1);
    } while (before !== null);
    const wanted = text.includes('seventh') ? records.filter((_, i) => i % 7 !== 0) : records;
    expect(seen).toEqual(wanted.map(({ id }) => id).reverse());
    await store.close();
  },
);
