import type { Clock } from '../lib/clock.ts';

const HOUR_MS = 3_600_000;
/** Reports remembered over all addresses. Beyond it, those of the addresses longest without one are forgotten. */
const MAX_REMEMBERED = 50_000;

/** How many reports went to each address in the last hour. Known in memory only: a restart begins anew. */
export class ReportRate {
  readonly #clock: Pick<Clock, 'mono'>;
  /** When reports went to an address (monotonic ms), rising; the address that got one last comes last. */
  readonly #sent = new Map<string, number[]>();
  #remembered = 0;

  constructor(clock: Pick<Clock, 'mono'>) {
    this.#clock = clock;
  }

  /** Counts one more report to an address, unless it has had `perHour` within the hour: false then. */
  take(address: string, perHour: number): boolean {
    const key = address.toLowerCase();
    const now = this.#clock.mono();
    const recent = this.#forget(key).filter((at) => now - at < HOUR_MS);
    const isOpen = recent.length < perHour;
    if (isOpen) recent.push(now);
    if (recent.length > 0) this.#sent.set(key, recent);
    this.#remembered += recent.length;
    while (this.#remembered > MAX_REMEMBERED) this.#forgetOldest();
    return isOpen;
  }

  /** Forgets the last one that was counted: it did not go. */
  giveBack(address: string): void {
    const key = address.toLowerCase();
    const sent = this.#sent.get(key);
    if (sent === undefined) return;
    sent.pop();
    this.#remembered--;
    if (sent.length === 0) this.#sent.delete(key);
  }

  #forget(key: string): number[] {
    const sent = this.#sent.get(key) ?? [];
    this.#sent.delete(key);
    this.#remembered -= sent.length;
    return sent;
  }

  #forgetOldest(): void {
    for (const [key] of this.#sent) {
      this.#forget(key);
      return;
    }
  }
}
