import type { LoadReport } from './load-report.ts';

/** Width of a bucket, and how many there are: up to 20 s; what is slower counts as that. */
const BUCKET_MS = 0.01;
const BUCKETS = 2_000_000;

/** A histogram of latencies in milliseconds that costs next to nothing to add to. */
export class Latencies {
  readonly #counts = new Uint32Array(BUCKETS);
  #total = 0;

  /** Counts one. */
  add(ms: number): void {
    const bucket = Math.min(Math.floor(ms / BUCKET_MS), BUCKETS - 1);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#total++;
  }

  /** What a report says of them. */
  summary(): Pick<LoadReport, 'p50Ms' | 'p95Ms' | 'p99Ms' | 'maxMs'> {
    return {
      p50Ms: this.quantile(0.5),
      p95Ms: this.quantile(0.95),
      p99Ms: this.quantile(0.99),
      maxMs: this.quantile(1),
    };
  }

  /** The latency that `share` (0 to 1) of all did not exceed; NaN when there are none. */
  quantile(share: number): number {
    let left = Math.ceil(share * this.#total);
    for (const [bucket, count] of this.#counts.entries()) {
      left -= count;
      if (left <= 0 && count > 0) return (bucket + 1) * BUCKET_MS;
    }
    return Number.NaN;
  }
}
