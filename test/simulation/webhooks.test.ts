import { describe, expect, test } from 'vitest';
import { tell } from '../support/proof.ts';
import { seedsOr } from './seeds.ts';
import { playWebhooks, type WebhookHistory } from './webhook-world.ts';

/** Endpoints that are slow, dead, hostile, fickle, busy or gone, over ten days and nodes that die (contract-2 §B3). */

/** So many histories hold whatever may happen: fewer may miss something. */
const ENOUGH = 50;

describe('what endpoints of webhooks are told', () => {
  const seeds = seedsOr('1-50');
  const timeout = 180_000 + seeds.length * 10_000;
  test(`keeps every law in ${seeds.length} histories`, { timeout }, async () => {
    const sums: Record<string, number> = {};
    let lagMs = 0;
    for (const seed of seeds) {
      const { lagMs: lag, ...counts } = await played(seed);
      lagMs = Math.max(lagMs, Math.round(lag));
      for (const [what, count] of Object.entries(counts)) sums[what] = (sums[what] ?? 0) + count;
    }
    // Whatever may happen has, where there are many.
    if (seeds.length >= ENOUGH) expect(Object.entries(sums).filter(([, count]) => count === 0)).toEqual([]);
    tell('webhook histories', { histories: seeds.length, ...sums }, { 'ms of lag': lagMs });
  });
});

async function played(seed: number): Promise<WebhookHistory> {
  try {
    return await playWebhooks(seed);
  } catch (error) {
    throw new Error(`replay: WAYBILL_SEEDS=${seed}-${seed} npx vitest run test/simulation/webhooks`, {
      cause: error,
    });
  }
}
