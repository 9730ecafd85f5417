import type { Content, Priority } from '../domain/message.ts';
import type { Unit } from '../store/store.ts';

/** Leased work in hand. Fresh mail brings its contents along (the short way); the rest is read when its turn comes. */
export interface Job {
  readonly unit: Unit;
  readonly content: Content | null;
}

/** Of so many jobs one is of the lowest priority that waits, so that a flood of better mail starves nothing. */
export const LOWEST_TURN = 8;

const HIGH_FIRST: readonly Priority[] = ['high', 'normal', 'bulk'];
const BULK_FIRST: readonly Priority[] = ['bulk', 'normal', 'high'];

/**
 * Work in hand that waits for a slot: high priority first, then normal, then bulk; first come within each. What is better
 * and may go gives its turn to the lowest that waits once that was passed over so often, be it to a slot that is kept from
 * the lowest: a flood that fills all slots would keep the lowest from going for good.
 */
export class ReadyQueue {
  readonly #queues: Readonly<Record<Priority, Job[]>> = { high: [], normal: [], bulk: [] };
  #length = 0;
  /** How many went since one of the lowest priority that waits did. */
  #passedOver = 0;

  /** How many jobs wait. */
  get length(): number {
    return this.#length;
  }

  /** How many of that priority wait. */
  count(priority: Priority): number {
    return this.#queues[priority].length;
  }

  /** Adds a job. */
  push(job: Job): void {
    this.#queues[job.unit.priority].push(job);
    this.#length++;
  }

  /** The job whose turn it is, of those that `may` go now; it stays. */
  next(may: (job: Job) => boolean): Job | undefined {
    const best = this.#first(HIGH_FIRST, may);
    if (best === undefined || this.#passedOver < LOWEST_TURN - 1) return best;
    return this.#first(BULK_FIRST, () => true);
  }

  /** Whether the contents of the job whose turn it is are in memory. */
  get isNextInMemory(): boolean {
    return (this.next(() => true)?.content ?? null) !== null;
  }

  /** Takes a job that `next` gave. */
  take(job: Job): void {
    this.#passedOver = job === this.#first(BULK_FIRST, () => true) ? 0 : this.#passedOver + 1;
    this.#queues[job.unit.priority].shift();
    this.#length--;
  }

  /** Takes the jobs of one message, wherever they stand. */
  takeOf(messageId: string): Job[] {
    const taken: Job[] = [];
    for (const priority of HIGH_FIRST) {
      const queue = this.#queues[priority];
      const mine = queue.filter(({ unit }) => unit.messageId === messageId);
      if (mine.length === 0) continue;
      taken.push(...mine);
      queue.splice(0, queue.length, ...queue.filter(({ unit }) => unit.messageId !== messageId));
    }
    this.#length -= taken.length;
    return taken;
  }

  #first(order: readonly Priority[], may: (job: Job) => boolean): Job | undefined {
    for (const priority of order) {
      const first = this.#queues[priority][0];
      if (first !== undefined && may(first)) return first;
    }
    return undefined;
  }

  /** Takes all of them. */
  takeAll(): Job[] {
    this.#length = 0;
    return HIGH_FIRST.flatMap((priority) => this.#queues[priority].splice(0));
  }
}
