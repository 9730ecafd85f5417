import { DatabaseError } from 'pg';
import { expect, it } from 'vitest';
import { type Progress, untilDone } from './outcome.ts';

/** A transaction that ends so, again and again; how often it was tried, and for how long. */
async function tried(fail: (progress: Progress, tries: number) => Error | null) {
  let now = 0;
  let tries = 0;
  const clock = {
    mono: () => now,
    sleep: async (ms: number) => {
      now += ms;
    },
  };
  const once = async (progress: Progress) => {
    const error = fail(progress, ++tries);
    if (error !== null) throw error;
  };
  const error: unknown = await untilDone(once, clock).then(
    () => null,
    (reason: unknown) => reason,
  );
  return { tries, waitedMs: now, error };
}

const LOST = new Error('Connection terminated unexpectedly');
const REFUSED = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const CONFLICT = Object.assign(new DatabaseError('deadlock', 1, 'error'), { code: '40P01' });

function connected(progress: Progress): Error {
  progress.isConnected = true;
  return LOST;
}

function begun(progress: Progress): Error {
  progress.hasBegun = true;
  return connected(progress);
}

it('tells at once of a server that cannot be reached', async () => {
  expect(await tried(() => REFUSED)).toEqual({ tries: 1, waitedMs: 0, error: REFUSED });
});

it('goes on where a server that was lost comes back', async () => {
  const answer = await tried((progress, tries) => {
    if (tries === 1) return begun(progress);
    return tries < 10 ? REFUSED : null;
  });
  expect(answer).toMatchObject({ tries: 10, error: null });
});

it('waits five seconds for one that does not', async () => {
  const refused = await tried((progress, tries) => (tries === 1 ? begun(progress) : REFUSED));
  expect(refused).toMatchObject({ waitedMs: 5_000, error: REFUSED });
  // Connections that were there, and were lost before anything began.
  expect(await tried(connected)).toMatchObject({ waitedMs: 5_000, error: LOST });
});

it('does not go on with what loses its connection every time, or may have happened', async () => {
  expect(await tried(begun)).toMatchObject({ tries: 2, error: LOST });
  const inDoubt = (progress: Progress) => {
    progress.isInDoubt = true;
    return begun(progress);
  };
  expect(await tried(inDoubt)).toMatchObject({ tries: 1, error: LOST });
});

it('does again what others made impossible, ten times within a second or so', async () => {
  expect(await tried((_, tries) => (tries === 1 ? CONFLICT : null))).toMatchObject({ tries: 2, waitedMs: 0 });
  expect(await tried(() => CONFLICT)).toEqual({ tries: 10, waitedMs: 1_020, error: CONFLICT });
});
