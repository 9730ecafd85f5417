import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Cluster, NodeBeat } from '../../src/store/cluster.ts';
import { FORGOTTEN_MS } from '../../src/store/cluster.ts';
import type { Store } from '../../src/store/store.ts';
import { at, DAY, message, recipient, T0 } from './store/fixtures.ts';

/** What several nodes over one store use; `door` gives one more of them its own. */
export interface ClusterSubject {
  readonly store: Store;
  door(): Promise<Cluster>;
  close(): Promise<void>;
}

/** A beat of a node that does everything. */
function beatOf(id: string, change: Partial<NodeBeat> = {}): NodeBeat {
  const about = { name: `name of ${id}`, roles: ['api', 'delivery'], version: '1.2.3', startedAt: T0 - 9 };
  return { id, ...about, sharesWith: null, lanes: 0, report: '{}', ...change };
}

/** What `Cluster` promises, held against one implementation. */
export function clusterLaws(name: string, open: () => Promise<ClusterSubject>): void {
  describe(name, () => {
    let subject: ClusterSubject;
    let one: Cluster;
    let other: Cluster;
    beforeEach(async () => {
      subject = await open();
      one = await subject.door();
      other = await subject.door();
    });
    afterEach(() => subject.close());

    const idsOf = (nodes: readonly { readonly id: string }[]) => nodes.map(({ id }) => id);

    it('gives what every node told last, in the order in which they joined', async () => {
      const told = beatOf('b', { sharesWith: [7, 8], lanes: 12, report: '{"a":"ü"}' });
      await one.beat(beatOf('b'), T0);
      await other.beat(beatOf('a'), T0 + 1);
      const nodes = await one.beat(told, T0 + 2);
      expect(nodes).toEqual([
        { ...told, number: expect.any(Number), lastSeenAt: T0 + 2 },
        { ...beatOf('a'), number: expect.any(Number), lastSeenAt: T0 + 1 },
      ]);
      expect(nodes[1]?.number).toBeGreaterThan(nodes[0]?.number ?? 0);
      expect(await other.nodes(T0 + 3)).toEqual(nodes);
    });

    it('sees in the answer to a beat whatever was told before it', async () => {
      // Of two that begin at the same time one at least must see the other.
      for (let turn = 0; turn < 20; turn++) {
        const ids = [`x${turn}`, `y${turn}`];
        const [mine, yours] = await Promise.all([
          one.beat(beatOf(ids[0] ?? ''), T0 + turn),
          other.beat(beatOf(ids[1] ?? ''), T0 + turn),
        ]);
        const seen = [idsOf(mine).includes(ids[1] ?? ''), idsOf(yours).includes(ids[0] ?? '')];
        expect(seen).toContain(true);
      }
    });

    it('forgets who leaves at once, and who is silent for long', async () => {
      await one.beat(beatOf('a'), T0);
      await other.beat(beatOf('b'), T0);
      await other.leave('b');
      expect(idsOf(await one.nodes(T0))).toEqual(['a']);
      await other.beat(beatOf('c'), T0 + FORGOTTEN_MS);
      expect(idsOf(await one.nodes(T0 + FORGOTTEN_MS))).toEqual(['a', 'c']);
      expect(idsOf(await one.nodes(T0 + FORGOTTEN_MS + 1))).toEqual(['c']);
      const [first] = await one.nodes(T0);
      await other.beat(beatOf('c'), T0 + DAY);
      const nodes = await one.beat(beatOf('a'), T0 + DAY);
      expect(idsOf(nodes), 'as one that joins').toEqual(['c', 'a']);
      expect(nodes[1]?.number).not.toBe(first?.number);
    });

    it('counts who was heard of before the clock was set back from now on', async () => {
      const hourAgo = T0 - 3_600_000;
      await one.beat(beatOf('ended'), T0);
      await other.beat(beatOf('alive'), hourAgo);
      const seenAt = async (now: number) =>
        (await one.nodes(now)).map(({ id, lastSeenAt }) => [id, lastSeenAt - hourAgo]);
      expect(await seenAt(hourAgo)).toEqual([
        ['ended', 0],
        ['alive', 0],
      ]);
      await other.beat(beatOf('alive'), hourAgo + FORGOTTEN_MS + 1);
      expect(await seenAt(hourAgo + FORGOTTEN_MS + 1)).toEqual([['alive', FORGOTTEN_MS + 1]]);
    });

    it('names of the lanes that are asked for those with something due', async () => {
      const lane = (lane: string, dueAt: number) =>
        message({ deliveries: [recipient({ lane, relay: lane, dueAt })] });
      await subject.store.accept([lane('due', T0), lane('later', T0 + 10), lane('unasked', T0)], at());
      const due = async (ms: number) => (await one.dueLanes(['due', 'later', 'empty'], T0 + ms)).toSorted();
      expect(await due(9)).toEqual(['due']);
      expect(await due(10)).toEqual(['due', 'later']);
      expect(await one.dueLanes([], T0 + 10)).toEqual([]);
    });

    it('tells others, and not the one that tells', async () => {
      const heard: [string, readonly string[] | null][] = [];
      const ends = [
        one.listen((lanes) => heard.push(['one', lanes])),
        other.listen((lanes) => heard.push(['other', lanes])),
      ];
      // Whoever begins to listen may have missed something.
      await vi.waitUntil(() => heard.filter(([, lanes]) => lanes === null).length === 2, { timeout: 60_000 });
      await one.tell(['a', 'mx/b.example']);
      await vi.waitUntil(() => heard.length === 3, { timeout: 60_000 });
      expect(heard.at(-1)).toEqual(['other', ['a', 'mx/b.example']]);
      for (const end of ends) end();
    });

    it('adds up what the others let through, by key, window and second', async () => {
      const second = Math.floor(T0 / 1_000);
      const units = (units: number, ago = 0, keyId = 'k') => ({
        keyId,
        window: 'send',
        second: second - ago,
        units,
      });
      await one.exchangeRates('a', [units(2), units(3, 1)], second - 60);
      await one.exchangeRates('a', [units(4)], second - 60);
      const answer = await other.exchangeRates('b', [units(9), units(1, 0, 'own')], second - 60);
      const byTime = answer.toSorted((x, y) => y.second - x.second);
      expect(byTime).toEqual([units(6), units(3, 1)]);
      expect(await other.exchangeRates('b', [], second), 'since').toEqual([units(6)]);
    });
  });
}
