import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Suppression } from '../../src/domain/suppression.ts';
import { createIdSource } from '../../src/lib/id.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { openPostgres, type PostgresStores } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { T0 } from './store/fixtures.ts';

/** The suppression list, changed by two nodes at once. */
describeWith(POSTGRES_PROGRAMS, 'the suppression list of several nodes', () => {
  let server: Postgres;
  let nodes: PostgresStores[];
  beforeAll(async () => {
    server = await Postgres.start();
    const url = await server.schema();
    nodes = [];
    for (let n = 0; n < 2; n++) nodes.push(await openPostgres({ url, connections: 6, daysAhead: null }));
  });
  afterAll(async () => {
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
    const [first, second] = nodes;
    if (first === undefined || second === undefined) throw new Error('there are not two nodes');
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
});
