import type { Content, Priority } from '../domain/message.ts';
import type { Unit } from '../store/store.ts';

/** Leased work in hand. Fresh mail brings its contents along (the short way); the rest is read when its turn comes. */
export interface Job {
  readonly unit: Unit;
  readonly content: Content | null;
}

/** Work in hand that waits for a slot: high priority first, then normal, then bulk; first come within each. */
export class ReadyQueue {
  readonly #queues: Readonly<Record<Priority, Job[]>> = { high: [], normal: [], bulk: [] };
  #length = 0;

  /** How many jobs wait. */
  get length(): number {
    return this.#length;
  }

  /** Adds a job. */
  push(job: Job): void {
    this.#queues[job.unit.priority].push(job);
    this.#length++;
  }

  /** Takes the job whose turn it is. */
  shift(): Job | undefined {
    const job = this.#queues.high.shift() ?? this.#queues.normal.shift() ?? this.#queues.bulk.shift();
    if (job) this.#length--;
    return job;
  }

  /** Takes the jobs of one message, wherever they stand. */
  takeOf(messageId: string): Job[] {
    const taken: Job[] = [];
    for (const queue of [this.#queues.high, this.#queues.normal, this.#queues.bulk]) {
      const mine = queue.filter(({ unit }) => unit.messageId === messageId);
      if (mine.length === 0) continue;
      taken.push(...mine);
      queue.splice(0, queue.length, ...queue.filter(({ unit }) => unit.messageId !== messageId));
    }
    this.#length -= taken.length;
    return taken;
  }

  /** Takes all of them. */
  takeAll(): Job[] {
    this.#length = 0;
    return [this.#queues.high, this.#queues.normal, this.#queues.bulk].flatMap((queue) => queue.splice(0));
  }
}
