import { workerData } from 'node:worker_threads';
import { systemClock } from '../lib/clock.ts';
import { checkpoint, openReader } from '../store/sqlite/connection.ts';
import { openBetterSqlite3 } from '../store/sqlite/driver.ts';
import { storeErrorOf } from '../store/sqlite/errors.ts';
import { createViews, type ViewVerbs } from '../store/sqlite/views.ts';
import { packAnswer, serve } from './thread.ts';
import { unpackArgs, type WireCall } from './wire.ts';

/** Often enough to keep the log short, rarely enough that frequently written pages are copied once. */
const CHECKPOINT_INTERVAL_MS = 1000;

/** After this long a slice of a list gives way to others. */
const SLICE_MS = 10;

/** The cold thread: reads, and checkpoints in between. */
serve(() => {
  const { path } = workerData as { readonly path: string };
  const db = openReader(path, openBetterSqlite3);
  const views = createViews(db, { startSlice });
  const closing = new AbortController();
  // A failed checkpoint throws on purpose: nobody awaits the loop, so it ends the thread.
  void checkpointUntil(closing.signal);
  return {
    answer: (calls) => calls.map((call) => packAnswer(read(call))),
    close: () => {
      closing.abort();
      db.close();
    },
  };

  function startSlice(): () => boolean {
    const end = systemClock.mono() + SLICE_MS;
    return () => systemClock.mono() >= end;
  }

  async function checkpointUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      checkpoint(db);
      await systemClock.sleep(CHECKPOINT_INTERVAL_MS, signal);
    }
  }

  function read(call: WireCall) {
    try {
      const view = views[call.verb as keyof ViewVerbs] as (...args: readonly unknown[]) => unknown;
      return { ok: true, value: view(...unpackArgs(call)) } as const;
    } catch (error) {
      return { ok: false, error: storeErrorOf(error) } as const;
    }
  }
});
