import type { Suppression, SuppressionReason } from '../../../../src/domain/suppression.ts';
import { createIdSource } from '../../../../src/lib/id.ts';
import { seededRandom } from '../../../../src/lib/random.ts';
import type { World } from '../world.ts';

/** Adds an entry for `name@example.org`, so many seconds after the epoch. */
export type Suppress = (
  name: string,
  reason: SuppressionReason,
  after: number,
  facts?: Partial<Suppression>,
) => Promise<void>;

/** Entries of the suppression list that lists of providers show; their ids follow from their times. */
export function suppressing(world: () => World, epoch: number): Suppress {
  let now = epoch;
  const nextId = createIdSource({ wall: () => now }, seededRandom(1), 'sup_');
  return async (name, reason, after, facts = {}) => {
    now = epoch + after * 1000;
    const entry: Suppression = {
      id: nextId(),
      address: `${name}@example.org`,
      scope: 'global',
      stream: null,
      reason,
      source: 'smtp',
      evidence: null,
      note: '',
      createdAt: now,
      updatedAt: now,
      expiresAt: null,
      ...facts,
    };
    await world().stores.suppressions.addSuppressions([entry], { max: 10_000, by: 'hand', now });
  };
}
