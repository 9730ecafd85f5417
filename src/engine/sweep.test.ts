import { expect, it } from 'vitest';
import { at, message } from '../../test/contract/store/fixtures.ts';
import { acceptedEvent } from '../../test/support/engine-events.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { parseQuery } from '../domain/query.ts';
import { Events } from '../observe/events.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import { Indexing } from './sweep.ts';

it('enters the words of all that waits, in batches with rests that are nine times as long', async () => {
  const { store, views } = openSqlite(':memory:');
  const clock = new ManualClock();
  const events = new Events();
  await store.accept(
    Array.from({ length: 250 }, () => message()),
    at(),
  );
  const begun: number[] = [];
  const slow = {
    index: async (limit: number) => {
      begun.push(clock.mono());
      await clock.sleep(20);
      return await store.index(limit);
    },
  };
  const indexing = new Indexing({ store: slow, clock, events });
  const { signal } = new AbortController();
  const done = indexing.catchUp(signal);
  await clock.advance(1_000);
  await done;
  expect(begun.map((time) => time - (begun[0] ?? 0))).toEqual([0, 200, 400]);
  const { query } = parseQuery('sender@example.com');
  expect(await views.countFound({ query, after: null, before: null, limit: 300 })).toEqual({
    count: 250,
    more: false,
  });
  // Nothing is asked while nothing comes.
  await indexing.catchUp(signal);
  expect(begun).toHaveLength(3);
  const record = message();
  await store.accept([record], at());
  events.emit(acceptedEvent({ messageId: record.id }));
  const again = indexing.catchUp(signal);
  await clock.advance(1_000);
  await again;
  expect(await store.index(9)).toEqual({ indexed: 0, more: false });
  await store.close();
});

it('stops when it is told to, and leaves the rest for later', async () => {
  const { store } = openSqlite(':memory:');
  const clock = new ManualClock();
  await store.accept(
    Array.from({ length: 250 }, () => message()),
    at(),
  );
  const stopping = new AbortController();
  const indexing = new Indexing({ store, clock, events: new Events() });
  const done = indexing.catchUp(stopping.signal);
  await clock.advance(1);
  stopping.abort();
  await clock.advance(100);
  await done;
  expect(await store.index(999)).toEqual({ indexed: 150, more: false });
  await store.close();
});
