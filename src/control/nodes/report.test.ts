import { expect, test } from 'vitest';
import type { LaneFigures } from '../../engine/contract.ts';
import { MAX_REPORT_BYTES } from '../../store/cluster.ts';
import { type NodeReport, readReport, writeReport } from './report.ts';

const NOTHING: NodeReport = {
  relays: [],
  lanes: [],
  denied: [],
  happenings: [],
  checks: [],
  certificateEndsAt: null,
  news: {},
};
const AT = Date.UTC(2026, 10, 20, 11, 15);

function lane(name: string, figures: Partial<LaneFigures> = {}): LaneFigures {
  const [relay = ''] = name.split('/');
  return {
    lane: name,
    relay,
    inFlight: 0,
    concurrency: 5,
    inHand: 0,
    perMinute: 0,
    lastReply: null,
    state: 'closed',
    restsUntil: null,
    restsSince: null,
    spent: false,
    held: null,
    restCause: null,
    restReply: null,
    ...figures,
  };
}

function reply(text: string, at = AT) {
  return { code: 250, enhanced: '2.0.0', text, at };
}

test('what a node knows is read as it was written', () => {
  const report: NodeReport = {
    relays: [{ name: 'out', state: 'open', inflight: 3, refusal: 'auth_failed 535 5.7.8' }],
    lanes: [lane('mx/example.org', { inFlight: 2, inHand: 3, lastReply: reply('ok'), restsUntil: AT })],
    denied: [
      {
        sourceAddress: '192.0.2.7',
        reason: 'unauthorized',
        port: 'api',
        keyId: null,
        count: 4,
        firstAt: AT,
        lastAt: AT + 1,
      },
    ],
    happenings: [{ at: AT, lane: 'out', kind: 'rested', pauseMs: 1000, cause: 'connection_refused' }],
    checks: [{ name: 'disk', status: 'critical', detail: 'The disk is full.' }],
    certificateEndsAt: AT,
    news: { messages: 7 },
  };
  expect(readReport(writeReport(report))).toEqual(report);
});

test('relays and lanes of which there is nothing to tell are left out; the busiest come first', () => {
  const { relays, lanes } = readReport(
    writeReport({
      ...NOTHING,
      relays: [
        { name: 'idle', state: 'closed', inflight: 0, refusal: null },
        { name: 'some', state: 'closed', inflight: 1, refusal: null },
        { name: 'most', state: 'closed', inflight: 9, refusal: null },
      ],
      lanes: [
        lane('silent'),
        lane('heard', { lastReply: reply('ok') }),
        lane('heard-later', { lastReply: reply('ok', AT + 1) }),
        lane('some', { inHand: 1 }),
        lane('resting', { state: 'open' }),
        lane('most', { inHand: 9 }),
      ],
    }),
  );
  expect(relays.map(({ name }) => name)).toEqual(['most', 'some']);
  expect(lanes.map((one) => one.lane)).toEqual(['most', 'some', 'resting', 'heard-later', 'heard']);
});

test('a report is never longer than a beat takes, however much there is to tell', () => {
  const many = Array.from({ length: 2_000 }, (_, index) => index);
  const long = 'ü'.repeat(3_000);
  const json = writeReport({
    relays: many.map((index) => ({ name: `relay-${index}`, state: 'open', inflight: index, refusal: null })),
    lanes: many.map((index) =>
      lane(`mx/${index}.example.org`, { inHand: index + 1, lastReply: reply(long) }),
    ),
    denied: many.map((index) => ({
      sourceAddress: `2001:db8::${index}`,
      reason: 'unauthorized',
      port: null,
      keyId: null,
      count: 1,
      firstAt: AT,
      lastAt: AT,
    })),
    happenings: many.map(() => ({ at: AT, lane: 'out', kind: 'rested', pauseMs: 1, cause: long })),
    checks: many.map((index) => ({
      name: `check-${index}`,
      status: 'degraded',
      detail: 'Something is wrong.',
    })),
    certificateEndsAt: null,
    news: {},
  });
  expect(Buffer.byteLength(json)).toBeLessThanOrEqual(MAX_REPORT_BYTES);
  const { relays, lanes, denied, happenings, checks } = readReport(json);
  expect(relays[0]?.name).toBe('relay-1999');
  expect(lanes[0]).toMatchObject({ lane: 'mx/1999.example.org', lastReply: { text: long.slice(0, 200) } });
  expect(
    Math.min(relays.length, lanes.length, denied.length, happenings.length, checks.length),
  ).toBeGreaterThan(10);
});

test('of mail addresses in a reply, a report shows only the domains, also where it is cut', () => {
  const text = `${'x'.repeat(190)} 550 <ann@example.org> unknown`;
  const replies = { lastReply: reply(text), restReply: reply(text, AT - 1) };
  const told = reply(`${'x'.repeat(190)} 550 <*@ex`);
  const json = writeReport({ ...NOTHING, lanes: [lane('out', replies)] });
  expect(readReport(json).lanes).toMatchObject([{ lastReply: told, restReply: { ...told, at: AT - 1 } }]);
});

test.each(['', '{', 'null', '[]', '7', '{"relays":7}', '{"lanes":[{"lane":7}]}', '{"denied":[null]}'])(
  'a report that cannot be read says nothing: %s',
  (json) => {
    expect(readReport(json)).toEqual(NOTHING);
  },
);

test('what another version writes in another way is left out alone', () => {
  const relays = [{ name: 'out', state: 'open', inflight: 1, since: 7 }];
  const json = JSON.stringify({ relays, lanes: 'none', more: true });
  expect(readReport(json)).toEqual({
    ...NOTHING,
    relays: [{ name: 'out', state: 'open', inflight: 1, refusal: null }],
  });
});
