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
import type { Stamp } from '../store.ts';
import { openDatabase } from './open.ts';
import type { Verbs } from './verbs.ts';
import { createViews } from './views.ts';
import { Writer } from './writer.ts';

const LANES = 3_000;
const LEASE = 45_000;
/** A parameter in a scalar query: it reads no table. */
const PARAMETER = /^(SCALAR SUBQUERY|SCAN CONSTANT ROW)/;

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
      ask('begin', [{ ...unit, quota: null }], at());
      ask('settle', [settlement(unit, [DEFERRED])], at());
    };
    if (lease === undefined) throw new Error('nothing was granted');
    work(lease);
    expect(runsOf('UPDATE lanes SET look_at', () => work(lease))).toBe(0);
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
    for (const { sql, plan } of plans)
      if (/FROM (deliveries|messages)/.test(sql))
        expect(
          plan.filter((line) => line.includes('TEMP B-TREE')),
          sql,
        ).toEqual([]);
  });

  it('finds what is due in a lane, and pages of a lane, in the index alone', () => {
    const inLane = plans.filter(({ sql }) => sql.includes('INDEXED BY deliveries_waiting'));
    expect(inLane.length).toBeGreaterThanOrEqual(3);
    for (const { sql, plan } of inLane) {
      const steps = plan.filter((line) => !PARAMETER.test(line));
      expect(steps, sql).toHaveLength(1);
      expect(steps[0], sql).toMatch(/^SEARCH deliveries USING COVERING INDEX deliveries_waiting \(lane=\?/);
    }
  });

  it('extends a lease by one search of the lane’s row', () => {
    const extend = plans.find(({ sql }) => sql.startsWith('UPDATE lanes SET lease_until'));
    expect(extend?.plan).toEqual(['SEARCH lanes USING PRIMARY KEY (lane=?)']);
  });
});
