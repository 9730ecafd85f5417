import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { System } from './system.ts';

/** Asks again and again until `condition` gives a value. Throws after `seconds`, naming what was awaited. */
export async function until<T>(
  what: string,
  seconds: number,
  condition: () => Promise<T | null> | T | null,
): Promise<T> {
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const value = await condition();
    if (value !== null) return value;
    await sleep(20);
  }
  throw new Error(`waited ${seconds} s in vain for ${what}`);
}

/** What `promise` gives; throws when that takes longer than `seconds`, naming what was awaited. */
export async function within<T>(seconds: number, what: string, promise: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = sleep(seconds * 1000, null, { signal: over.signal }).then(() => {
    throw new Error(`waited ${seconds} s in vain for ${what}`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    over.abort();
    late.catch(() => {});
  }
}

/** Waits until something listens on a port of 127.0.0.1. */
export function untilListening(port: number): Promise<true> {
  return until(`port ${port}`, 30, async () => ((await connects(port)) ? true : null));
}

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = new Socket();
    socket.once('error', () => resolve(false));
    socket.connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** A system rests when it uses less of a core than this. */
const RESTING_SHARE = 0.05;
/** So long it must rest: what it looks at again after a start, it looks at within. */
const RESTS_FOR = 5;
const LOOK_MS = 2000;
const GIVE_UP_LOOKS = 150;

/** Waits until a system has had nothing to do of its own accord for ten seconds; five minutes at most. */
export async function untilQuiet(system: System): Promise<void> {
  for (let looks = 0, rested = 0; looks < GIVE_UP_LOOKS && rested < RESTS_FOR; looks++) {
    const before = system.usage().cpuSeconds;
    await sleep(LOOK_MS);
    const used = system.usage().cpuSeconds - before;
    rested = used < (RESTING_SHARE * LOOK_MS) / 1000 ? rested + 1 : 0;
  }
}
