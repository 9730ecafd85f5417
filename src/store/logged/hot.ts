import type { LaneLease } from '../../domain/lane.ts';
import type { AcceptRecord } from '../accepting.ts';
import type { UnitRef } from '../leased.ts';
import type { Stamp, Store, Unit } from '../store.ts';

/** A leased delivery, until its attempt is settled. */
export interface HotDelivery {
  readonly lane: string;
  readonly fence: number;
  /** When its attempt began (wall ms); null if it has not begun. */
  begunAt: number | null;
  readonly address: string;
  /**
   * How often the suppression list had changed when nothing in it stopped this recipient; -1: nobody has looked.
   */
  readonly clearAt: number;
}

/** The leased deliveries of a message, by their places in the envelope. */
export type HotMessage = Map<number, HotDelivery>;

/** A claim that the database has not answered, and what was left to the database since. */
interface Claiming {
  readonly messages: Set<string>;
  lanes: boolean;
}

/** The holder of a lane. */
interface Hold {
  readonly fence: number;
  readonly node: string;
  /** Wall ms. */
  readonly until: number;
}

/**
 * What the log's store knows without asking the database: leased mail, and the leases of lanes. Its size is that of the
 * work under way. It may miss something, and then the database is asked; it is never wrong.
 */
export class HotTable {
  readonly #messages = new Map<string, HotMessage>();
  readonly #holds = new Map<string, Hold>();
  /** No lease ends before this time (wall ms). */
  #firstEnd = Number.POSITIVE_INFINITY;
  /** How often something was left to the database. */
  #left = 0;
  #ended = 0;
  readonly #claims = new Set<Claiming>();

  /** How many leases have ended. */
  get ended(): number {
    return this.#ended;
  }

  /** How many messages are hot. */
  get size(): number {
    return this.#messages.size;
  }

  /**
   * Adds a message that is being accepted, whose recipients nothing stopped when the list had changed `clearAt` times.
   * Returns for each delivery whether it took the short way.
   */
  enter({ id, deliveries }: AcceptRecord, clearAt: number, at: Stamp): boolean[] {
    const message: HotMessage = new Map();
    const leased = deliveries.map(({ lane, fence, dueAt, recipient }, index) => {
      const isLeased = lane !== null && fence !== null && dueAt <= at.now && this.holds({ lane, fence }, at);
      if (isLeased) message.set(index, { lane, fence, begunAt: null, address: recipient.address, clearAt });
      return isLeased;
    });
    if (message.size > 0) this.#messages.set(id, message);
    return leased;
  }

  /**
   * A claim is sent to the database; pass its units to the returned function (none if it fails). What was cancelled or
   * given back meanwhile is left to the database, which may have done that after the claim.
   */
  claiming(): (units: readonly Unit[]) => void {
    const claiming: Claiming = { messages: new Set(), lanes: false };
    this.#claims.add(claiming);
    return (units) => {
      this.#claims.delete(claiming);
      if (claiming.lanes) return;
      for (const unit of units) if (!claiming.messages.has(unit.messageId)) this.#enterClaimed(unit);
    };
  }

  #enterClaimed({ messageId, lane, fence, deliveries }: Unit): void {
    if (this.#holds.get(lane)?.fence !== fence) return;
    const message = this.#messages.get(messageId) ?? new Map<number, HotDelivery>();
    for (const { index, recipient } of deliveries)
      message.set(index, { lane, fence, begunAt: null, address: recipient.address, clearAt: -1 });
    this.#messages.set(messageId, message);
  }

  /** The deliveries of a unit, if it has any, and all of them are hot under its lane and fence. */
  find({ messageId, lane, fence, indexes }: UnitRef): HotDelivery[] | null {
    const message = this.#messages.get(messageId);
    if (message === undefined || indexes.length === 0) return null;
    const found: HotDelivery[] = [];
    for (const index of indexes) {
      const delivery = message.get(index);
      if (delivery?.lane !== lane || delivery.fence !== fence) return null;
      found.push(delivery);
    }
    return found;
  }

  /** The deliveries of all these units, as `find` finds them; null if one is missing. */
  findAll(units: readonly UnitRef[]): HotDelivery[] | null {
    const all: HotDelivery[] = [];
    for (const unit of units) {
      const found = this.find(unit);
      if (found === null) return null;
      all.push(...found);
    }
    return all;
  }

  /**
   * Removes the deliveries of a unit that `find` has found; returns a function that puts them back. It does nothing if
   * anything was left to the database meanwhile, since they may be among that.
   */
  takeOut({ messageId, indexes }: UnitRef): () => void {
    const message = this.#messages.get(messageId) ?? new Map<number, HotDelivery>();
    const taken = indexes.flatMap((index) => {
      const delivery = message.get(index);
      message.delete(index);
      return delivery === undefined ? [] : [[index, delivery] as const];
    });
    if (message.size === 0) this.#messages.delete(messageId);
    const left = this.#left;
    return () => {
      if (left !== this.#left || taken.length === 0) return;
      for (const [index, delivery] of taken) message.set(index, delivery);
      this.#messages.set(messageId, message);
    };
  }

  /** Leaves messages to the database. */
  forget(ids: Iterable<string>): void {
    this.#left++;
    for (const id of ids) {
      this.#messages.delete(id);
      for (const claiming of this.#claims) claiming.messages.add(id);
    }
  }

  /** Whether the node of the stamp holds the lane under this fence. */
  holds({ lane, fence }: LaneLease, { node, now }: Stamp): boolean {
    const hold = this.#holds.get(lane);
    return hold?.fence === fence && hold.node === node && hold.until > now;
  }

  /** Leases granted or extended until then (wall ms), to the node of the stamp. */
  held(leases: readonly LaneLease[], until: number, { node }: Stamp): void {
    for (const { lane, fence } of leases) {
      const before = this.#holds.get(lane);
      if (before !== undefined && before.fence > fence) continue;
      this.#holds.set(lane, { fence, node, until });
      this.#firstEnd = Math.min(this.#firstEnd, until);
      if (before !== undefined && before.fence !== fence) this.#forgetLane(lane, before.fence);
    }
  }

  /** Leases that have ended. */
  lost(leases: readonly LaneLease[]): void {
    for (const { lane, fence } of leases) this.#end(lane, fence);
  }

  /** Removes leases that another node may take at this time (wall ms); all of them without a time. */
  lapsed(now: number | null): void {
    if (now !== null && now < this.#firstEnd) return;
    this.#firstEnd = Number.POSITIVE_INFINITY;
    for (const [lane, { fence, until }] of this.#holds)
      if (now === null || until <= now) this.#end(lane, fence);
      else this.#firstEnd = Math.min(this.#firstEnd, until);
  }

  /** No lease of these lanes ends later than this (wall ms). */
  shorten(until: number, lanes: Iterable<string> = this.#holds.keys()): void {
    for (const lane of lanes) {
      const hold = this.#holds.get(lane);
      if (hold === undefined || hold.until <= until) continue;
      this.#holds.set(lane, { ...hold, until });
      this.#firstEnd = Math.min(this.#firstEnd, until);
    }
  }

  #end(lane: string, fence: number): void {
    this.#ended++;
    if (this.#holds.get(lane)?.fence === fence) this.#holds.delete(lane);
    this.#forgetLane(lane, fence);
  }

  #forgetLane(lane: string, fence: number): void {
    this.#left++;
    for (const claiming of this.#claims) claiming.lanes = true;
    for (const [id, message] of this.#messages)
      for (const delivery of message.values())
        if (delivery.lane === lane && delivery.fence === fence) {
          this.#messages.delete(id);
          break;
        }
  }
}

/**
 * Verbs that change leases, of a store whose calls go through `there`. Nobody knows when the database does them, nor whether
 * it has where they fail: what they may end is forgotten before and after.
 */
export function leasesBehind(
  store: Store,
  hot: HotTable,
  there: <T>(verb: () => Promise<T>) => Promise<T>,
): Pick<Store, 'acquireLanes' | 'renewLanes' | 'releaseLanes' | 'reclaim' | 'purge'> {
  const ending = async <T>(end: () => void, verb: () => Promise<T>): Promise<T> => {
    end();
    try {
      return await there(verb);
    } finally {
      end();
    }
  };
  return {
    acquireLanes: async (wanted, limit, leaseUntil, at, except) => {
      hot.lapsed(at.now);
      const leases = await there(() => store.acquireLanes(wanted, limit, leaseUntil, at, except));
      hot.held(leases, leaseUntil, at);
      return leases;
    },
    renewLanes: async (leases, leaseUntil, at) => {
      // A clock that was set back makes them end earlier.
      hot.shorten(
        leaseUntil,
        leases.map(({ lane }) => lane),
      );
      const { ended } = hot;
      const gone = await there(() => store.renewLanes(leases, leaseUntil, at));
      const isGone = ({ lane }: LaneLease) => gone.includes(lane);
      // What has ended meanwhile may be among them: then they last as long as was known before.
      const renewed = ended === hot.ended ? leases.filter((lease) => !isGone(lease)) : [];
      hot.lost(leases.filter(isGone));
      hot.held(renewed, leaseUntil, at);
      return gone;
    },
    releaseLanes: (leases, at) =>
      ending(
        () => hot.lost(leases),
        () => store.releaseLanes(leases, at),
      ),
    reclaim: (options, at) => {
      const { seize, longestLeaseMs } = options;
      const end = () => {
        if (longestLeaseMs !== undefined) hot.shorten(at.now + longestLeaseMs);
        hot.lapsed(seize ? null : at.now);
      };
      return ending(end, () => store.reclaim(options, at));
    },
    // It removes lanes whose leases have ended.
    purge: (policy, limit, at) =>
      ending(
        () => hot.lapsed(at.now),
        () => store.purge(policy, limit, at),
      ),
  };
}

/**
 * Verbs that may change mail under way, or return mail to the queue, of a store whose calls go through `there`.
 * `growing` is called before one that may add to the queue.
 */
export function actsBehind(
  store: Store,
  hot: HotTable,
  there: <T>(verb: () => Promise<T>) => Promise<T>,
  growing: () => void,
): Pick<Store, 'cancel' | 'requeue' | 'release' | 'decideRestored'> {
  const grow = <T>(verb: () => Promise<T>) =>
    there(() => {
      growing();
      return verb();
    });
  return {
    cancel: async (ids, at) => {
      hot.forget(ids);
      return await there(() => {
        // They may have been accepted, or claimed, while this waited.
        hot.forget(ids);
        return store.cancel(ids, at);
      });
    },
    requeue: async (requests, at) => {
      hot.forget(requests.map(({ id }) => id));
      return await grow(() => store.requeue(requests, at));
    },
    release: async (units, at) => {
      hot.forget(units.map(({ messageId }) => messageId));
      return await there(() => store.release(units, at));
    },
    decideRestored: async (...args) => await grow(() => store.decideRestored(...args)),
  };
}
