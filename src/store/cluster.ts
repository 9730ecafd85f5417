/**
 * What several nodes over one store tell each other; absent if only one process uses the store. As in the store, calls
 * take batches, and times are arguments, except for {@link Cluster.time}, which supplies them.
 */
export interface Cluster {
  /** The store's own wall time in ms: the one clock that all nodes use. */
  time(): Promise<number>;

  /**
   * Records that this node is alive, with its report, and returns every node heard of within {@link FORGOTTEN_MS},
   * itself included, in the order of joining. Removes the others. A node that was heard of in the future, by more than
   * {@link MISSING_MS}, was so before the clock was set back: it counts as heard of now, so that it is missed in time
   * if it has ended.
   */
  beat(node: NodeBeat, now: number): Promise<ClusterNode[]>;

  /** Removes a node that has stopped and given back all that it held. */
  leave(id: string): Promise<void>;

  /** Every node heard of within {@link FORGOTTEN_MS}, in the order of joining. */
  nodes(now: number): Promise<ClusterNode[]>;

  /**
   * Which of these lanes hold due work that another node may have put there. Makes up for a lost {@link Cluster.tell}.
   */
  dueLanes(lanes: readonly string[], now: number): Promise<string[]>;

  /** Tells the holders of these lanes that work waits there. Resolves when it was sent, not when it was heard. */
  tell(lanes: readonly string[]): Promise<void>;

  /**
   * Calls `told` with lanes that other nodes told of, or with null if news may have been missed: then every lane may
   * have work. Returns a function that ends it.
   */
  listen(told: (lanes: readonly string[] | null) => void): () => void;

  /**
   * Adds what this node admitted per key and second, and returns what the others admitted since `sinceSecond` (whole
   * seconds since the epoch). Removes rows older than a minute.
   */
  exchangeRates(node: string, mine: readonly RateUnits[], sinceSecond: number): Promise<RateUnits[]>;
}

/** A node not heard of for this long, in ms, is missing: its lanes are taken, and health reports it. */
export const MISSING_MS = 30_000;

/** After this long, in ms, a missing node no longer counts as one of ours. */
export const FORGOTTEN_MS = 600_000;

/** Longest report of a node, in bytes. */
export const MAX_REPORT_BYTES = 65_536;

/** What a node tells of itself. */
export interface NodeBeat {
  /** New at every start. */
  readonly id: string;
  /** The name that its operators gave it. */
  readonly name: string;
  readonly roles: readonly string[];
  /** The version of the program. */
  readonly version: string;
  /** Wall ms. */
  readonly startedAt: number;
  /**
   * The joining numbers of the nodes that this one shares limits with now; null before it does any work. A joining node
   * starts to send when every sending node shares with it.
   */
  readonly sharesWith: readonly number[] | null;
  /** How many lanes it holds, or leaves to others for a while: the basis of balancing. */
  readonly lanes: number;
  /** What only this node knows of its lanes and relays, for others to show: JSON, at most {@link MAX_REPORT_BYTES}. */
  readonly report: string;
}

/** A node as the others see it. */
export interface ClusterNode extends NodeBeat {
  /** Rises with every node that joins. */
  readonly number: number;
  /** Wall ms. */
  readonly lastSeenAt: number;
}

/** What was admitted of a key's rate in one second. */
export interface RateUnits {
  readonly keyId: string;
  /** Which of the key's windows. */
  readonly window: string;
  /** Whole seconds since the epoch. */
  readonly second: number;
  readonly units: number;
}
