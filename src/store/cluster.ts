/**
 * What several nodes over one store tell each other. A store that only one process uses has none of it. Like the
 * store's, its calls take batches, and times are arguments, but for {@link Cluster.time}, which they come from.
 */
export interface Cluster {
  /** The store's own wall time in ms: the one clock that all nodes go by. */
  time(): Promise<number>;

  /**
   * Writes that this node lives and what it tells of itself, and gives every node, itself included, that was heard of within
   * {@link FORGOTTEN_MS}, in the order in which they joined. Nodes that were not are removed.
   */
  beat(node: NodeBeat, now: number): Promise<ClusterNode[]>;

  /** Removes a node that ends: it was told to stop, and has given back what it held. */
  leave(id: string): Promise<void>;

  /** Every node that was heard of within {@link FORGOTTEN_MS}, in the order in which they joined. */
  nodes(now: number): Promise<ClusterNode[]>;

  /**
   * Lanes of these that hold work which is due: somebody else may have put it there. The guarantee behind
   * {@link Cluster.tell}, which may be lost.
   */
  dueLanes(lanes: readonly string[], now: number): Promise<string[]>;

  /** Tells whoever holds these lanes that something waits there. Resolves when it was said, not when it was heard. */
  tell(lanes: readonly string[]): Promise<void>;

  /**
   * Calls `told` with lanes that other nodes told of; with null when something may have been missed: every lane may
   * have work then. Returns what ends it.
   */
  listen(told: (lanes: readonly string[] | null) => void): () => void;

  /**
   * Adds what this node let through per key and second, and gives what the others did since `sinceSecond` (whole
   * seconds since the epoch). Rows older than a minute are removed.
   */
  exchangeRates(node: string, mine: readonly RateUnits[], sinceSecond: number): Promise<RateUnits[]>;
}

/** A node that has not been heard of for so long, in ms, is missing: its lanes are taken, and health says so. */
export const MISSING_MS = 30_000;

/** After so long, in ms, a missing node is no longer one of ours. */
export const FORGOTTEN_MS = 600_000;

/** How long what a node reports may be, in bytes. */
export const MAX_REPORT_BYTES = 65_536;

/** What a node tells of itself. */
export interface NodeBeat {
  /** Another at every start. */
  readonly id: string;
  /** What its operators call it. */
  readonly name: string;
  readonly roles: readonly string[];
  /** Of the program. */
  readonly version: string;
  /** Wall ms. */
  readonly startedAt: number;
  /**
   * The nodes, by the numbers of their joining, among which this one shares limits at this moment; null before it does
   * any work. A node that joins begins to send when all that send share with it.
   */
  readonly sharesWith: readonly number[] | null;
  /** How many lanes it holds, or leaves to others for a while: what the balance between nodes goes by. */
  readonly lanes: number;
  /** What only this node knows of its lanes and relays, for others to show: JSON of at most {@link MAX_REPORT_BYTES}. */
  readonly report: string;
}

/** A node as the others see it. */
export interface ClusterNode extends NodeBeat {
  /** Rises with every node that joins. */
  readonly number: number;
  /** Wall ms. */
  readonly lastSeenAt: number;
}

/** What was let through of a key's rate in one second. */
export interface RateUnits {
  readonly keyId: string;
  /** Which of the key's windows. */
  readonly window: string;
  /** Whole seconds since the epoch. */
  readonly second: number;
  readonly units: number;
}
