import { expect, test } from 'vitest';
import { shareOf } from '../domain/share.ts';
import { type Random, seededRandom } from '../lib/random.ts';
import type { ClusterNode } from '../store/cluster.ts';
import { LANE_LEASE_MS, TRUST_MS } from './contract.ts';
import { Division } from './membership.ts';

/** What all nodes may have together. */
const LIMIT = 7;

/** The nodes' rows, in a table that answers late. */
class Table {
  now = 0;
  readonly rows = new Map<string, ClusterNode>();
  #number = 0;

  write(id: string, sharesWith: readonly number[] | null, lastSeenAt: number): void {
    const number = this.rows.get(id)?.number ?? ++this.#number;
    const about = { name: id, roles: ['delivery'], version: '1', startedAt: 0, report: '{}', lanes: 0 };
    this.rows.set(id, { ...about, id, number, sharesWith, lastSeenAt });
  }
}

/** A node that beats as an engine does, and has as much under way as it may, or less. */
class Node {
  readonly id: string;
  readonly #table: Table;
  readonly #division = new Division();
  #heardAt = Number.NEGATIVE_INFINITY;
  #begunAt = 0;
  #read: readonly ClusterNode[] | null = null;
  #isWritten = false;
  underWay = 0;

  constructor(id: string, table: Table) {
    this.id = id;
    this.#table = table;
  }

  get isTrusted(): boolean {
    return this.#table.now < this.#heardAt + TRUST_MS;
  }

  get most(): number {
    return this.isTrusted ? shareOf(LIMIT, this.#division.share) : 0;
  }

  /** The next step of a beat: it is begun and written, read, or its answer taken. */
  step(isLost: boolean): void {
    const { now, rows } = this.#table;
    if (!this.#isWritten) {
      this.#begunAt = now;
      const sharesWith = this.#division.tell(this.underWay <= shareOf(LIMIT, this.#division.reckoned));
      this.#table.write(this.id, sharesWith, now);
      this.#isWritten = true;
    } else if (this.#read === null) this.#read = [...rows.values()].sort((a, b) => a.number - b.number);
    else {
      if (!isLost) {
        if (this.#begunAt - this.#heardAt >= TRUST_MS) this.#division.lapsed();
        this.#heardAt = this.#begunAt;
        this.#division.heard(this.#read, this.id, now);
      }
      this.#read = null;
      this.#isWritten = false;
    }
  }

  /** Attempts begin as far as they may, and end; those under leases that lapsed are broken off. */
  work(dice: Random): void {
    if (!this.isTrusted) this.underWay = 0;
    else if (dice.next() < 0.5) this.underWay = Math.max(this.underWay, this.most);
    else this.underWay = Math.max(0, this.underWay - Math.floor(dice.next() * 3));
  }
}

const SEEDS = Array.from({ length: 40 }, (_, seed) => seed + 1);

test.each(SEEDS)('seed %i: whoever comes, goes or stands still, all of them keep to the limit', (seed) => {
  const dice = seededRandom(seed);
  const table = new Table();
  let nodes: Node[] = [];
  const paused = new Map<Node, number>();
  let born = 0;
  let all = 0;
  for (let turn = 0; turn < 3_000; turn++) {
    table.now += dice.next() * 400;
    if (nodes.length === 0 || (nodes.length < 5 && dice.next() < 0.003))
      nodes.push(new Node(`n${++born}`, table));
    const node = nodes[Math.floor(dice.next() * nodes.length)];
    if (node === undefined) continue;
    const roll = dice.next();
    if (roll < 0.001) {
      // It ends, cleanly or not: what it had under way is gone either way.
      if (dice.next() < 0.5) table.rows.delete(node.id);
      nodes = nodes.filter((one) => one !== node);
      continue;
    }
    if (roll < 0.004) paused.set(node, table.now + dice.next() * 3 * LANE_LEASE_MS);
    if ((paused.get(node) ?? 0) > table.now) continue;
    node.step(dice.next() < 0.03);
    for (const one of nodes) if ((paused.get(one) ?? 0) <= table.now) one.work(dice);
    // What stands still has its connections broken off by then, or goes on with them for a moment: that is the hop's to see.
    const sum = nodes.filter((one) => one.isTrusted).reduce((total, { underWay }) => total + underWay, 0);
    expect(sum, `turn ${turn}`).toBeLessThanOrEqual(LIMIT);
    if (sum === LIMIT) all++;
  }
  expect(all, 'the limit is used, too').toBeGreaterThan(100);
});
