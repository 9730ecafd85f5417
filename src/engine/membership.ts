import { NOTHING, type Share, WHOLE } from '../domain/share.ts';
import type { Clock } from '../lib/clock.ts';
import { type Cluster, type ClusterNode, MAX_REPORT_BYTES, MISSING_MS } from '../store/cluster.ts';
import { LANE_LEASE_MS, TRUST_MS } from './contract.ts';

/** The role of nodes that deliver. */
const DELIVERY = 'delivery';

/** Whether a node works lanes. */
function delivers({ roles }: Pick<ClusterNode, 'roles'>): boolean {
  return roles.includes(DELIVERY);
}

/** Whether a node was heard of recently (`now`: wall ms). */
function isThere({ lastSeenAt }: ClusterNode, now: number): boolean {
  return now - lastSeenAt < MISSING_MS;
}

/** The nodes that share the relays' limits, by their joining numbers. */
type Numbers = ReadonlySet<number>;

/**
 * The nodes among which this node divides the relays' limits. Whatever nodes come, go or stall, any two nodes that send
 * count each other:
 *
 * - A node counts every node that delivers until it has left, or was silent for as long as a lane lease lasts: by then
 *   its leases have lapsed, and what it had under way was interrupted.
 * - A node tells the others whom it counts (`sharesWith`). It adds a newcomer only once its own work fits the smaller
 *   share. It first tells whom it no longer counts, and drops that node at the next beat if it is still silent.
 * - A node sends once it has told this, and has then read that every node which tells anything counts it and is counted
 *   by it. If two start at once, the later one to read sees what the earlier one told.
 */
export class Division {
  /** What was told last; it may have been heard even if no answer came. */
  #told: Numbers | null = null;
  /** The nodes counted at the last answer. */
  #counted: Numbers = new Set();
  /** Both of these: the nodes among which limits are divided now. */
  #among: Numbers = new Set();
  #number = 0;
  #sends = false;

  /** Whom the next beat should list; null before anything is known. `fits`: what is under way fits our share. */
  tell(fits: boolean): readonly number[] | null {
    if (fits && this.#counted.size > 0) this.#told = this.#counted;
    return this.#told && [...this.#told].sort((a, b) => a - b);
  }

  /** Takes the answer to the beat that sent the result of `tell` (`now`: wall ms). */
  heard(nodes: readonly ClusterNode[], id: string, now: number): void {
    const me = nodes.find((node) => node.id === id);
    if (me === undefined || me.number !== this.#number) this.#sends = false;
    if (me === undefined) return;
    this.#number = me.number;
    const others = nodes.filter(
      (node) => node !== me && delivers(node) && now - node.lastSeenAt < LANE_LEASE_MS,
    );
    this.#counted = new Set([me, ...others].map(({ number }) => number));
    this.#among = new Set([...this.#counted, ...(this.#told ?? [])]);
    this.#sends ||= this.#told?.has(me.number) === true && others.every((other) => this.#isMutual(other));
  }

  /** We heard nothing for so long that the others may no longer count us. */
  lapsed(): void {
    this.#sends = false;
  }

  /** Our share of the relays' limits. */
  get share(): Share {
    return this.#sends ? this.reckoned : NOTHING;
  }

  /** The share that we will have once we may send. */
  get reckoned(): Share {
    const rank = [...this.#among].filter((number) => number < this.#number).length;
    return { rank, of: Math.max(1, this.#among.size) };
  }

  /** Whether all nodes have told all there is to tell. */
  get isSettled(): boolean {
    const told = this.#told ?? new Set();
    return (
      this.#sends && told.size === this.#counted.size && [...told].every((one) => this.#counted.has(one))
    );
  }

  #isMutual({ number, sharesWith }: ClusterNode): boolean {
    return sharesWith === null || (sharesWith.includes(this.#number) && this.#told?.has(number) === true);
  }
}

/** How often a node reports that it is alive, in ms. */
const BEAT_MS = 2_000;
/** The same while nodes wait for each other's news. */
const SOON_MS = 1_000;

/** What the other nodes are told of this one. */
export interface NodeSelf {
  /** The name that its operators gave it. */
  readonly name: string;
  /** It works lanes only if `delivery` is among them. */
  readonly roles: readonly string[];
  /** The version of the program. */
  readonly version: string;
  /** Wall ms. */
  readonly startedAt: number;
  /** What only this node knows, for others to show: JSON of at most {@link MAX_REPORT_BYTES}. */
  report(): string;
}

const NOBODY: NodeSelf = { name: '', roles: [DELIVERY], version: '', startedAt: 0, report: () => '{}' };

interface MembershipDeps {
  readonly clock: Clock;
  /** This process's id, new at every start. */
  readonly node: string;
  /** Null or absent: nobody else uses the store. */
  readonly cluster?: Cluster | null;
  /** Absent: a node that does everything and reports nothing. */
  readonly self?: NodeSelf;
  readonly fault: (code: string, error: unknown) => void;
}

/** The other parts of the engine that membership uses. */
interface MembershipPeers {
  /** Whether what is under way fits such a share of the relays' limits. */
  fits(share: Share): boolean;
  /** Number of lanes that we hold, or leave to others for a while. */
  laneCount(): number;
  /** Called when our share, the other nodes or our duties have changed. */
  changed(): void;
}

/** This node as one of several: reports that it is alive, hears of the others, and knows its share of the work. */
export class Membership {
  readonly #deps: MembershipDeps;
  readonly #cluster: Cluster | null;
  readonly #self: NodeSelf;
  readonly #peers: MembershipPeers;
  readonly #division = new Division();
  #nodes: readonly ClusterNode[] = [];
  /** When the last answered beat began (monotonic ms). */
  #heardAt = Number.NEGATIVE_INFINITY;
  #isFailing = false;
  /** What the peers were last told of. */
  #known = '';

  constructor(deps: MembershipDeps, peers: MembershipPeers) {
    this.#deps = deps;
    this.#cluster = deps.cluster ?? null;
    this.#self = deps.self ?? NOBODY;
    this.#peers = peers;
  }

  /** Whether this node works lanes. */
  get delivers(): boolean {
    return delivers(this.#self);
  }

  /** Whether there may be other nodes. */
  get isShared(): boolean {
    return this.#cluster !== null;
  }

  /** Our share of the limits that relays set for all nodes together. */
  get share(): Share {
    if (this.#cluster === null) return WHOLE;
    return this.#deps.clock.mono() < this.trustedUntil(Number.POSITIVE_INFINITY)
      ? this.#division.share
      : NOTHING;
  }

  /** Whether we may have a share at all: the others count us. */
  get sends(): boolean {
    return this.share !== NOTHING;
  }

  /**
   * Until when (monotonic ms) to trust a lease granted or extended at `since`: no longer than the others count us
   * without news of us.
   */
  trustedUntil(since: number): number {
    return (this.#cluster === null ? since : Math.min(since, this.#heardAt)) + TRUST_MS;
  }

  /** Whether this node does the duties for which one node is enough. */
  get isFirst(): boolean {
    if (this.#cluster === null) return true;
    const there = this.#nodes.filter((node) => isThere(node, this.#deps.clock.wall()));
    const first = there.find(delivers) ?? there[0];
    return first === undefined || first.id === this.#deps.node;
  }

  /** The other nodes that work lanes, as last heard. */
  others(): readonly ClusterNode[] {
    const now = this.#deps.clock.wall();
    return this.#nodes.filter(
      (node) =>
        node.id !== this.#deps.node && delivers(node) && node.sharesWith !== null && isThere(node, now),
    );
  }

  /** Joins the other nodes; a node that is alone may work at once. Rejects with `StoreError`. */
  async join(): Promise<void> {
    if (this.#cluster === null) return;
    await this.beat();
    await this.beat();
  }

  /** Beats until `stopping` aborts. Resolves when stopped. */
  async run(stopping: AbortSignal): Promise<void> {
    const { clock, fault } = this.#deps;
    if (this.#cluster === null) return;
    while (!stopping.aborted) {
      const isBusy = this.delivers && !this.#division.isSettled;
      await clock.sleep(isBusy ? SOON_MS : BEAT_MS, stopping);
      if (stopping.aborted) return;
      try {
        await this.beat();
        this.#isFailing = false;
      } catch (error) {
        // Reported once, though it is retried every two seconds while the store is unavailable.
        if (!this.#isFailing) fault('beat_failed', error);
        this.#isFailing = true;
      }
      this.#tellPeers();
    }
  }

  /** Reports and reads once. Rejects with `StoreError`. */
  async beat(): Promise<void> {
    const { clock, node } = this.#deps;
    if (this.#cluster === null) return;
    const begunAt = clock.mono();
    const { name, roles, version, startedAt } = this.#self;
    const sharesWith = this.delivers ? this.#division.tell(this.#peers.fits(this.#division.reckoned)) : null;
    const about = { id: node, name, roles, version, startedAt, sharesWith };
    const told = { ...about, report: reportOf(this.#self), lanes: this.#peers.laneCount() };
    const nodes = await this.#cluster.beat(told, clock.wall());
    if (begunAt - this.#heardAt >= TRUST_MS) this.#division.lapsed();
    this.#heardAt = begunAt;
    this.#nodes = nodes;
    this.#division.heard(nodes, node, clock.wall());
    this.#tellPeers();
  }

  /** Tells the others that this node has ended. Nothing may be under way any more. */
  async leave(): Promise<void> {
    try {
      await this.#cluster?.leave(this.#deps.node);
    } catch (error) {
      // The others notice the silence.
      this.#deps.fault('leave_failed', error);
    }
  }

  #tellPeers(): void {
    const { rank, of } = this.share;
    const known = JSON.stringify([rank, of, this.isFirst, this.others().map(({ id }) => id)]);
    if (known === this.#known) return;
    this.#known = known;
    this.#peers.changed();
  }
}

/** An oversized report is dropped, so that the others still hear that we are alive. */
function reportOf(self: NodeSelf): string {
  const report = self.report();
  return Buffer.byteLength(report) > MAX_REPORT_BYTES ? '{}' : report;
}
