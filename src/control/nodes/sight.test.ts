import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { type Cluster, type ClusterNode, MISSING_MS } from '../../store/cluster.ts';
import { type NodeReport, writeReport } from './report.ts';
import { createNodesSight, type OwnNode } from './sight.ts';

const OWN: OwnNode = { id: 'a-1', name: 'a', roles: ['api'], version: '1.0.0' };
const REPORT: NodeReport = {
  relays: [{ name: 'out', state: 'open', inflight: 3, refusal: null }],
  lanes: [],
  denied: [],
  happenings: [],
  checks: [],
  certificateEndsAt: null,
  news: {},
};

function other(lastSeenAt: number): ClusterNode {
  const report = writeReport(REPORT);
  return {
    id: 'b-2',
    name: 'b',
    roles: ['delivery'],
    version: '1.0.1',
    startedAt: 0,
    sharesWith: null,
    number: 1,
    lastSeenAt,
    report,
    lanes: 0,
  };
}

/** A list of nodes that a test changes, and how one of them sees it. */
function world() {
  const clock = new ManualClock(Date.UTC(2026, 10, 20));
  const list = { nodes: async (): Promise<ClusterNode[]> => [] };
  const cluster: Pick<Cluster, 'nodes'> = { nodes: () => list.nodes() };
  // Sound because it asks for nothing but the nodes.
  const sight = createNodesSight(cluster as Cluster, OWN, clock);
  onTestFinished(() => sight.stop());
  return { clock, list, sight };
}

test('a process that is alone is the only node there is', () => {
  const clock = new ManualClock(7);
  const sight = createNodesSight(null, OWN, clock);
  expect(sight.nodes()).toEqual([{ ...OWN, lastSeenAt: 7, missing: false }]);
  expect(sight.reports()).toEqual([]);
});

test('every node is seen, this one also before it is in the list', async () => {
  const { clock, list, sight } = world();
  list.nodes = async () => [other(clock.wall())];
  await sight.start();
  expect(sight.nodes().map(({ id, missing }) => [id, missing])).toEqual([
    ['b-2', false],
    ['a-1', false],
  ]);
  expect(sight.reports()).toEqual([{ ...REPORT, node: 'b-2' }]);
});

test('a node is missing once it was silent for long, and its figures are no longer told', async () => {
  const { clock, list, sight } = world();
  const seen = other(clock.wall());
  list.nodes = async () => [seen];
  await sight.start();
  await clock.advance(MISSING_MS - 1);
  expect(sight.nodes()).toMatchObject([{ id: 'b-2', missing: false }, { id: 'a-1' }]);
  expect(sight.reports()).toEqual([{ ...REPORT, node: 'b-2' }]);
  await clock.advance(1001);
  expect(sight.nodes()).toMatchObject([
    { id: 'b-2', missing: true },
    { id: 'a-1', missing: false },
  ]);
  expect(sight.reports()).toEqual([]);
});

test('while the database is away, and until all could beat again, nobody is called missing', async () => {
  const { clock, list, sight } = world();
  const seen = other(clock.wall());
  list.nodes = async () => [seen];
  await sight.start();
  list.nodes = () => Promise.reject(new Error('away'));
  await clock.advance(2 * MISSING_MS);
  expect(sight.nodes()).toMatchObject([{ id: 'b-2', missing: false }, { id: 'a-1' }]);
  expect(sight.reports()).toEqual([]);
  list.nodes = async () => [seen];
  await clock.advance(5_000);
  expect(sight.nodes()).toMatchObject([{ missing: false }, {}]);
  await clock.advance(10_000);
  expect(sight.nodes()).toMatchObject([{ missing: true }, {}]);
});

test('a database that is silent is one that is away', async () => {
  const { clock, list, sight } = world();
  const seen = other(clock.wall());
  list.nodes = async () => [seen];
  await sight.start();
  const hung = Promise.withResolvers<ClusterNode[]>();
  list.nodes = () => hung.promise;
  await clock.advance(2 * MISSING_MS);
  expect(sight.nodes()).toMatchObject([{ missing: false }, {}]);
  expect(sight.reports()).toEqual([]);
  hung.resolve([seen]);
  list.nodes = async () => [seen];
  await clock.advance(5_000);
  expect(sight.nodes()).toMatchObject([{ missing: false }, {}]);
  await clock.advance(10_000);
  expect(sight.nodes()).toMatchObject([{ missing: true }, {}]);
});
