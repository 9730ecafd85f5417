import { expect, test } from 'vitest';
import type { LaneFigures } from '../../engine/contract.ts';
import type { RelayStatus } from '../../observe/health-report.ts';
import type { DeniedTally } from '../../observe/remembered.ts';
import { type LaneHappening, MAX_HAPPENINGS } from '../../observe/remembered.ts';
import { deniedOfAll, happeningsOfAll, lanesOfAll, queueOfAll, relaysOfAll } from './figures.ts';
import type { NodeReport } from './report.ts';

const NOTHING: NodeReport = {
  relays: [],
  lanes: [],
  denied: [],
  happenings: [],
  checks: [],
  certificateEndsAt: null,
  news: {},
};
const OUT: RelayStatus = {
  name: 'out',
  state: 'closed',
  inflight: 2,
  disabled: false,
  quota: null,
  refusal: null,
};
const LANE: LaneFigures = {
  lane: 'out',
  relay: 'out',
  inFlight: 1,
  concurrency: 5,
  inHand: 2,
  perMinute: 10,
  lastReply: null,
  state: 'closed',
  restsUntil: null,
  restsSince: null,
  spent: false,
  restCause: null,
  restReply: null,
  held: null,
};
const REPLY = { code: 250, enhanced: null, text: 'ok', at: 10 };

test('attempts of a relay are added up over nodes, and its state is the worst of all', () => {
  const relay = (state: RelayStatus['state'], inflight: number) => ({
    ...NOTHING,
    relays: [
      { name: 'out', state, inflight, refusal: null },
      { name: 'gone', state, inflight, refusal: null },
    ],
  });
  expect(relaysOfAll([OUT], [relay('half_open', 3), relay('closed', 4)])).toEqual([
    { ...OUT, state: 'half_open', inflight: 9 },
  ]);
  expect(relaysOfAll([OUT], [relay('open', 0), relay('half_open', 0)])).toMatchObject([{ state: 'open' }]);
  expect(relaysOfAll([{ ...OUT, state: 'open' }], [relay('closed', 0)])).toMatchObject([{ state: 'open' }]);
});

test('what refuses us is told by whichever node was refused', () => {
  const told = {
    ...NOTHING,
    relays: [{ name: 'out', state: 'open', inflight: 0, refusal: 'auth_failed 535' } as const],
  };
  expect(relaysOfAll([OUT], [told])).toMatchObject([{ refusal: 'auth_failed 535' }]);
});

test("others' lanes stand beside our own", () => {
  const other = { ...LANE, lane: 'mx/example.org', relay: 'mx' };
  expect(lanesOfAll([LANE], [{ ...NOTHING, lanes: [other] }])).toEqual([LANE, other]);
  expect(lanesOfAll([], [{ ...NOTHING, lanes: [other] }])).toEqual([other]);
});

test('of a lane that goes from one node to another, what is under way is added up; the rest is of who works it', () => {
  const leaving = { ...LANE, inFlight: 1, inHand: 1, concurrency: 20, perMinute: 30, lastReply: REPLY };
  const holder = { ...LANE, inFlight: 4, inHand: 9, concurrency: 7, perMinute: 5, lastReply: null };
  const whole = { ...holder, inFlight: 5, inHand: 10, perMinute: 35, lastReply: REPLY };
  expect(lanesOfAll([leaving], [{ ...NOTHING, lanes: [holder] }])).toEqual([whole]);
  expect(lanesOfAll([holder], [{ ...NOTHING, lanes: [leaving] }])).toEqual([whole]);
});

test('a lane rests if it rests anywhere', () => {
  const resting = { ...LANE, inHand: 0, state: 'open', restsUntil: 77, restsSince: 70 } as const;
  expect(lanesOfAll([LANE], [{ ...NOTHING, lanes: [resting] }])).toMatchObject([
    { inHand: 2, state: 'open', restsUntil: 77, restsSince: 70 },
  ]);
});

test('why a lane rests is of the node on which it rests, whoever heard from its hop last', () => {
  const refused = { code: 421, enhanced: '4.7.0', text: 'Try later', at: 5 };
  const resting = { ...LANE, inHand: 0, state: 'open', restCause: '421 4.7.0', restReply: refused } as const;
  const well = { ...LANE, lastReply: REPLY };
  expect(lanesOfAll([well], [{ ...NOTHING, lanes: [resting] }])).toMatchObject([
    { lastReply: REPLY, restCause: '421 4.7.0', restReply: refused },
  ]);
});

test('one lane is looked up on all nodes, and is what the list of all says of it', () => {
  const resting = { ...LANE, inHand: 0, state: 'open', restsUntil: 77, restsSince: 70 } as const;
  const other = { ...LANE, lane: 'mx/example.org', relay: 'mx' };
  const own = { lanes: () => [LANE], lane: (name: string) => (name === LANE.lane ? LANE : null) };
  const queue = queueOfAll(own, () => [{ ...NOTHING, lanes: [other, resting] }]);
  for (const lane of queue.lanes()) expect(queue.lane(lane.lane)).toEqual(lane);
  expect(queue.lane(LANE.lane)).toMatchObject({ state: 'open', restsUntil: 77 });
  expect(queue.lane('mx/example.net')).toBeNull();
});

test('refusals of one source for one reason are added up, the last first', () => {
  const denied = (sourceAddress: string, count: number, firstAt: number, lastAt: number): DeniedTally => ({
    sourceAddress,
    reason: 'unauthorized',
    port: 'api',
    keyId: null,
    count,
    firstAt,
    lastAt,
  });
  const other = { ...denied('192.0.2.1', 9, 1, 9), reason: 'scope_missing' };
  const own = [denied('192.0.2.1', 2, 3, 5), denied('192.0.2.2', 1, 6, 6)];
  expect(deniedOfAll(own, [{ ...NOTHING, denied: [denied('192.0.2.1', 3, 2, 8), other] }])).toEqual([
    other,
    denied('192.0.2.1', 5, 2, 8),
    denied('192.0.2.2', 1, 6, 6),
  ]);
});

test('what happened to a relay is told of all nodes, the newest first, within its bound', () => {
  const happening = (at: number, lane: string): LaneHappening => ({
    at,
    lane,
    kind: 'rested',
    pauseMs: 1,
    cause: null,
  });
  const reports = [{ ...NOTHING, happenings: [happening(9, 'mx/a.example'), happening(8, 'out')] }];
  expect(happeningsOfAll([happening(5, 'mx/b.example')], reports, 'mx')).toEqual([
    happening(9, 'mx/a.example'),
    happening(5, 'mx/b.example'),
  ]);
  const many = Array.from({ length: MAX_HAPPENINGS }, (_, at) => happening(at, 'mx'));
  expect(happeningsOfAll(many, reports, 'mx')).toHaveLength(MAX_HAPPENINGS);
});
