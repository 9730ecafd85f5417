import { NOTHING, type Share } from '../domain/share.ts';
import { type ClusterNode, MISSING_MS } from '../store/cluster.ts';
import { LANE_LEASE_MS } from './settings.ts';

/** The role of nodes that send. */
export const DELIVERY = 'delivery';

/** Whether a node works lanes. */
export function delivers({ roles }: Pick<ClusterNode, 'roles'>): boolean {
  return roles.includes(DELIVERY);
}

/** Whether a node was heard of lately (`now`: wall ms). */
export function isThere({ lastSeenAt }: ClusterNode, now: number): boolean {
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
