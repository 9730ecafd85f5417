import { expect, it } from 'vitest';
import { NO_EVIDENCE } from '../domain/attempt.ts';
import type { Feedback } from '../domain/feedback.ts';
import type { Outcome } from '../domain/outcome.ts';
import { StoreError, type Unit } from '../store/store.ts';
import type { TransportResult } from '../transport/transport.ts';
import { createPlay } from './playing.ts';

const CAPTURED: Outcome = {
  kind: 'delivered',
  captured: true,
  reply: { code: 250, enhanced: '2.0.0', cause: 'captured', text: '' },
  providerMessageId: null,
  dsnPassed: false,
};
const LOST: Outcome = {
  kind: 'deferred',
  reply: { code: null, enhanced: null, cause: 'lease_lost', text: '' },
};

function unitTo(addresses: readonly string[]): Unit {
  return {
    messageId: 'msg_1',
    lane: 'inbox',
    fence: 1,
    relay: 'inbox',
    headerFrom: 'a@example.com',
    keyId: null,
    tags: [],
    reversePath: 'a@example.com',
    ret: null,
    envid: null,
    content: { segment: 1, offset: 0, length: 1 },
    part: null,
    sizeBytes: 1,
    flags: { eightBit: false, utf8: false, dotStuffing: false },
    priority: 'normal',
    test: true,
    reportable: false,
    createdAt: 0,
    deliveries: addresses.map((address, index) => ({
      index,
      recipient: { address, kind: 'to', notify: null, orcpt: null },
      attempts: 0,
      expiresAt: 1,
      dueAt: 0,
      group: ['inbox'],
      delayReported: false,
    })),
  };
}

function captured(unit: Unit, outcome: Outcome = CAPTURED): TransportResult {
  const outcomes = unit.deliveries.map(() => outcome);
  return { outcomes, evidence: NO_EVIDENCE, hopFailed: false, restMs: null };
}

const noFault = (code: string) => expect.unreachable(code);

it('leaves mail alone that asks for nothing, or was not captured', async () => {
  const play = createPlay({ plan: () => expect.unreachable('planned') }, noFault);
  const plain = captured(unitTo(['ann@shop.test']));
  expect(await play(unitTo(['ann@shop.test']), plain)).toBe(plain);
  const asking = unitTo(['bounce@shop.test']);
  expect((await play(asking, captured(asking, LOST))).outcomes).toEqual([LOST]);
});

it('defers those for whom nothing more can be planned', async () => {
  const told: Feedback[] = [];
  const plan = async (some: readonly Feedback[]) => {
    told.push(...some);
    return some.map((_, place) => place === 0);
  };
  const unit = unitTo(['complain@shop.test', 'reject@shop.test', 'ann@shop.test', 'bounce@shop.test']);
  const { outcomes } = await createPlay({ plan }, noFault)(unit, captured(unit));
  expect(outcomes.map(({ kind }) => kind)).toEqual(['delivered', 'rejected', 'delivered', 'deferred']);
  expect(outcomes[3]?.reply.cause).toBe('not_planned');
  expect(told.map(({ kind, message }) => [kind, message.token?.recipient])).toEqual([
    ['complaint', 0],
    ['bounce', 3],
  ]);
});

it('defers them, and tells, where nothing can be written', async () => {
  const faults: string[] = [];
  const plan = () => Promise.reject(new StoreError('store_full', 'the disk is full'));
  const unit = unitTo(['bounce@shop.test', 'delivered@shop.test']);
  const { outcomes } = await createPlay({ plan }, (code) => faults.push(code))(unit, captured(unit));
  expect(outcomes.map(({ kind }) => kind)).toEqual(['deferred', 'delivered']);
  expect(faults).toEqual(['not_planned']);
});
