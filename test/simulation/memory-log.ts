import type { LogPlace } from '../../src/domain/log-place.ts';
import { type FactLog, type LoggedFacts, SpoolError } from '../../src/spool/spool.ts';

type FactsOf = Parameters<FactLog['log']>[1];

interface Waiting {
  readonly facts: FactsOf;
  readonly done: PromiseWithResolvers<boolean>;
}

/** What a log has on its disk, shared by those who open it one after the other. Each flush is a byte long. */
export interface Disk {
  readonly flushes: (readonly string[])[];
  /** The next flush fails for want of room. */
  isFull: boolean;
}

/**
 * A log in memory, for facts alone: contents are not its business here. Who comes in one turn shares a flush; nothing is
 * on the disk before it.
 */
export class MemoryLog implements FactLog {
  readonly #disk: Disk;
  readonly #begins: number;
  #waiting: Waiting[] = [];
  #told: (facts: readonly string[], end: LogPlace) => void = () => {};
  #running = false;
  /** The power is gone: nothing is written any more, and nobody hears of it. */
  isCut = false;

  constructor(disk: Disk) {
    this.#disk = disk;
    this.#begins = disk.flushes.length;
  }

  log(_contents: unknown, facts: FactsOf): Promise<boolean> {
    const done = Promise.withResolvers<boolean>();
    this.#waiting.push({ facts, done });
    if (!this.#running) void this.#run();
    return done.promise;
  }

  onLogged(told: (facts: readonly string[], end: LogPlace) => void): void {
    this.#told = told;
  }

  applied(): void {}

  async *factsAfter({ offset }: LogPlace): AsyncIterable<LoggedFacts> {
    for (const [place, facts] of this.#disk.flushes.slice(0, this.#begins).entries())
      if (place >= offset) yield { facts, end: { segment: 1, offset: place + 1 } };
  }

  beginning(): LogPlace {
    return { segment: 1, offset: this.#begins };
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      await Promise.resolve();
      const waiting = this.#waiting;
      this.#waiting = [];
      const made = waiting.map(({ facts }) => facts([]));
      await Promise.resolve();
      if (this.isCut) return;
      this.#flush(waiting, made);
    }
    this.#running = false;
  }

  #flush(waiting: readonly Waiting[], made: readonly (string | null)[]): void {
    if (this.#disk.isFull) {
      for (const { done } of waiting) done.reject(new SpoolError('spool_full', 'simulated: no room'));
      return;
    }
    const facts = made.filter((text) => text !== null);
    if (facts.length > 0) {
      this.#disk.flushes.push(facts);
      this.#told(facts, { segment: 1, offset: this.#disk.flushes.length });
    }
    for (const [place, { done }] of waiting.entries()) done.resolve(made[place] !== null);
  }
}
