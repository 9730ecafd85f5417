import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { localReply } from '../domain/outcome.ts';
import { silentLog } from '../lib/log.ts';
import { type Event, Events } from './events.ts';
import { createLog, LogRing, MAX_LINES } from './log.ts';
import { MAX_DENIED, MAX_HAPPENINGS, rememberDenied, rememberRelays, tallyDenials } from './remembered.ts';

const denied = (sourceAddress: string, rest: Partial<Extract<Event, { type: 'denied' }>> = {}): Event => ({
  type: 'denied',
  reason: 'relay_not_allowed',
  sourceAddress,
  count: 1,
  ...rest,
});

describe('refused sources', () => {
  test('are counted by source and reason, those refused last first', async () => {
    const clock = new ManualClock();
    const events = new Events();
    const { list } = rememberDenied(events, clock);
    const start = clock.wall();
    events.emit(denied('192.0.2.1'));
    events.emit(denied('192.0.2.2', { reason: 'source_not_allowed', port: 'api' }));
    await clock.advance(1000);
    events.emit(denied('192.0.2.1', { count: 5 }));
    events.emit({ ...denied('192.0.2.3'), sourceAddress: null } as Event);
    events.emit(denied('192.0.2.1', { keyId: 'key_shop' }));
    expect(list()).toMatchObject([
      { sourceAddress: '192.0.2.1', count: 1, keyId: 'key_shop' },
      { sourceAddress: '192.0.2.1', count: 6, firstAt: start, lastAt: start + 1000, port: null, keyId: null },
      { sourceAddress: '192.0.2.2', count: 1, reason: 'source_not_allowed', port: 'api' },
    ]);
  });

  test('are taken back one by one', () => {
    const events = new Events();
    const { list, takeBack } = rememberDenied(events, new ManualClock());
    events.emit(denied('192.0.2.1', { count: 2 }));
    takeBack('192.0.2.1', 'another');
    takeBack('192.0.2.2', 'relay_not_allowed');
    takeBack('192.0.2.1', 'relay_not_allowed');
    expect(list()).toMatchObject([{ sourceAddress: '192.0.2.1', count: 1 }]);
    takeBack('192.0.2.1', 'relay_not_allowed');
    expect(list()).toEqual([]);
  });

  test('are forgotten beyond a number, those refused longest ago first', () => {
    const events = new Events();
    const { list } = rememberDenied(events, new ManualClock());
    for (let i = 0; i < MAX_DENIED; i++) events.emit(denied(`10.0.${i >> 8}.${i & 255}`));
    events.emit(denied('10.0.0.0'));
    events.emit(denied('192.0.2.1'));
    const sources = list().map(({ sourceAddress }) => sourceAddress);
    expect(sources).toHaveLength(MAX_DENIED);
    expect(sources.slice(0, 2)).toEqual(['192.0.2.1', '10.0.0.0']);
    expect(sources).not.toContain('10.0.0.1');
  });
});

test('rests and recoveries are remembered by relay, the newest first, up to a number', () => {
  const events = new Events();
  const history = rememberRelays(events, new ManualClock());
  const rest = {
    type: 'lane_paused',
    pauseMs: 30_000,
    reply: localReply('x'.repeat(900), '', ''),
    again: false,
  } as const;
  events.emit({ ...rest, lane: 'mx/example.net' });
  events.emit({ type: 'lane_resumed', lane: 'mx/example.net' });
  events.emit({ ...rest, lane: 'out' });
  expect(history.of('mx')).toMatchObject([
    { lane: 'mx/example.net', kind: 'recovered', pauseMs: null, cause: null },
    { lane: 'mx/example.net', kind: 'rested', pauseMs: 30_000 },
  ]);
  expect(history.of('out')[0]?.cause).toHaveLength(500);
  for (let i = 0; i < MAX_HAPPENINGS; i++) events.emit({ type: 'lane_resumed', lane: 'out' });
  expect(history.of('out')).toHaveLength(MAX_HAPPENINGS);
  expect(history.of('out').some(({ kind }) => kind === 'rested')).toBe(false);
  expect(history.of('nowhere')).toEqual([]);
});

test('the last lines of the log are remembered as they were written, up to a number', () => {
  const ring = new LogRing();
  const destination = { write() {} };
  const settings = { level: 'info', addresses: 'domain', format: 'json' } as const;
  const log = createLog({ ...settings, clock: new ManualClock(), destination, ring });
  log.debug('too.little');
  log.info('message.accepted', { to: 'ann@example.net', long: 'x'.repeat(2000) });
  const [line] = ring.lines();
  expect(line).toMatchObject({ number: 1, level: 'info', event: 'message.accepted' });
  expect(line?.fields['to']).not.toContain('ann');
  expect(line?.fields['long']).toHaveLength(1000);
  for (let i = 0; i < MAX_LINES; i++) log.warn('again');
  const numbers = ring.lines().map(({ number }) => number);
  expect(numbers).toHaveLength(MAX_LINES);
  expect([numbers[0], numbers.at(-1)]).toEqual([2, MAX_LINES + 1]);
});

const NOW = Date.UTC(2026, 10, 20);

function world(refuse: () => boolean = () => false) {
  const events = new Events();
  const clock = new ManualClock(NOW);
  const written: [count: number, now: number][] = [];
  const store = {
    tally: async (counts: readonly { count: number }[], at: { now: number }) => {
      if (refuse()) throw new Error('no');
      for (const { count } of counts) written.push([count, at.now]);
    },
  };
  const deny = (count: number) =>
    events.emit({ type: 'denied', reason: 'key_unknown', sourceAddress: null, count });
  const denials = tallyDenials({ events, store, node: 'n1', clock, log: silentLog });
  return { clock, written, deny, denials, events };
}

test('refusals are written once a second, together', async () => {
  const { clock, written, deny, denials } = world();
  deny(1);
  deny(2);
  expect(written).toEqual([]);
  await clock.advance(1000);
  expect(written).toEqual([[3, NOW + 1000]]);
  await clock.advance(5000);
  expect(written).toHaveLength(1);
  await denials.stop();
});

test('what is pending at the stop is written, and nothing is counted after it', async () => {
  const { written, deny, denials } = world();
  deny(4);
  await denials.stop();
  deny(1);
  expect(written).toEqual([[4, NOW]]);
});

test('what the store does not take is kept for the next second', async () => {
  let refusing = true;
  const { clock, written, deny, denials } = world(() => refusing);
  deny(1);
  await clock.advance(1000);
  deny(1);
  refusing = false;
  await clock.advance(1000);
  expect(written).toEqual([[2, NOW + 2000]]);
  await denials.stop();
});

test('only refusals are counted', async () => {
  const { events, written, denials } = world();
  events.emit({ type: 'reclaimed', released: 3, unknown: 0 });
  await denials.stop();
  expect(written).toEqual([]);
});
