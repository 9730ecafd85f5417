import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/lib/clock.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { freePort } from '../../test/peers/free-port.ts';
import { laneOfBacklog, makeBacklog } from '../load/backlog.ts';
import { startConfigured } from '../systems/waybill.ts';
import { MIB, type RunOptions, type Sample, type Scenario } from './scenario.ts';

const RELAY = 'direct';
const LANES = 10_000;
const FEW = 1_000;
/** Lanes whose claims are timed, a transaction for each twenty. */
const CLAIMED_LANES = 500;
const CLAIMED_AT_ONCE = 20;
const LEASE_MS = 600_000;
const IDLE_MS = 10_000;
const WORKING_MS = 60_000;

/** That a claim costs the same however much waits. */
export const manyLanesClaim: Scenario = {
  name: 'many-lanes-claim',
  shows:
    'claiming one message of each of 500 lanes, of 1,000,000 queued (unless said otherwise) over 10,000 lanes, beside 1,000 queued',
  sides: [
    { name: 'deep queue', missing: () => null, run: (options) => timeClaims(options.deep, LANES, options) },
    { name: '1,000 queued', missing: () => null, run: (options) => timeClaims(FEW, FEW, options) },
  ],
  mostPairs: 3,
  targets: [{ metric: 'claimMicroseconds', of: 'ratio', atMost: 1.3 }],
};

/** That many destinations, all of them in trouble, cost disk and not memory. */
export const manyLanesMemory: Scenario = {
  name: 'many-lanes-memory',
  shows:
    'resident memory after a minute of work on 1,000,000 queued (unless said otherwise) over 10,000 lanes that the DNS knows nothing of',
  sides: [{ name: 'Waybill', missing: () => null, run: measureMemory }],
  mostPairs: 1,
  targets: [{ metric: 'aboveIdleMiB', of: 'value', atMost: 150 }],
};

async function timeClaims(messages: number, lanes: number, { directory }: RunOptions): Promise<Sample> {
  const data = path.join(directory, 'data');
  await makeBacklog(data, { messages, lanes, relay: RELAY });
  const { store } = openSqlite(path.join(data, 'waybill.db'));
  const at = { node: 'bench', now: systemClock.wall() };
  const names = Array.from({ length: CLAIMED_LANES }, (_, number) =>
    laneOfBacklog({ lanes, relay: RELAY }, number),
  );
  const leases = await store.acquireLanes(names, 0, at.now + LEASE_MS, at);
  const times: number[] = [];
  for (let first = 0; first < leases.length; first += CLAIMED_AT_ONCE) {
    const requests = leases
      .slice(first, first + CLAIMED_AT_ONCE)
      .map((lease) => ({ ...lease, order: 'high_first' as const, limit: 1, maxRecipients: 10 }));
    const before = performance.now();
    const answers = await store.claim(requests, at);
    times.push(((performance.now() - before) / requests.length) * 1000);
    if (answers.some(({ units }) => units.length !== 1)) throw new Error('a claim found nothing');
  }
  await store.close();
  // The median: a claim in between that meets a checkpoint says something of the disk.
  return { claimMicroseconds: times.sort((a, b) => a - b)[times.length >> 1] ?? Number.NaN };
}

async function measureMemory(options: RunOptions): Promise<Sample> {
  // Nobody answers there: every attempt ends where the DNS is asked.
  const yaml = `server: { hostname: mail.example.com }
delivery: { default_relay: ${RELAY} }
dns: { servers: ["127.0.0.1:${await freePort()}"] }
relays:
  - { name: ${RELAY}, type: mx, max_concurrency: 200 }
`;
  const idle = await start({ ...options, directory: path.join(options.directory, 'idle') }, yaml, IDLE_MS);
  const directory = path.join(options.directory, 'busy');
  await makeBacklog(path.join(directory, 'data'), { messages: options.deep, lanes: LANES, relay: RELAY });
  const busy = await start({ ...options, directory }, yaml, WORKING_MS);
  return {
    peakMemoryMiB: busy.peakBytes / MIB,
    aboveIdleMiB: (busy.residentBytes - idle.residentBytes) / MIB,
  };
}

async function start(options: RunOptions, yaml: string, ms: number) {
  const system = await startConfigured(options, yaml, []);
  await sleep(ms);
  const usage = system.usage();
  await system.stop();
  return usage;
}
