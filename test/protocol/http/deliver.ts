import { NO_EVIDENCE } from '../../../src/domain/attempt.ts';
import type { LaneLease } from '../../../src/domain/lane.ts';
import { localReply, type Outcome } from '../../../src/domain/outcome.ts';
import { dayOf } from '../../../src/domain/quota.ts';
import { type SettlePolicy, settle } from '../../../src/domain/settle.ts';
import type { Unit } from '../../../src/store/store.ts';
import { attemptedEvent } from '../../support/engine-events.ts';
import type { World } from './world.ts';

/** Where the world's route leads, and where the mail of test keys goes. */
const LANES = ['out', 'inbox'];
const POLICY: SettlePolicy = { firstMs: 30_000, maxMs: 3_600_000, maxAgeMs: 1000, ambiguous: 'retry' };

/** The next hop took it. */
export const DELIVERED: Outcome = {
  kind: 'delivered',
  captured: false,
  reply: { code: 250, enhanced: '2.0.0', cause: 'smtp_reply', text: '2.0.0 Ok: queued as 4711' },
  providerMessageId: '4711',
  dsnPassed: false,
};

/** The local inbox took it. */
export const CAPTURED: Outcome = { ...DELIVERED, captured: true, providerMessageId: null };

/** The next hop will not take it now. */
export const DEFERRED: Outcome = {
  kind: 'deferred',
  reply: localReply('greylisted', '4.2.0', 'Come back later.'),
};

/** The next hop will never take it. */
export const REJECTED: Outcome = {
  kind: 'rejected',
  reply: { code: 550, enhanced: '5.1.1', cause: 'smtp_reply', text: '5.1.1 No such user' },
};

/**
 * Attempts everything that is due, as the engine would, with this outcome for every recipient; tells the bus. Each unit takes
 * so many recipients off its relay's day.
 */
export async function attempt(world: World, outcome: Outcome, quota = 0): Promise<void> {
  const { store } = world.stores;
  const now = world.clock.wall();
  const at = { node: 'test', now };
  const leases = await store.acquireLanes(LANES, 0, now + 45_000, at);
  if (leases.length < LANES.length) throw new Error('a lane was not granted');
  const claimed = await store.claim(
    leases.map((lease) => ({ ...lease, order: 'high_first', limit: 100, maxRecipients: 100 })),
    at,
  );
  for (const [i, lease] of leases.entries())
    for (const unit of claimed[i]?.units ?? []) await settleUnit(world, lease, unit, outcome, quota);
  await store.releaseLanes(leases, at);
}

/** Attempts one unit of a lane that was claimed. */
async function settleUnit(
  world: World,
  { lane, fence }: LaneLease,
  unit: Unit,
  outcome: Outcome,
  recipients: number,
): Promise<void> {
  const { store } = world.stores;
  const now = world.clock.wall();
  const at = { node: 'test', now };
  const indexes = unit.deliveries.map(({ index }) => index);
  const ref = { messageId: unit.messageId, lane, fence, indexes };
  const quota = recipients === 0 ? null : { relay: lane, day: dayOf(now), recipients, limit: recipients };
  await store.begin([{ ...ref, recipients: [], quota }], at);
  const results = indexes.map((index) => ({ index, outcome }));
  const facts = { attempts: 0, expiresAt: now + 1e9 };
  const transitions = indexes.map(() => settle(facts, outcome, POLICY, now, 0.5));
  const record = { startedAt: now, relay: lane, evidence: NO_EVIDENCE, results };
  await store.settle(
    [{ unit: ref, attempt: record, transitions, report: null, delayReported: [], refund: null }],
    at,
  );
  const ended = indexes.map((index) => ({ address: String(index), state: 'delivered' as const, outcome }));
  world.events.emit(attemptedEvent({ messageId: unit.messageId, relay: lane, results: ended }));
}

/** Removes the contents of every final message, as retention does; the records stay. */
export async function dropContents(world: World): Promise<void> {
  const policy = {
    contentAgeMs: 0,
    contentMaxBytes: 0,
    capturedAgeMs: 0,
    capturedMaxBytes: 0,
    recordAgeMs: 365 * 24 * 3_600_000,
    eventAgeMs: 365 * 24 * 3_600_000,
    feedbackAgeMs: 365 * 24 * 3_600_000,
    maxUnsubscribeLinks: 1000,
  };
  await world.stores.store.purge(policy, 100, { node: 'test', now: world.clock.wall() + 1 });
}
