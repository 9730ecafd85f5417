import { Stop, type StopSignal } from './stop.ts';

/**
 * Time, injected. This file and `random.ts` are the only server code that may read the machine's clock, set a timer or
 * draw randomness; everything else receives a {@link Clock}, so that the whole delivery engine can run under a virtual
 * one.
 */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch: for due dates and records, never for time-outs. */
  wall(): number;
  /** Monotonic time in milliseconds from an arbitrary start: for leases, time-outs and durations. */
  mono(): number;
  /**
   * Waits `ms` milliseconds of monotonic time, or until `signal` aborts. Resolves in both cases, never rejects: check
   * the signal to tell them apart. The only way to wait.
   */
  sleep(ms: number, signal?: StopSignal): Promise<void>;
}

/** What long work waits for between its slices. */
export type Turn = () => Promise<void>;

/** Resolves when everything that is ready has had its turn: called between the slices of long work. */
export function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** Large work that waits for its turn, in the order in which it came. */
const waiting: (() => void)[] = [];
/** A turn of the loop in which nobody else had anything to do takes less, in ms. */
const IDLE_TURN_MS = 0.1;
/** So long others have the loop to themselves before the next piece of large work, if there are others, in ms. */
const BREAK_MS = 1;

/**
 * Waits for a turn of the event loop that no other large work has. Of all that is done in pieces, for however many
 * clients, one piece is done at a time, and while there is other work the loop has time for that between two pieces.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) lookAround();
  });
}

/** A whole turn goes by without a piece of large work: how long it takes tells whether there is other work. */
function lookAround(): void {
  setImmediate(() => {
    const begun = performance.now();
    setImmediate(() => {
      if (performance.now() - begun < IDLE_TURN_MS) giveTurn();
      else setTimeout(giveTurn, BREAK_MS);
    });
  });
}

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) lookAround();
}

/** Work on more bytes than this is large. */
const LARGE_WORK_BYTES = 1024 * 1024;

/** Whether work on so many bytes is large: it may hold up other large work, but nothing else. */
export function isLargeWork(bytes: number): boolean {
  return bytes > LARGE_WORK_BYTES;
}

/** What work on so many bytes waits for: a turn of its own if it is large, else that all others have had theirs. */
export function turnFor(bytes: number): Turn {
  return isLargeWork(bytes) ? ownTurn : yieldToLoop;
}

/** The machine's clock. */
export const systemClock: Clock = {
  wall: () => Date.now(),
  mono: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done);
    }),
};

/** Given explicitly: the default reason, an exception, costs more than everything else. */
const OVER = 'over';

/**
 * Gives `work` a signal that aborts after `ms`, or with `signal`, and stops the timer when the work ends. The work
 * decides what its signal means.
 */
export async function within<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const stop = () => end.abort(OVER);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  void clock.sleep(ms, end.signal).then(stop);
  try {
    return await work(end.signal);
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}

// Timestamps as text: RFC 3339; ours are always UTC with milliseconds.

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** Milliseconds since the epoch as `2026-11-20T11:15:00.123Z`. */
export function formatTimestamp(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * Parses an RFC 3339 date-time with its offset; null if it is invalid, or no such day or time exists. Fractions finer
 * than milliseconds are truncated; a leap second counts as the second after it.
 */
export function parseTimestamp(text: string): number | null {
  const match = RFC3339.exec(text);
  if (match === null) return null;
  const number = (group: number) => Number(match[group] ?? '0');
  const [year, month, day] = [number(1), number(2), number(3)];
  const [hour, minute, second] = [number(4), number(5), number(6)];
  const [offsetHours, offsetMinutes] = [number(9), number(10)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHours > 23 || offsetMinutes > 59) return null;
  const midnight = new Date(0).setUTCFullYear(year, month - 1, day);
  if (!formatTimestamp(midnight).startsWith(text.slice(0, 10))) return null;
  const offset = (offsetHours * 60 + offsetMinutes) * (match[8] === '-' ? -60_000 : 60_000);
  const milliseconds = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  return midnight + ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds - offset;
}

/**
 * Long work in slices: it yields where other work may run, and returns its result. Short work never yields, and so
 * costs no turn of the loop.
 */
export type Sliced<T> = Generator<undefined, T, undefined>;

/** Bytes of text per slice: a millisecond of the slowest work. */
export const SLICE_BYTES = 256 * 1024;

/**
 * Does the work, and waits for a turn before each further slice: large work for one of its own (see {@link turnFor}).
 * Rejects with what the work throws.
 */
export async function inSlices<T>(work: Sliced<T>, turn: Turn = yieldToLoop): Promise<T> {
  let step = work.next();
  while (!step.done) {
    await turn();
    step = work.next();
  }
  return step.value;
}

/** Does the work without a pause, if nobody waits for a turn. */
export function atOnce<T>(work: Sliced<T>): T {
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

/** Lets one loop sleep until it is woken or its time has come. A wake while it is busy is not lost. */
export class WakeUp {
  #woken = false;
  #sleep: Stop | null = null;

  /** Ends the present wait, or the next one at once. */
  wake(): void {
    if (this.#woken) return;
    this.#woken = true;
    this.#sleep?.abort();
  }

  /** Waits until woken, or for `ms` milliseconds. For one waiter at a time. */
  async wait(clock: Clock, ms: number): Promise<void> {
    if (!this.#woken && ms > 0) {
      this.#sleep = new Stop();
      await clock.sleep(ms, this.#sleep);
      this.#sleep = null;
    }
    this.#woken = false;
  }
}
