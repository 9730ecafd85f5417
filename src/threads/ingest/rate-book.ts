import type { Cluster, RateUnits } from '../../store/cluster.ts';

/** Seconds of which it is kept what each thread let through: all of them ask several times a second. */
const KEPT_SECONDS = 10;

interface Units extends Omit<RateUnits, 'units' | 'second'> {
  readonly byThread: Map<string, number>;
}

/** Where the ingest threads of one process tell each other what they let through. Units are whole numbers, as the cluster's. */
export class RateBook implements Pick<Cluster, 'exchangeRates'> {
  /** By second, and in it by window and key. */
  readonly #seconds = new Map<number, Map<string, Units>>();

  async exchangeRates(thread: string, mine: readonly RateUnits[], sinceSecond: number): Promise<RateUnits[]> {
    for (const one of mine) this.#add(thread, one);
    return [...this.#seconds].flatMap(([second, windows]) =>
      second < sinceSecond ? [] : othersIn(second, windows, thread),
    );
  }

  #add(thread: string, { keyId, window, second, units }: RateUnits): void {
    const windows = this.#seconds.get(second) ?? this.#begin(second);
    const name = `${window}:${keyId}`;
    const known = windows.get(name) ?? { keyId, window, byThread: new Map<string, number>() };
    known.byThread.set(thread, units + (known.byThread.get(thread) ?? 0));
    windows.set(name, known);
  }

  #begin(second: number): Map<string, Units> {
    const windows = new Map<string, Units>();
    this.#seconds.set(second, windows);
    for (const known of this.#seconds.keys()) if (known <= second - KEPT_SECONDS) this.#seconds.delete(known);
    return windows;
  }
}

function othersIn(second: number, windows: ReadonlyMap<string, Units>, thread: string): RateUnits[] {
  const told: RateUnits[] = [];
  for (const { keyId, window, byThread } of windows.values()) {
    let units = 0;
    for (const [name, own] of byThread) if (name !== thread) units += own;
    if (units > 0) told.push({ keyId, window, second, units });
  }
  return told;
}
