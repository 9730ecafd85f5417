import {
  type Cluster,
  type ClusterNode,
  FORGOTTEN_MS,
  MISSING_MS,
  type RateUnits,
} from '../../src/store/cluster.ts';
import { StoreError } from '../../src/store/store.ts';
import type { Views } from '../../src/store/views.ts';
import type { NodeLife, VirtualTime } from './virtual-clock.ts';

/** How long rates are kept, in seconds. */
const RATES_SECONDS = 60;
/** More lanes than the store's view of lanes ever gives in a test. */
const ALL_LANES = 100_000;

/** What nodes tell each other, in the memory of a test: as durable as the test itself. */
export class MemoryCluster {
  readonly #views: Views;
  readonly #wall: () => number;
  readonly #nodes = new Map<string, ClusterNode>();
  readonly #ears = new Map<object, (lanes: readonly string[] | null) => void>();
  #rates: (RateUnits & { readonly node: string })[] = [];
  #number = 0;

  /** `views` of the store that the nodes share; `wall`: the time that is right. */
  constructor(views: Views, wall: () => number) {
    this.#views = views;
    this.#wall = wall;
  }

  /** The door of one more node. */
  door(): Cluster {
    const self = {};
    return {
      time: async () => this.#wall(),
      beat: async (node, now) => {
        const number = this.#nodes.get(node.id)?.number ?? ++this.#number;
        this.#nodes.set(node.id, { ...node, number, lastSeenAt: now });
        for (const [id, told] of this.#nodes)
          if (told.lastSeenAt < now - FORGOTTEN_MS) this.#nodes.delete(id);
          else if (told.lastSeenAt > now + MISSING_MS) this.#nodes.set(id, { ...told, lastSeenAt: now });
        return this.#there(now);
      },
      leave: async (id) => void this.#nodes.delete(id),
      nodes: async (now) => this.#there(now),
      dueLanes: async (lanes, now) => {
        const depths = await this.#views.lanes(null, ALL_LANES);
        const due = depths.filter(
          ({ waiting, oldestDueAt }) => waiting > 0 && (oldestDueAt ?? now + 1) <= now,
        );
        const names = new Set(due.map(({ lane }) => lane));
        return lanes.filter((lane) => names.has(lane));
      },
      tell: async (lanes) => {
        for (const [whose, told] of this.#ears) if (whose !== self) told([...lanes]);
      },
      listen: (told) => {
        this.#ears.set(self, told);
        told(null);
        return () => this.#ears.delete(self);
      },
      exchangeRates: async (node, mine, sinceSecond) => {
        this.#rates.push(...mine.map((units) => ({ ...units, node })));
        this.#rates = this.#rates.filter(({ second }) => second >= sinceSecond - RATES_SECONDS);
        const sums = new Map<string, RateUnits>();
        for (const { node: whose, keyId, window, second, units } of this.#rates) {
          if (whose === node || second < sinceSecond) continue;
          const name = JSON.stringify([keyId, window, second]);
          sums.set(name, { keyId, window, second, units: units + (sums.get(name)?.units ?? 0) });
        }
        return [...sums.values()];
      },
    };
  }

  #there(now: number): ClusterNode[] {
    return [...this.#nodes.values()]
      .filter(({ lastSeenAt }) => lastSeenAt >= now - FORGOTTEN_MS)
      .sort((one, other) => one.number - other.number);
  }
}

/** The door of a node that dies, freezes and is cut off. */
export function doorOf(cluster: MemoryCluster, life: NodeLife, time: VirtualTime): Cluster {
  const door = cluster.door();
  const way = {
    get isCut() {
      return life.isCutOff;
    },
    running: () => life.running(),
    // What is not cut is quick: to let these calls take time, too, would only take ours.
    sleep: (ms: number) => (life.isCutOff ? time.sleep(ms) : Promise.resolve()),
  };
  const heard = (told: (lanes: readonly string[] | null) => void) =>
    door.listen((lanes) => {
      if (!life.dead && !life.isCutOff) void life.running().then(() => told(lanes));
    });
  return overWay({ ...door, listen: heard }, way);
}

/** How a node's way to the store is. */
export interface StoreWay {
  /** Every call waits until it is mended, and fails then. */
  isCut: boolean;
  /** Resolves when the node's process runs. */
  running(): Promise<void>;
  /** Waits for some of the world's time. */
  sleep(ms: number): Promise<void>;
}

/** A cut is noticed after so long, in ms: as long as a statement may take. */
const NOTICED_MS = 30_000;
/** A call and its answer take so long, in ms. */
const CALL_MS = 2;

/** What is behind `inner` as a node sees it: calls take time, never return to the dead, and fail while the way is cut. */
export function overWay<T extends object>(inner: T, way: StoreWay): T {
  const call = async (work: () => unknown): Promise<unknown> => {
    await way.sleep(CALL_MS);
    await way.running();
    if (way.isCut) return await lost(way);
    const answer: unknown = await work();
    await way.sleep(CALL_MS);
    await way.running();
    return way.isCut ? await lost(way) : answer;
  };
  return new Proxy(inner, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function' || name === 'listen') return method;
      return (...args: readonly unknown[]) => call(() => method.apply(target, args));
    },
  });
}

async function lost(way: StoreWay): Promise<never> {
  await way.sleep(NOTICED_MS);
  await way.running();
  throw new StoreError('store_unavailable', 'simulated: the way to the store is cut');
}
