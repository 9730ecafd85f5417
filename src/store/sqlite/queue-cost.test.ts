import { describe, expect, it } from 'vitest';
import {
  at,
  DEFERRED,
  HOUR,
  message,
  recipient,
  refTo,
  settlement,
  T0,
} from '../../../test/contract/store/fixtures.ts';
import { planOf, watched } from '../../../test/support/watched-driver.ts';
import type { LaneLease } from '../../domain/lane.ts';
import type { BeginRequest } from '../leased.ts';
import type { Stamp } from '../store.ts';
import { openDatabase } from './open.ts';
import type { Verbs } from './verbs.ts';
import { createViews } from './views.ts';
import { Writer } from './writer.ts';

const LANES = 3_000;
const LEASE = 45_000;

/** A store that counts what its database is asked. */
function openWatched() {
  const inner = openDatabase(':memory:');
  const { db, seen } = watched(inner);
  const writer = new Writer(db);
  const ask = <K extends keyof Verbs>(verb: K, ...args: Parameters<Verbs[K]>): ReturnType<Verbs[K]> => {
    const [answer] = writer.commit([{ verb, args }]);
    if (answer?.ok !== true) throw answer?.error;
    return answer.value as ReturnType<Verbs[K]>;
  };
  const discover = (stamp: Stamp, limit = 64) =>
    ask('acquireLanes', [], limit, stamp.now + LEASE, stamp).map(({ lane }) => lane);
  /** Runs of the statements that begin so, during `work`. */
  const runsOf = (beginning: string, work: () => void) => {
    seen.runs.clear();
    work();
    return [...seen.runs].reduce((sum, [sql, count]) => sum + (sql.startsWith(beginning) ? count : 0), 0);
  };
  return { inner, db, seen, ask, discover, runsOf };
}

const laneOf = (i: number) => `mx/d${i}.example`;

/** One message in each of many lanes, all due at `T0 + ms`. */
function fillLanes({ ask }: ReturnType<typeof openWatched>, ms = 0): void {
  const deliveries = Array.from({ length: LANES }, (_, i) =>
    recipient({ relay: 'mx', lane: laneOf(i), dueAt: T0 + ms }),
  );
  for (let i = 0; i < LANES; i += 500)
    ask('accept', [message({ deliveries: deliveries.slice(i, i + 500) })], at());
}

describe('the cost of finding lanes', () => {
  it('is nothing for lanes that are held, or in which nothing is due', () => {
    const held = openWatched();
    fillLanes(held);
    expect(held.ask('acquireLanes', [], LANES, T0 + LEASE, at())).toHaveLength(LANES);
    const later = openWatched();
    fillLanes(later, HOUR);
    for (const { discover, seen } of [held, later]) {
      seen.rows = 0;
      expect(discover(at(1_000))).toEqual([]);
      expect(seen.rows).toBe(0);
    }
  });

  it('is one look a lease for lanes whose leases are renewed, and in bounded portions', () => {
    const world = openWatched();
    const { ask, discover, seen } = world;
    fillLanes(world);
    const leases = ask('acquireLanes', [], LANES, T0 + LEASE, at());
    ask('renewLanes', leases, T0 + 2 * LEASE, at(LEASE - 1));
    const looks = [];
    for (let turn = 0; turn < 4; turn++) {
      seen.rows = 0;
      expect(discover(at(LEASE + turn))).toEqual([]);
      looks.push(seen.rows);
    }
    expect(looks.reduce((sum, rows) => sum + rows)).toBe(LANES);
    expect(Math.max(...looks)).toBeLessThan(LANES);
    expect(looks.at(-1)).toBe(0);
  });

  it('comes to a lane that was let go, behind many that were renewed', () => {
    const world = openWatched();
    const { ask, discover } = world;
    fillLanes(world);
    const leases = ask('acquireLanes', [], LANES, T0 + LEASE, at());
    const [lost, ...kept] = leases;
    if (lost === undefined) throw new Error('nothing was granted');
    ask('renewLanes', kept, T0 + 2 * LEASE, at(LEASE - 1));
    const found = [...discover(at(LEASE)), ...discover(at(LEASE))];
    expect(found).toEqual([lost.lane]);
  });

  it('is that of the lanes granted when all are free, however many are asked for in a transaction', () => {
    const world = openWatched();
    fillLanes(world);
    expect(world.runsOf('SELECT due_at', () => expect(world.discover(at(), 2_500)).toHaveLength(2_500))).toBe(
      0,
    );
  });

  it('puts no burden on a lane that is held and busy', () => {
    const { ask, runsOf } = openWatched();
    const [lease] = ask('acquireLanes', ['out'], 0, T0 + HOUR, at());
    const work = (held: LaneLease) => {
      const record = message({ deliveries: [recipient({ fence: held.fence }), recipient()] });
      ask('accept', [record], at());
      const unit = refTo(record.id, held);
      ask('begin', [{ ...unit, recipients: [], quota: null }], at());
      ask('settle', [settlement(unit, [DEFERRED])], at());
    };
    if (lease === undefined) throw new Error('nothing was granted');
    work(lease);
    expect(runsOf('UPDATE lanes SET look_at', () => work(lease))).toBe(0);
  });
});

describe('the cost of claiming high priority alone', () => {
  it('is flat, however much of the others is due before it', () => {
    const costs = [100, 3_000].map((bulk) => {
      const { ask, seen } = openWatched();
      const waits = Array.from({ length: bulk }, () => recipient());
      const records = [message({ priority: 'bulk', deliveries: waits }), message({ priority: 'high' })];
      ask('accept', records, at());
      const [lease] = ask('acquireLanes', ['out'], 0, T0 + HOUR, at());
      if (lease === undefined) throw new Error('nothing was granted');
      seen.rows = 0;
      seen.runs.clear();
      const request = { ...lease, order: 'high_only', limit: 64, maxRecipients: 100 } as const;
      const [answer] = ask('claim', [request], at());
      expect(answer?.units.map(({ priority }) => priority)).toEqual(['high']);
      return [seen.rows, [...seen.runs.values()].reduce((sum, runs) => sum + runs)];
    });
    expect(costs[0]).toEqual(costs[1]);
  });
});

describe('the cost of quotas', () => {
  /** How often each statement is run to begin ten units. */
  function statementsOf(quotaOf: (place: number) => BeginRequest['quota']): ReadonlyMap<string, number> {
    const { ask, seen } = openWatched();
    const [lease] = ask('acquireLanes', ['out'], 0, T0 + HOUR, at());
    if (lease === undefined) throw new Error('nothing was granted');
    const deliveries = [recipient({ fence: lease.fence })];
    const records = Array.from({ length: 10 }, () => message({ deliveries }));
    ask('accept', records, at());
    const units = records.map(({ id }, place) => ({
      ...refTo(id, lease),
      recipients: [],
      quota: quotaOf(place),
    }));
    seen.runs.clear();
    expect(ask('begin', units, at())).toEqual(units.map(() => 'begun'));
    return new Map(seen.runs);
  }
  const sum = (counts: Iterable<number>) => [...counts].reduce((total, count) => total + count, 0);
  const ofQuotas = (runs: ReadonlyMap<string, number>) =>
    sum([...runs].flatMap(([sql, count]) => (sql.includes('quotas') ? [count] : [])));

  it('is nothing where there is none: one statement for each unit, one for its lane, and one for the suppression list', () => {
    expect(sum(statementsOf(() => null).values())).toBe(12);
  });

  it('is one look and one change for each relay, however many units take', () => {
    const day = 20_777;
    const quota = { day, recipients: 1, limit: 99 };
    expect(ofQuotas(statementsOf(() => ({ ...quota, relay: 'out' })))).toBe(2);
    const relays = ['a', 'b'] as const;
    expect(ofQuotas(statementsOf((place) => ({ ...quota, relay: relays[place % 2] ?? 'a' })))).toBe(4);
  });
});

describe('what the store asks of its database', () => {
  const { inner, db, seen } = openWatched();
  createViews(db);
  const plans = seen.sql
    .filter((sql) => !/^(PRAGMA|BEGIN|COMMIT)/.test(sql))
    .map((sql) => ({ sql, plan: planOf(inner, sql) }));

  it('never walks through all messages, deliveries or attempts', () => {
    expect(plans.length).toBeGreaterThan(60);
    for (const { sql, plan } of plans)
      for (const line of plan)
        expect(line, sql).not.toMatch(/^SCAN (messages|deliveries|attempts|message_tags|d|m)\b/);
  });

  it('sorts nothing that waits', () => {
    // What a next hop named by one id is little, and sorted.
    for (const { sql, plan } of plans)
      if (/FROM (deliveries|messages)/.test(sql) && !sql.includes('deliveries_by_provider_id'))
        expect(
          plan.filter((line) => line.includes('TEMP B-TREE')),
          sql,
        ).toEqual([]);
  });

  it('finds what is due in a lane, and pages of a lane, in the index alone', () => {
    const inLane = plans.filter(({ sql }) => sql.includes('INDEXED BY deliveries_waiting'));
    expect(inLane.length).toBeGreaterThanOrEqual(3);
    for (const { sql, plan } of inLane) {
      expect(plan, sql).toHaveLength(1);
      expect(plan[0], sql).toMatch(/^SEARCH deliveries USING COVERING INDEX deliveries_waiting \(lane=\?/);
    }
  });

  it('finds quotas by their days', () => {
    const ofQuotas = plans.filter(({ sql }) => /(FROM|INTO) quotas/.test(sql));
    expect(ofQuotas.length).toBeGreaterThanOrEqual(4);
    for (const { sql, plan } of ofQuotas)
      for (const line of plan) expect(line, sql).not.toMatch(/^SCAN quotas|TEMP B-TREE/);
  });

  it('extends a lease by one search of the lane’s row', () => {
    const extend = plans.find(({ sql }) => sql.startsWith('UPDATE lanes SET lease_until'));
    expect(extend?.plan).toEqual(['SEARCH lanes USING PRIMARY KEY (lane=?)']);
  });
});
