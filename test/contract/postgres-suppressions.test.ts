import { afterAll, beforeAll, expect, it } from 'vitest';
import { NO_MESSAGE } from '../../src/domain/feedback.ts';
import type { Suppression } from '../../src/domain/suppression.ts';
import { createIdSource } from '../../src/lib/id.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { Database } from '../../src/postgres/database.ts';
import { openPostgres, type PostgresStores } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { TELL_RULES, telling } from '../support/telling.ts';
import { at, DELIVERED, T0 } from './store/fixtures.ts';
import { Teller } from './store/told.ts';

/** The suppression list, and what is told of mail, changed by two nodes at once. */
describeWith(POSTGRES_PROGRAMS, 'the suppression list of several nodes', () => {
  let server: Postgres;
  let nodes: PostgresStores[];
  let database: Database;
  beforeAll(async () => {
    server = await Postgres.start();
    const url = await server.schema();
    nodes = [];
    database = new Database({ url });
    for (let n = 0; n < 2; n++) nodes.push(await openPostgres({ url, connections: 6, daysAhead: null }));
  });
  afterAll(async () => {
    await database.close();
    for (const { store } of nodes) await store.close();
    await server.stop();
  });

  const ADDRESSES = 40;
  const WRITERS = 12;

  /** The same addresses, each time in another order. */
  function batch(seed: number): Suppression[] {
    const random = seededRandom(seed);
    const nextId = createIdSource({ wall: () => T0 + seed }, random, 'sup_');
    return Array.from({ length: ADDRESSES }, (_, n) => ({ n, place: random.next() }))
      .sort((a, b) => a.place - b.place)
      .map(({ n }) => ({
        id: nextId(),
        address: `r${n}@example.org`,
        scope: 'global',
        stream: null,
        reason: 'manual',
        source: 'api',
        evidence: null,
        note: `by ${seed}`,
        createdAt: T0 + seed,
        updatedAt: T0 + seed,
        expiresAt: null,
      }));
  }

  it('has each entry once, however many add it in whatever order, and knows its size', async () => {
    const rules = { max: ADDRESSES, by: 'hand', now: T0 } as const;
    const answers = await Promise.all(
      Array.from({ length: WRITERS }, (_, seed) =>
        nodes[seed % nodes.length]?.suppressions.addSuppressions(batch(seed), rules),
      ),
    );
    const additions = answers.flatMap((one) => one ?? []);
    expect(additions.every(({ kind }) => kind === 'added')).toBe(true);
    const isNew = additions.filter((one) => one.kind === 'added' && one.isNew);
    expect([additions.length, isNew.length]).toEqual([ADDRESSES * WRITERS, ADDRESSES]);
    const { first, second } = both();
    const known = await first.suppressions.suppressedAddresses('', 1000);
    expect(new Set(known.map(({ address }) => address)).size).toBe(ADDRESSES);
    // Both fold the changes of its size at once, and remove what the other removes, too.
    const ids = known.slice(0, 10).map(({ id }) => id);
    const removals = nodes.map(({ suppressions }) => suppressions.removeSuppressions(ids, false, T0));
    await Promise.all(nodes.map(({ suppressions }) => suppressions.forgetSuppressions(T0, 9)));
    const removed = await Promise.all(removals);
    expect(removed.flat()).toHaveLength(10);
    const more = batch(99).map((entry) => ({ ...entry, address: `more-${entry.address}` }));
    const kinds = (await second.suppressions.addSuppressions(more, rules)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'added')).toHaveLength(10);
  });

  function both() {
    const [first, second] = nodes;
    if (first === undefined || second === undefined) throw new Error('there are not two nodes');
    return { first, second };
  }
  const stores = () => [both().first.store, both().second.store] as const;
  /** Mail at the first node. */
  const teller = new Teller(() => both().first);
  const delayed = (id: string) => telling(id, { kind: 'delayed' }).items;

  it('hears the same messages from two sides in any order, without a deadlock', async () => {
    const [first, second] = stores();
    const ids: string[] = [];
    for (let n = 0; n < 30; n++) ids.push((await teller.sent()).id);
    const deadlocks = async () => {
      const query = 'SELECT deadlocks::int AS n FROM pg_stat_database WHERE datname = current_database()';
      const [row] = await database.rows<{ n: number }>(query);
      return row?.n;
    };
    const before = await deadlocks();
    for (let round = 0; round < 5; round++)
      await Promise.all([
        first.tell([telling(null, {}, { items: ids.flatMap(delayed) })], TELL_RULES, at()),
        second.tell([telling(null, {}, { items: ids.toReversed().flatMap(delayed) })], TELL_RULES, at()),
      ]);
    expect(await deadlocks()).toBe(before);
  });

  it('tells what was early again once, whichever node does', async () => {
    const [first, second] = stores();
    const named = { ...NO_MESSAGE, providerMessageId: 'early' };
    const items = Array.from({ length: 50 }, () => delayed('')).flat();
    const early = items.map((item) => ({ ...item, feedback: { ...item.feedback, message: named } }));
    await first.tell([telling(null, {}, { items: early, mayBeEarly: true })], TELL_RULES, at());
    const { id } = await teller.sent({}, [{ ...DELIVERED, providerMessageId: 'early' }]);
    const answers = await Promise.all([first, second].map((node) => node.retell('', 100, TELL_RULES, at())));
    expect(answers.flatMap(({ results }) => results)).toHaveLength(50);
    expect(await teller.story(id)).toHaveLength(50);
  });

  it('counts soft bounces of an address that come to both at once', async () => {
    for (let round = 0; round < 3; round++) {
      const address = `soft${round}@example.org`;
      const [first, second] = stores();
      const ids: string[] = [];
      for (let n = 0; n < 5; n++) ids.push((await teller.sentTo(address)).id);
      const bounce = { type: 'soft', code: 452, enhancedCode: null, text: 'full' } as const;
      const turns = [first, second, first, second, first];
      await Promise.all(
        ids.map((id, place) =>
          turns[place]?.tell([telling(id, { kind: 'bounce', bounce })], TELL_RULES, at()),
        ),
      );
      expect(await teller.reason(address)).toBe('soft_bounces');
    }
  });
});
