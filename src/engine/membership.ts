import { NOTHING, type Share, WHOLE } from '../domain/share.ts';
import type { Clock } from '../lib/clock.ts';
import { type Cluster, type ClusterNode, MAX_REPORT_BYTES, MISSING_MS } from '../store/cluster.ts';
import { LANE_LEASE_MS, TRUST_MS } from './contract.ts';

/** The role of nodes that send. */
const DELIVERY = 'delivery';

/** Whether a node works lanes. */
function delivers({ roles }: Pick<ClusterNode, 'roles'>): boolean {
  return roles.includes(DELIVERY);
}

/** Whether a node was heard of lately (`now`: wall ms). */
function isThere({ lastSeenAt }: ClusterNode, now: number): boolean {
  return now - lastSeenAt < MISSING_MS;
}

/** The nodes among which what relays allow is divided, by the number of their joining. */
type Numbers = ReadonlySet<number>;

/**
 * Among whom this node divides what relays allow. It holds, whatever nodes come, go or stand still, that every two nodes
 * which send each count the other:
 *
 * - A node counts all that deliver, until they have left, or were silent for as long as a lane's lease lasts: what such a
 *   node had under way has been broken off by then, as its leases had lapsed.
 * - It tells whom it counts (`sharesWith`), somebody new not before what it has under way fits the smaller part. Whom it
 *   counts no more it first tells, and divides without at the next beat, should that one still be silent.
 * - It sends once it has told, and has then read that everybody who tells anything counts it and is counted by it. Of two
 *   that begin at the same time the later to read sees what the earlier one told.
 */
export class Division {
  /** What was told last; it may have been heard though no answer came. */
  #told: Numbers | null = null;
  /** Who was there at the last answer. */
  #counted: Numbers = new Set();
  /** Both of these: among whom it is divided now. */
  #among: Numbers = new Set();
  #number = 0;
  #sends = false;

  /** Whom to tell of with the next beat; null before anything is known. `fits`: what is under way fits our part. */
  tell(fits: boolean): readonly number[] | null {
    if (fits && this.#counted.size > 0) this.#told = this.#counted;
    return this.#told && [...this.#told].sort((a, b) => a - b);
  }

  /** Takes the answer to the beat with which was told what `tell` gave (`now`: wall ms). */
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

  /** Nothing was heard for so long that the others may not count us any more. */
  lapsed(): void {
    this.#sends = false;
  }

  /** Our part of what a relay allows. */
  get share(): Share {
    return this.#sends ? this.reckoned : NOTHING;
  }

  /** The part that we shall have once we may send. */
  get reckoned(): Share {
    const rank = [...this.#among].filter((number) => number < this.#number).length;
    return { rank, of: Math.max(1, this.#among.size) };
  }

  /** Whether everybody knows all there is to know of us. */
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

/** How often a node tells that it lives, in ms. */
const BEAT_MS = 2_000;
/** The same while others wait for what it tells, or it waits for them. */
const SOON_MS = 1_000;

/** What the other nodes are told of this one. */
export interface NodeSelf {
  /** What its operators call it. */
  readonly name: string;
  /** Only with `delivery` among them it works lanes. */
  readonly roles: readonly string[];
  /** Of the program. */
  readonly version: string;
  /** Wall ms. */
  readonly startedAt: number;
  /** What only this node knows, for others to show: JSON of at most {@link MAX_REPORT_BYTES}. */
  report(): string;
}

const NOBODY: NodeSelf = { name: '', roles: [DELIVERY], version: '', startedAt: 0, report: () => '{}' };

/** What being one of several nodes takes. */
interface MembershipDeps {
  readonly clock: Clock;
  /** This process's id; another at every start. */
  readonly node: string;
  /** Null, absent: nobody else uses the store. */
  readonly cluster?: Cluster | null;
  /** Absent: a node that does everything, of which nobody hears. */
  readonly self?: NodeSelf;
  readonly fault: (code: string, error: unknown) => void;
}

/** The rest of the engine, as its membership sees it. */
interface MembershipPeers {
  /** Whether what is under way is within such a part of what relays allow. */
  fits(share: Share): boolean;
  /** Lanes that we hold, or leave to others for a while. */
  laneCount(): number;
  /** Told when our part, the other nodes or our duties have changed. */
  changed(): void;
}

/** One of several nodes: tells the others that it lives, hears who they are, and knows its part of the work. */
export class Membership {
  readonly #deps: MembershipDeps;
  readonly #cluster: Cluster | null;
  readonly #self: NodeSelf;
  readonly #peers: MembershipPeers;
  readonly #division = new Division();
  #nodes: readonly ClusterNode[] = [];
  /** When the last beat began that was answered (monotonic ms). */
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

  /** Our part of what relays allow all nodes together. */
  get share(): Share {
    if (this.#cluster === null) return WHOLE;
    return this.#deps.clock.mono() < this.trustedUntil(Number.POSITIVE_INFINITY)
      ? this.#division.share
      : NOTHING;
  }

  /** Whether we may have a part at all: the others count us. */
  get sends(): boolean {
    return this.share !== NOTHING;
  }

  /**
   * Until when (monotonic ms) a lease is trusted that was granted or extended at `since`: no longer than the others count
   * us, who did not hear of us since.
   */
  trustedUntil(since: number): number {
    return (this.#cluster === null ? since : Math.min(since, this.#heardAt)) + TRUST_MS;
  }

  /** Whether it is for this node to do what one of them is enough for. */
  get isFirst(): boolean {
    if (this.#cluster === null) return true;
    const there = this.#nodes.filter((node) => isThere(node, this.#deps.clock.wall()));
    const first = there.find(delivers) ?? there[0];
    return first === undefined || first.id === this.#deps.node;
  }

  /** The other nodes that work lanes, as they were last heard of. */
  others(): readonly ClusterNode[] {
    const now = this.#deps.clock.wall();
    return this.#nodes.filter(
      (node) =>
        node.id !== this.#deps.node && delivers(node) && node.sharesWith !== null && isThere(node, now),
    );
  }

  /** Joins the others: a node that is alone may work at once. Rejects with `StoreError`. */
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
        // Told once: it is tried again every two seconds, for as long as the store is away.
        if (!this.#isFailing) fault('beat_failed', error);
        this.#isFailing = true;
      }
      this.#tellPeers();
    }
  }

  /** Tells and hears. Rejects with `StoreError`. */
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
      // They find out by its silence.
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

/** A report that is too long is of no use to anybody, and keeps nobody from hearing that we live. */
function reportOf(self: NodeSelf): string {
  const report = self.report();
  return Buffer.byteLength(report) > MAX_REPORT_BYTES ? '{}' : report;
}
