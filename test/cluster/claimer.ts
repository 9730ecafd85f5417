/**
 * A process that takes lanes of a store, claims what is due in them, and lets go of them again, until nothing is left. Says
 * that it is ready and begins when it is told anything. Writes what it claimed to the standard output, an id a line, and last
 * how much it was given under leases that had ended.
 *
 *     node claimer.ts URL SCHEMA SEED LANE…
 */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { LaneLease } from '../../src/domain/lane.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { StoreError } from '../../src/store/store.ts';

const [url = '', schema = '', seed = '', ...lanes] = process.argv.slice(2);
const LEASE_MS = 600_000;
/** Lanes taken at a time, and how much is claimed of each. */
const LANES = 2;
const UNITS = 200;
const PAUSE_MS = 50;

const dice = seededRandom(Number(seed));
const { store, cluster } = await openPostgres({ url, schema, connections: 3 });
const node = `claimer-${seed}`;
process.stdout.write('ready\n');
await once(process.stdin, 'data');
let held: LaneLease[] = [];
let stale = 0;
for (;;) {
  const at = { node, now: await cluster.time() };
  const wanted = Array.from({ length: LANES }, () => lanes[Math.floor(dice.next() * lanes.length)] ?? '');
  const granted = await patiently(() =>
    store.acquireLanes(wanted, dice.next() < 0.5 ? LANES : 0, at.now + LEASE_MS, at),
  );
  const known = new Set(held.map(({ fence }) => fence));
  held = [...held, ...granted.filter(({ fence }) => !known.has(fence))];
  // Each twice at once: what one call claims the other must not.
  const wishes = held.map((lease) => ({
    ...lease,
    order: 'high_first' as const,
    limit: UNITS,
    maxRecipients: 10,
  }));
  const [some, others] = await Promise.all([
    patiently(() => store.claim(wishes, at)),
    patiently(() => store.claim(wishes.toReversed(), at)),
  ]);
  const units = [...some, ...others].flatMap((answer) => answer.units);
  for (const { messageId } of units) process.stdout.write(`${messageId}\n`);
  const released = held.filter(() => units.length === 0 || dice.next() < 0.5);
  held = held.filter((lease) => !released.includes(lease));
  await patiently(() => store.releaseLanes(released, at));
  const late = wishes.filter(({ lane }) => released.some((lease) => lease.lane === lane));
  stale += (await patiently(() => store.claim(late, at))).reduce(
    (sum, answer) => sum + answer.units.length,
    0,
  );
  if (units.length > 0) continue;
  if ((await cluster.dueLanes(lanes, at.now)).length === 0) break;
  // The others hold all that has anything: they need the processor more.
  await pause(PAUSE_MS);
}
process.stdout.write(`stale ${stale}\n`);
await store.close();
process.stdin.destroy();

/** Asks again where too much waits: nothing has happened then. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'store_busy') throw error;
    }
  }
}
