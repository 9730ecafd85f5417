import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { Database } from '../../src/postgres/database.ts';
import { EVERY_EVENT, type EventQuery } from '../../src/store/events.ts';
import { openPostgres, type PostgresStores } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { at, message, T0 } from './store/fixtures.ts';

const ALL: EventQuery = {
  ...EVERY_EVENT,
  from: { after: 0 },
  limit: 200,
};

describeWith(POSTGRES_PROGRAMS, 'events over several transactions at once', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());

  /** Two nodes, and a connection of somebody else's. */
  async function open(): Promise<{ first: PostgresStores; second: PostgresStores; other: Database }> {
    const url = await server.schema();
    const first = await openPostgres({ url, connections: 2, daysAhead: null });
    const second = await openPostgres({ url, connections: 2, daysAhead: null });
    return { first, second, other: new Database({ url, connections: 1 }) };
  }

  async function close({ first, second, other }: Awaited<ReturnType<typeof open>>): Promise<void> {
    await Promise.all([first.store.close(), second.store.close(), other.close()]);
  }

  /** A transaction that has written an event of a message; call what it resolves to, so that it commits. */
  async function beginEvent(database: Database, id: string): Promise<() => Promise<void>> {
    const written = Promise.withResolvers<void>();
    const mayEnd = Promise.withResolvers<void>();
    onTestFinished(() => mayEnd.resolve());
    const work = database.transact(async (db) => {
      await db.run('INSERT INTO events (at, type, message) VALUES ($1, 1, $2)', [T0, id]);
      written.resolve();
      await mayEnd.promise;
    });
    await written.promise;
    return () => {
      mayEnd.resolve();
      return work;
    };
  }

  it('are not shown while a smaller sequence may still appear, and then all of them', async () => {
    const nodes = await open();
    const { first, second, other } = nodes;
    const early = message();
    await first.store.accept([early], at());
    expect((await first.views.events(ALL)).events).toHaveLength(1);
    const end = await beginEvent(other, early.id);
    const late = message();
    await second.store.accept([late], at(1));
    const before = await first.views.events(ALL);
    expect(before.events.map(({ message }) => message?.id)).toEqual([early.id]);
    await end();
    const after = await first.views.events({ ...ALL, from: { after: before.next ?? 0 } });
    expect(after.events.map(({ message }) => message?.id)).toEqual([early.id, late.id]);
    await close(nodes);
  });

  it('newest first, begin with the newest that may be shown', async () => {
    const nodes = await open();
    const { first, second, other } = nodes;
    const early = message();
    await first.store.accept([early], at());
    expect((await second.views.events(ALL)).events).toHaveLength(1);
    const end = await beginEvent(other, early.id);
    await second.store.accept([message()], at(1));
    const { events } = await second.views.events({ ...ALL, from: { before: null } });
    expect(events.map(({ message }) => message?.id)).toEqual([early.id]);
    await end();
    await close(nodes);
  });

  it('lose none to a reader that pages while two nodes write', async () => {
    const nodes = await open();
    const { first, second } = nodes;
    const ids = Array.from({ length: 300 }, () => message());
    const half = ids.length / 2;
    const writers = [first, second].map(async ({ store }, node) => {
      for (const record of ids.slice(node * half, (node + 1) * half)) await store.accept([record], at());
    });
    const seen: string[] = [];
    const sequences: number[] = [];
    let after = 0;
    let isOver = false;
    const all = Promise.all(writers).then(() => {
      isOver = true;
    });
    for (let isLast = false; !isLast; ) {
      isLast = isOver;
      const page = await second.views.events({ ...ALL, from: { after } });
      seen.push(...page.events.map(({ message }) => message?.id ?? ''));
      sequences.push(...page.events.map(({ sequence }) => sequence));
      after = page.next ?? after;
    }
    await all;
    expect(seen.toSorted()).toEqual(ids.map(({ id }) => id).toSorted());
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    await close(nodes);
  });
});
