/**
 * A scenario: one question, put to the system under test and, where there is one, to a baseline, in turns on
 * the same machine, so that only the ratio has to be believed.
 */
export interface Scenario {
  readonly name: string;
  /** What it shows, in a sentence. */
  readonly shows: string;
  /** The system under test first, then the baselines, if there are any. */
  readonly sides: readonly [Side, ...Side[]];
  readonly targets: readonly Target[];
  /** Which sides are set against which; if not given, those of the targets, or the first against each other. */
  readonly compares?: readonly { readonly by: string; readonly to: string }[];
  /** It is played so often at most: where a run is long, and tells by itself what is asked. */
  readonly mostPairs?: number;
}

/** One system in a scenario. */
export interface Side {
  readonly name: string;
  /** Why it cannot run here; null when it can. */
  missing(): string | null;
  /** It runs as fast from the start as it ever will: Node.js compiles what it runs often, others come compiled. */
  readonly isCompiled?: true;
  run(options: RunOptions): Promise<Sample>;
}

/** What one run is given. */
export interface RunOptions {
  /** An empty directory of its own on a real disk. */
  readonly directory: string;
  /** How long to measure, where a scenario runs for a time. */
  readonly seconds: number;
  /** How many messages to send, where a scenario runs for a number. */
  readonly messages: number;
  /** How many messages are sent first, which are not measured. */
  readonly warmUp: number;
  /** How many messages are stored or queued, where that is what a scenario is about. */
  readonly deep: number;
  /** Count disk flushes: only `flushesPerMessage` of the sample means anything then. */
  readonly trace: boolean;
}

/** What is sent first has at most so many bytes: fewer large messages warm a system as well as many small ones. */
const MOST_WARM_UP_BYTES = 2 ** 30;

/** These options, for messages of so many bytes each. */
export function warmedUpBy(options: RunOptions, sizeBytes: number): RunOptions {
  return { ...options, warmUp: Math.min(options.warmUp, Math.ceil(MOST_WARM_UP_BYTES / sizeBytes)) };
}

/** What a run measured. */
export type Sample = Partial<Readonly<Record<Metric, number>>>;

/** Everything that is measured, with how it is shown. */
export const METRICS = {
  messagesPerSecond: { title: 'messages/s', digits: 0 },
  acceptedPerSecond: { title: 'accepted/s', digits: 0 },
  cpuSecondsPer1000: { title: 'CPU s per 1,000', digits: 3 },
  p50Ms: { title: 'accept p50 ms', digits: 2 },
  p95Ms: { title: 'accept p95 ms', digits: 2 },
  p99Ms: { title: 'accept p99 ms', digits: 2 },
  firstSeconds: { title: 's until the first', digits: 1 },
  deliveredShare: { title: 'delivered meanwhile', digits: 2 },
  peakMemoryMiB: { title: 'peak memory MiB', digits: 0 },
  aboveIdleMiB: { title: 'memory above idle MiB', digits: 1 },
  loopP99Ms: { title: 'loop delay p99 ms', digits: 1 },
  claimMicroseconds: { title: 'claim µs', digits: 1 },
  statusP50Ms: { title: 'status p50 ms', digits: 2 },
  statusP99Ms: { title: 'status p99 ms', digits: 2 },
  listP50Ms: { title: 'list p50 ms', digits: 2 },
  listP99Ms: { title: 'list p99 ms', digits: 2 },
  searchP50Ms: { title: 'search p50 ms', digits: 1 },
  searchWorstMs: { title: 'slowest search ms', digits: 1 },
  indexMicroseconds: { title: 'index µs per message', digits: 1 },
  indexBytes: { title: 'index bytes per message', digits: 0 },
  interactiveMs: { title: 'slowest page usable after ms', digits: 0 },
  framesInTime: { title: 'frames in time', digits: 3 },
  writtenKiB: { title: 'KiB written per message', digits: 1 },
  flushesPerMessage: { title: 'flushes per message', digits: 3 },
} as const;

/** See {@link METRICS}. */
export type Metric = keyof typeof METRICS;

/** What must be reached. */
export interface Target {
  readonly metric: Metric;
  /** Of the system under test itself, or of its ratio to the baseline. */
  readonly of: 'value' | 'ratio';
  /** The side it is asked of; the first, if it is not named. */
  readonly by?: string;
  /** The baseline of the ratio; the second side, if it is not named. */
  readonly to?: string;
  readonly atLeast?: number;
  readonly atMost?: number;
  /** What is hoped for beyond that. */
  readonly aim?: number;
}

/** Of `messages`, the share that a scenario with messages of 100 KB sends: else each run writes gigabytes. */
export const LARGE_SHARE = 1 / 4;

/** Bytes in a MiB. */
export const MIB = 1024 * 1024;

/** The job queue over Redis, as a side is named. */
export const BULLMQ = 'Fastify + BullMQ + nodemailer';
/** The same over PostgreSQL. */
export const PG_BOSS = 'Fastify + pg-boss + nodemailer';
