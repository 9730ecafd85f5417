import { systemClock } from '../../src/lib/clock.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { fillQueue, laneOfBacklog } from '../load/backlog.ts';
import { postgresMissing, startPostgres } from '../systems/postgres.ts';
import type { Sample, Scenario } from './scenario.ts';

const FEW = 1_000;
const CLAIMED_AT_ONCE = 100;
/** As many as the smaller queue has. */
const CLAIMS = 10;
const LEASE_MS = 3_600_000;
const QUEUE = { lanes: 1, relay: 'out' };
const CONTENT = { segment: 1, offset: 0, length: 5_000 };

/** That over PostgreSQL a claim costs the same however much waits in its lane. */
export const postgresBacklog: Scenario = {
  name: 'postgres-backlog',
  shows:
    'claiming 100 messages of a lane over PostgreSQL, of 1,000,000 (unless said otherwise) that wait in it, beside 1,000',
  sides: [
    { name: 'deep queue', missing: postgresMissing, run: (options) => timeClaims(options.deep) },
    { name: '1,000 queued', missing: postgresMissing, run: () => timeClaims(FEW) },
  ],
  mostPairs: 1,
  targets: [{ metric: 'claimMicroseconds', of: 'ratio', atMost: 1.3 }],
};

async function timeClaims(messages: number): Promise<Sample> {
  const database = await startPostgres();
  try {
    const { store } = await openPostgres({ url: database.url });
    await fillQueue(store, { ...QUEUE, messages }, CONTENT);
    const at = { node: 'bench', now: systemClock.wall() };
    const lane = laneOfBacklog(QUEUE, 0);
    const [lease] = await store.acquireLanes([lane], 0, at.now + LEASE_MS, at);
    if (lease === undefined) throw new Error('the lane was not granted');
    const request = { ...lease, order: 'high_first', limit: CLAIMED_AT_ONCE, maxRecipients: 10 } as const;
    const times: number[] = [];
    for (let claims = 0; claims < CLAIMS; claims++) {
      const before = performance.now();
      const [answer] = await store.claim([request], at);
      times.push(((performance.now() - before) / CLAIMED_AT_ONCE) * 1000);
      if (answer?.units.length !== CLAIMED_AT_ONCE) throw new Error('a claim found too little');
    }
    await store.close();
    return { claimMicroseconds: times.sort((a, b) => a - b)[times.length >> 1] ?? Number.NaN };
  } finally {
    await database.stop();
  }
}
