import { describe, expect, test } from 'vitest';
import { NO_EVIDENCE } from '../domain/attempt.ts';
import { localReply, type Outcome } from '../domain/outcome.ts';
import type { Transition } from '../domain/settle.ts';
import type { ExpiringMessage, Unit, UnitDelivery } from '../store/store.ts';
import { owedByExpiry, owedBySettling } from './report-policy.ts';

const ACCEPTED_AT = 1_000;
const DELAY_MS = 10_000;
const REPLY = localReply('smtp_reply', '5.1.1', 'No such user');
const NOTIFY = [null, 'NEVER', 'FAILURE', 'SUCCESS', 'DELAY', 'SUCCESS,FAILURE', 'SUCCESS,FAILURE,DELAY'];

function delivery(index: number, notify: string | null, delayReported = false): UnitDelivery {
  const recipient = { address: `b${index}@y.test`, kind: 'to', notify, orcpt: null } as const;
  const times = { attempts: 0, expiresAt: 99_000, dueAt: ACCEPTED_AT };
  return { index, recipient, ...times, group: ['out'], delayReported };
}

function unit(deliveries: readonly UnitDelivery[], more: Partial<Unit> = {}): Unit {
  return {
    messageId: 'msg_1',
    lane: 'out',
    fence: 1,
    relay: 'out',
    reversePath: 'a@x.test',
    headerFrom: 'a@example.com',
    keyId: null,
    tags: [],
    ret: null,
    envid: null,
    content: { segment: 1, offset: 0, length: 1 },
    part: null,
    sizeBytes: 1,
    flags: { eightBit: false, utf8: false, dotStuffing: false },
    priority: 'normal',
    test: false,
    reportable: true,
    createdAt: ACCEPTED_AT,
    deliveries,
    ...more,
  };
}

const WAITS: Omit<Transition, 'state' | 'outcome'> = {
  nextAttemptAt: null,
  next: null,
  reply: REPLY,
  providerMessageId: null,
  possibleDuplicate: false,
};
const ENDS: Readonly<Record<string, readonly [Transition['state'], Transition['outcome'], Outcome]>> = {
  rejected: ['failed', 'rejected', { kind: 'rejected', reply: REPLY }],
  expired: ['failed', 'expired', { kind: 'deferred', reply: REPLY }],
  'no route': ['failed', 'no_route', { kind: 'deferred', reply: REPLY }],
  held: ['failed', 'unknown', { kind: 'unknown', reply: REPLY }],
  cancelled: ['failed', 'cancelled', { kind: 'deferred', reply: REPLY }],
  deferred: ['retrying', null, { kind: 'deferred', reply: REPLY }],
  taken: ['delivered', 'accepted', taken(false, false)],
  'taken by a hop that reports': ['delivered', 'accepted', taken(false, true)],
  captured: ['delivered', 'captured', taken(true, false)],
};

function taken(captured: boolean, dsnPassed: boolean): Outcome {
  return { kind: 'delivered', captured, reply: REPLY, providerMessageId: null, dsnPassed };
}

/** What the end of each delivery owes, all settled by one attempt. */
function owed(
  deliveries: readonly UnitDelivery[],
  ends: readonly string[],
  { now = ACCEPTED_AT, ...more }: Partial<Unit> & { readonly now?: number } = {},
) {
  const found = ends.flatMap((name) => (ENDS[name] === undefined ? [] : [ENDS[name]]));
  expect(found).toHaveLength(ends.length);
  return owedBySettling(
    unit(deliveries, more),
    {
      attempt: {
        startedAt: 5,
        relay: 'out',
        evidence: NO_EVIDENCE,
        results: found.map(([, , outcome], index) => ({ index, outcome })),
      },
      transitions: found.map(([state, outcome]) => ({ ...WAITS, state, outcome })) as Transition[],
    },
    { now, delayAfterMs: DELAY_MS },
  );
}

describe('what NOTIFY asks for is told, and no more', () => {
  const TABLE: readonly (readonly [end: string, action: string, asked: readonly (string | null)[]])[] = [
    ['rejected', 'failed', [null, 'FAILURE', 'SUCCESS,FAILURE', 'SUCCESS,FAILURE,DELAY']],
    ['expired', 'failed', [null, 'FAILURE', 'SUCCESS,FAILURE', 'SUCCESS,FAILURE,DELAY']],
    ['no route', 'failed', [null, 'FAILURE', 'SUCCESS,FAILURE', 'SUCCESS,FAILURE,DELAY']],
    ['held', '', []],
    ['cancelled', '', []],
    ['deferred', 'delayed', ['DELAY', 'SUCCESS,FAILURE,DELAY']],
    ['taken', 'relayed', ['SUCCESS', 'SUCCESS,FAILURE', 'SUCCESS,FAILURE,DELAY']],
    ['taken by a hop that reports', '', []],
    ['captured', 'delivered', ['SUCCESS', 'SUCCESS,FAILURE', 'SUCCESS,FAILURE,DELAY']],
  ];
  const cases = TABLE.flatMap(([end, action, asked]) =>
    NOTIFY.map((notify) => ({ end, notify, told: asked.includes(notify) ? [action] : [] })),
  );
  test.each(cases)('$end with NOTIFY=$notify: $told', ({ end, notify, told }) => {
    const found = owed([delivery(0, notify)], [end], { now: ACCEPTED_AT + DELAY_MS });
    expect(found?.recipients.map(({ action }) => action) ?? []).toEqual(told);
  });
});

test('nobody is told of mail without a sender, of test mail, or of a sender who may be forged', () => {
  const rejected = (more: Partial<Unit>) => owed([delivery(0, null)], ['rejected'], more);
  expect(rejected({})).not.toBeNull();
  expect(rejected({ reversePath: '' })).toBeNull();
  expect(rejected({ test: true })).toBeNull();
  expect(rejected({ reportable: false })).toBeNull();
});

test('one report tells of all recipients that an attempt decided, and is about the worst', () => {
  const all = 'SUCCESS,FAILURE,DELAY';
  const deliveries = [all, all, all, 'NEVER'].map((notify, index) => delivery(index, notify));
  const now = ACCEPTED_AT + DELAY_MS;
  const found = owed(deliveries, ['taken', 'deferred', 'rejected', 'rejected'], { now });
  expect(found?.recipients.map(({ recipient, action }) => [recipient.address, action])).toEqual([
    ['b0@y.test', 'relayed'],
    ['b1@y.test', 'delayed'],
    ['b2@y.test', 'failed'],
  ]);
  expect(found).toMatchObject({ kind: 'failed', delayed: [1] });
  expect(owed(deliveries, ['taken', 'deferred', 'taken', 'taken'], { now })?.kind).toBe('delayed');
  expect(owed(deliveries, ['taken', 'taken', 'taken', 'taken'])?.kind).toBe('success');
});

test('a delay is told once it has lasted, and once only', () => {
  const late = (now: number, delayReported: boolean) =>
    owed([delivery(0, 'DELAY', delayReported)], ['deferred'], { now })?.delayed ?? [];
  expect(late(ACCEPTED_AT + DELAY_MS - 1, false)).toEqual([]);
  expect(late(ACCEPTED_AT + DELAY_MS, false)).toEqual([0]);
  expect(late(ACCEPTED_AT + DELAY_MS, true)).toEqual([]);
});

describe('an expiry', () => {
  const heard = { lastCode: 451, lastEnhanced: '4.7.1', lastReply: 'Greylisted', relay: 'out' };
  const never = { lastCode: null, lastEnhanced: null, lastReply: null, relay: null };
  const message = (more: Partial<ExpiringMessage>): ExpiringMessage => {
    const { lane: _, fence: __, relay: ___, ...head } = unit([]);
    const deliveries = [
      { ...delivery(0, null), ...heard },
      { ...delivery(1, 'FAILURE'), ...never },
      { ...delivery(2, 'NEVER'), ...heard },
      { ...delivery(3, 'SUCCESS,DELAY'), ...heard },
    ];
    return { ...head, deliveries, ...more };
  };

  test('is told to those who want to know of failures, with the last reply where there was one', () => {
    expect(owedByExpiry(message({}))).toMatchObject({
      kind: 'failed',
      delayed: [],
      recipients: [
        {
          recipient: { address: 'b0@y.test' },
          action: 'failed',
          expired: true,
          reply: { code: 451, text: 'Greylisted' },
        },
        { recipient: { address: 'b1@y.test' }, action: 'failed', expired: true, reply: null },
      ],
    });
  });

  test('is told to nobody without a sender that is known', () => {
    for (const more of [{ reversePath: '' }, { test: true }, { reportable: false }])
      expect(owedByExpiry(message(more))).toBeNull();
  });
});
