import type { Outcome } from '../domain/outcome.ts';
import type { Event, Events, Unsubscribe } from './events.ts';
import type { HistogramSample } from './exposition.ts';

/** Observations sorted into buckets as they come. */
export class Histogram implements HistogramSample {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  /** Adds one. */
  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] ?? 0)) bucket++;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}

const ACCEPT_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const ATTEMPT_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** What this process has done since it started. */
export class Counters {
  readonly accepted: Record<'api' | 'smtp' | 'cli', number> = { api: 0, smtp: 0, cli: 0 };
  acceptedBytes = 0;
  readonly results: Record<Outcome['kind'], number> = { delivered: 0, deferred: 0, rejected: 0, unknown: 0 };
  denied = 0;
  /** In seconds. */
  readonly acceptDuration = new Histogram(ACCEPT_BOUNDS);
  /** In seconds. */
  readonly attemptDuration = new Histogram(ATTEMPT_BOUNDS);

  /** Counts what the bus tells from now on. */
  listen(events: Events): Unsubscribe {
    return events.on((event) => this.#count(event));
  }

  #count(event: Event): void {
    switch (event.type) {
      case 'accepted':
        if (isSource(event.source)) this.accepted[event.source]++;
        this.acceptedBytes += event.sizeBytes;
        this.acceptDuration.observe(event.durationMs / 1000);
        break;
      case 'attempted':
        this.attemptDuration.observe(event.durationMs / 1000);
        for (const { outcome } of event.results) this.results[outcome.kind]++;
        break;
      case 'denied':
        this.denied += event.count;
        break;
    }
  }
}

function isSource(source: string): source is keyof Counters['accepted'] {
  return source === 'api' || source === 'smtp' || source === 'cli';
}
