/** Certificates over weeks of an authority that is ill in every way, and nodes that die, stand still and lose the store. */
import { expect, test } from 'vitest';
import { tell } from '../support/proof.ts';
import { playCertificates } from './certificate-world.ts';
import { seedsOr } from './seeds.ts';

/** So many histories hold whatever may happen: fewer may miss something. */
const ENOUGH = 20;

const sums: Record<string, number> = {};

test.each(seedsOr('1-2'))('seed %i keeps a certificate that is good', { timeout: 600_000 }, async (seed) => {
  const history = await playCertificates(seed).catch((error: unknown) => {
    throw new Error(`replay: WAYBILL_SEEDS=${seed}-${seed} npx vitest run test/simulation/certificates`, {
      cause: error,
    });
  });
  expect(history['stored']).toBeGreaterThan(3);
  for (const [what, count] of Object.entries(history)) sums[what] = (sums[what] ?? 0) + count;
  sums['histories'] = (sums['histories'] ?? 0) + 1;
});

test('all of them are told, and where they are many, whatever may happen is in them', () => {
  const missed = Object.entries(sums).filter(([, count]) => count === 0);
  if ((sums['histories'] ?? 0) >= ENOUGH) expect(missed).toEqual([]);
  tell('certificate histories', sums);
});
