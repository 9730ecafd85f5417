import type { Clock } from '../../lib/clock.ts';
import type { NodeStatus } from '../../observe/health-report.ts';
import { Poll } from '../../observe/poll.ts';
import { type Cluster, type ClusterNode, MISSING_MS, type NodeBeat } from '../../store/cluster.ts';
import { type NodeReport, readReport } from './report.ts';

/** The nodes as seen by one of them. Answers at once, from the last reading. */
export interface NodesSight {
  /** Every node, this one included, in the order of joining. */
  nodes(): readonly NodeStatus[];
  /** The last reports of the other nodes that are not missing. */
  reports(): readonly ToldReport[];
  /** Begins to watch. Resolves with a first answer, or when none arrives in time. */
  start(): Promise<void>;
  stop(): void;
}

/** Another node's report. */
export interface ToldReport extends NodeReport {
  /** Its id. */
  readonly node: string;
}

/** This node, as reported. */
export type OwnNode = Pick<NodeBeat, 'id' | 'name' | 'roles' | 'version'>;

/** How often the list of nodes is read, in ms: others show a node's report within a second. */
const LOOK_MS = 1_000;
/** An answer older than this is stale, in ms. */
const SILENT_MS = 2_000;
/** After the database was silent every node sends a new beat: for this long none is called missing, in ms. */
const SETTLE_MS = 10_000;

/** Watches the nodes of `cluster`; null: there is only this one. */
export function createNodesSight(cluster: Cluster | null, own: OwnNode, clock: Clock): NodesSight {
  return cluster === null ? alone(own, clock) : new ClusterSight(cluster, own, clock);
}

/** The reports of nodes alive at `now` (wall ms), except one. */
export function livingReports(nodes: readonly ClusterNode[], except: string, now: number): ToldReport[] {
  return nodes
    .filter(({ id, lastSeenAt }) => id !== except && now - lastSeenAt < MISSING_MS)
    .map(({ id, report }) => ({ ...readReport(report), node: id }));
}

function alone(own: OwnNode, clock: Pick<Clock, 'wall'>): NodesSight {
  return {
    nodes: () => [statusOf(own, clock.wall(), false)],
    reports: () => [],
    start: async () => {},
    stop() {},
  };
}

class ClusterSight implements NodesSight {
  readonly #own: OwnNode;
  readonly #clock: Clock;
  readonly #poll: Poll<readonly ClusterNode[]>;
  /** Monotonic ms since which the database has answered without interruption; null while it does not. */
  #wellSince: number | null = null;
  /** The last parsed reports, and the answer they are from. */
  #read: { readonly from: readonly ClusterNode[] | null; readonly reports: readonly ToldReport[] };

  constructor(cluster: Cluster, own: OwnNode, clock: Clock) {
    this.#own = own;
    this.#clock = clock;
    this.#read = { from: null, reports: [] };
    this.#poll = new Poll(() => this.#look(cluster), LOOK_MS, clock);
  }

  start(): Promise<void> {
    return this.#poll.start(SILENT_MS);
  }

  stop(): void {
    this.#poll.stop();
  }

  nodes(): readonly NodeStatus[] {
    const now = this.#clock.wall();
    const isSettled = this.#isSettled();
    const seen = this.#poll.latest ?? [];
    const all = seen.map((node) =>
      node.id === this.#own.id
        ? statusOf(this.#own, now, false)
        : statusOf(node, node.lastSeenAt, isSettled && now - node.lastSeenAt >= MISSING_MS),
    );
    return seen.some(({ id }) => id === this.#own.id) ? all : [...all, statusOf(this.#own, now, false)];
  }

  reports(): readonly ToldReport[] {
    if (!this.#poll.answersWithin(SILENT_MS)) return [];
    const { latest } = this.#poll;
    if (latest !== this.#read.from)
      this.#read = { from: latest, reports: livingReports(latest ?? [], this.#own.id, this.#clock.wall()) };
    return this.#read.reports;
  }

  async #look(cluster: Cluster): Promise<readonly ClusterNode[]> {
    const begun = this.#clock.mono();
    try {
      const nodes = await cluster.nodes(this.#clock.wall());
      const isLate = this.#clock.mono() - begun >= SILENT_MS;
      if (isLate || this.#wellSince === null) this.#wellSince = this.#clock.mono();
      return nodes;
    } catch (error) {
      this.#wellSince = null;
      throw error;
    }
  }

  /** Whether a silent node has had the time to report. */
  #isSettled(): boolean {
    if (this.#wellSince === null || !this.#poll.answersWithin(SILENT_MS)) return false;
    return this.#clock.mono() - this.#wellSince >= SETTLE_MS;
  }
}

function statusOf({ id, name, roles, version }: OwnNode, lastSeenAt: number, missing: boolean): NodeStatus {
  return { id, name, roles, version, lastSeenAt, missing };
}
