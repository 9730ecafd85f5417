import type { Clock } from '../../lib/clock.ts';

/** Given, because making the default reason, an exception, costs more than all else. */
const OVER = 'over';

/**
 * Gives `work` a signal that aborts after `ms`, or with `signal`, and ends the timer with the work. What the work makes
 * of its signal is its own.
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
