import path from 'node:path';
import { parseQuery } from '../../src/domain/query.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { startViewsThread } from '../../src/threads/clients.ts';
import { makeArchive } from '../load/archive.ts';
import type { RunOptions, Sample, Scenario } from './scenario.ts';

const FEW = 1_000;
const ROUNDS = 9;

/** What people look for, and what costs most: words that all have, that none has, that never stand together; tokens without an index. */
const QUERIES = [
  '',
  'your',
  'zebra',
  'order parcel',
  '"your parcel" w77',
  'w499 order',
  'from:@shop.example your',
  'to:person41999@d999.example',
  'to:@d77.example parcel',
  'tag:news order',
  'key:key_3 status:failed',
  'status:failed',
  'relay:spare',
  'relay:nowhere',
  'is:captured',
  'your -order -parcel',
  'before:2026-01-02 your',
  'your relay:nowhere',
];

/** That a page of a search takes no longer than a tenth of a second, however many messages are stored. */
export const search: Scenario = {
  name: 'search',
  shows: 'a page of 50 of each of 18 searches in 1,000,000 messages (unless said otherwise), beside 1,000',
  sides: [
    { name: 'many messages', missing: () => null, run: (options) => timeSearches(options.deep, options) },
    { name: '1,000 messages', missing: () => null, run: (options) => timeSearches(FEW, options) },
  ],
  mostPairs: 1,
  targets: [{ metric: 'searchWorstMs', of: 'value', atMost: 100 }],
};

async function timeSearches(count: number, { directory }: RunOptions): Promise<Sample> {
  const file = path.join(directory, 'waybill.db');
  const cost = await makeArchive(file, count);
  const views = await startViewsThread({
    path: file,
    clock: systemClock,
    onDeath: (error) => {
      throw error;
    },
  });
  const medians: number[] = [];
  for (const text of QUERIES) {
    const { query } = parseQuery(text);
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const start = systemClock.mono();
      const page = await views.search({ query, after: null, before: null, limit: 50 });
      times.push(systemClock.mono() - start);
      if (process.env['BENCH_SEARCHES'] && round === 0)
        process.stdout.write(`${text}: ${page.messages.length}, ${page.next === null ? 'end' : 'more'}\n`);
    }
    const median = times.sort((a, b) => a - b)[ROUNDS >> 1] ?? Number.NaN;
    if (process.env['BENCH_SEARCHES'])
      process.stdout.write(`  ${median.toFixed(1)} ms, worst ${times.at(-1)?.toFixed(1)}\n`);
    medians.push(median);
  }
  await views.close();
  medians.sort((a, b) => a - b);
  return {
    ...cost,
    searchP50Ms: medians[medians.length >> 1] ?? Number.NaN,
    searchWorstMs: medians.at(-1) ?? Number.NaN,
  };
}
