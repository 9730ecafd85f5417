import type { Content, Priority } from '../domain/message.ts';
import type { Unit } from '../store/store.ts';

/**
 * Leased work in hand. Fresh mail carries its contents (the short way); other contents are read when their turn comes.
 */
export interface Job {
  readonly unit: Unit;
  readonly content: Content | null;
}

/** One job in this many is of the lowest waiting priority, so that a flood of more urgent mail starves nothing. */
export const LOWEST_TURN = 8;

const HIGH_FIRST: readonly Priority[] = ['high', 'normal', 'bulk'];
const BULK_FIRST: readonly Priority[] = ['bulk', 'normal', 'high'];

/**
 * Leased work that waits for a slot: high priority first, then normal, then bulk; first in, first out within each.
 * After the lowest waiting priority was passed over often enough, the next job that may start yields its turn to it,
 * even if the free slot is reserved from that priority: a flood that fills all slots would otherwise starve it for
 * good.
 */
export class ReadyQueue {
  readonly #queues: Readonly<Record<Priority, Job[]>> = { high: [], normal: [], bulk: [] };
  #length = 0;
  /** Jobs taken since the last one of the lowest waiting priority. */
  #passedOver = 0;

  get length(): number {
    return this.#length;
  }

  /** Number of waiting jobs of that priority. */
  count(priority: Priority): number {
    return this.#queues[priority].length;
  }

  push(job: Job): void {
    this.#queues[job.unit.priority].push(job);
    this.#length++;
  }

  /** The next job among those that `may` start now; it stays in the queue. */
  next(may: (job: Job) => boolean): Job | undefined {
    const best = this.#first(HIGH_FIRST, may);
    if (best === undefined || this.#passedOver < LOWEST_TURN - 1) return best;
    return this.#first(BULK_FIRST, () => true);
  }

  /** Whether the contents of the next job are in memory. */
  get isNextInMemory(): boolean {
    return (this.next(() => true)?.content ?? null) !== null;
  }

  /** Takes a job that `next` returned. */
  take(job: Job): void {
    this.#passedOver = job === this.#first(BULK_FIRST, () => true) ? 0 : this.#passedOver + 1;
    this.#queues[job.unit.priority].shift();
    this.#length--;
  }

  /** Takes the jobs of one message, wherever they are in the queue. */
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

  takeAll(): Job[] {
    this.#length = 0;
    return HIGH_FIRST.flatMap((priority) => this.#queues[priority].splice(0));
  }
}
