import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { StoreError } from '../store/store.ts';
import { openPatiently, PATIENCE_MS } from './patience.ts';

const REFUSED = new StoreError('store_unavailable', 'connect ECONNREFUSED', {
  cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
});

/** Opens what is not there before a time (monotonic ms after the start). */
async function openAt(openFrom: number) {
  const clock = new ManualClock();
  const begun = clock.mono();
  const said: string[] = [];
  let tries = 0;
  const open = async () => {
    tries += 1;
    if (clock.mono() - begun < openFrom) throw REFUSED;
    return 'open';
  };
  const outcome = openPatiently(open, { clock, say: (text) => said.push(text) }).then(
    (value) => value,
    (error: unknown) => String(error),
  );
  await clock.advance(2 * PATIENCE_MS);
  return { outcome: await outcome, tries, said };
}

test('a database that is there is opened at once', async () => {
  expect(await openAt(0)).toEqual({ outcome: 'open', tries: 1, said: [] });
});

test('one that comes a little later is waited for, and a person is told once', async () => {
  const { outcome, tries, said } = await openAt(4_500);
  expect([outcome, tries]).toEqual(['open', 6]);
  expect(said).toEqual([expect.stringContaining('cannot be reached: connect ECONNREFUSED. Trying again')]);
});

test('one that does not come ends the start with a sentence', async () => {
  const { outcome, tries } = await openAt(Number.POSITIVE_INFINITY);
  expect(outcome).toContain('The PostgreSQL of database.url cannot be reached: connect ECONNREFUSED.');
  expect(tries).toBe(PATIENCE_MS / 1000 + 1);
});

/** A database that does not answer, until it is told to stop. */
async function stopped(open: () => Promise<never>, stopBefore = false) {
  const stopping = new AbortController();
  if (stopBefore) stopping.abort();
  const clock = new ManualClock();
  const ended = openPatiently(open, { clock, say() {}, signal: stopping.signal }).then(
    () => null,
    (error: unknown) => error,
  );
  await clock.advance(1_500);
  stopping.abort();
  return await ended;
}

test('told to stop, it waits no longer, whether the database refuses or says nothing', async () => {
  const end = { code: 'store_closed', message: 'The server was told to stop before its database answered.' };
  expect(await stopped(() => Promise.reject(REFUSED))).toMatchObject(end);
  expect(await stopped(() => new Promise(() => {}))).toMatchObject(end);
  expect(await stopped(() => new Promise(() => {}), true)).toMatchObject(end);
});

test.each([
  new StoreError('store_unsuitable', 'too old'),
  new StoreError('store_unavailable', 'no such user'),
  new Error('a bug'),
])('what waiting does not cure is told at once: %s', async (refusal) => {
  const clock = new ManualClock();
  const opened = openPatiently(() => Promise.reject(refusal), { clock, say() {} });
  await expect(opened).rejects.toBe(refusal);
});
