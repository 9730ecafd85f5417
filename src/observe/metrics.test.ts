import { expect, test } from 'vitest';
import { acceptedEvent, attemptedEvent } from '../../test/support/engine-events.ts';
import type { Outcome } from '../domain/outcome.ts';
import { Events } from './events.ts';
import { Counters, createMetrics, createProcessMeter, Histogram } from './metrics.ts';

test('a label with quotes, backslashes or line ends is escaped', () => {
  const text = createMetrics({
    version: 'a"b\\c\nd',
    startedAt: 0,
    now: () => 0,
    snapshot: () => ({ figures: null, databaseReachable: false, databaseLatencyMs: 0, disk: null }),
    relays: () => [],
    counters: new Counters(),
    smtpConnections: () => 0,
    bytesInFlight: () => 0,
    flushes: () => ({ storeCommits: 0, spoolFlushes: 0 }),
    certificateExpiresAt: () => null,
    certificateOrderFailures: () => 0,
    process: () => ({
      cpuSeconds: 0,
      residentBytes: 0,
      heapBytes: 0,
      loopDelay: { mean: 0, p99: 0, max: 0 },
    }),
  }).render();
  expect(text).toContain('svc_build_info{version="a\\"b\\\\c\\nd"} 1\n');
  expect(text).toContain('\nsvc_disk_free_bytes -1\n');
});

test('an observation falls into the first bucket whose bound it does not exceed', () => {
  const histogram = new Histogram([1, 2]);
  for (const value of [0, 1, 1.1, 2, 3]) histogram.observe(value);
  expect(histogram.counts).toEqual([2, 2, 1]);
  expect(histogram.sum).toBeCloseTo(7.1);
});

test('events are counted by source and by what an attempt did for each recipient', () => {
  const events = new Events();
  const counters = new Counters();
  const stop = counters.listen(events);
  const reply = { code: 1, enhanced: null, cause: 'smtp_reply', text: '' };
  const result = (outcome: Outcome) => ({ address: 'a@x.org', state: 'retrying' as const, outcome });
  const accepted = { sizeBytes: 10, durationMs: 4 };
  events.emit(acceptedEvent({ source: 'api', ...accepted }));
  events.emit(acceptedEvent({ source: 'smtp', ...accepted }));
  events.emit(
    attemptedEvent({
      durationMs: 1500,
      results: [
        result({ kind: 'deferred', reply }),
        result({ kind: 'deferred', reply }),
        result({ kind: 'unknown', reply }),
      ],
    }),
  );
  events.emit({ type: 'denied', reason: 'key_unknown', sourceAddress: null, count: 3 });
  events.emit({ type: 'feedback', source: 'webhook:aws', result: 'ignored', count: 2 });
  events.emit({ type: 'feedback', source: 'webhook:aws', result: 'ignored', count: 1 });
  const told = {
    type: 'told',
    source: 'webhook:aws',
    verdict: 'matched',
    changed: true,
    messageId: 'msg_1',
    address: 'a@x.org',
    relay: 'aws',
    bounce: null,
    entry: null,
    counted: null,
  } as const;
  events.emit({ ...told, kind: 'bounce', bounce: 'hard' });
  events.emit({ ...told, kind: 'bounce', bounce: 'hard', verdict: 'repeated' });
  events.emit({ ...told, kind: 'bounce', bounce: 'soft', relay: null, source: 'dsn' });
  events.emit({ ...told, kind: 'complaint' });
  events.emit({ ...told, kind: 'complaint', changed: false });
  // It is tried again, and counted then.
  events.emit({ ...told, kind: 'complaint', verdict: 'early' });
  events.emit({ ...told, kind: 'complaint', verdict: 'unmatched' });
  const stopped = { address: 'a@x.org', reason: 'complaint' } as const;
  events.emit({ type: 'suppressed', messageId: 'msg_1', recipients: [stopped, stopped] });
  events.emit({ type: 'signed_in', way: 'passkey', result: 'refused' });
  stop();
  events.emit({ type: 'denied', reason: 'key_unknown', sourceAddress: null, count: 3 });
  expect(counters.accepted).toEqual({ api: 1, smtp: 1, cli: 0 });
  expect(counters.acceptedBytes).toBe(20);
  expect(counters.results).toEqual({ delivered: 0, deferred: 2, rejected: 0, unknown: 1 });
  expect(counters.denied).toBe(3);
  expect(counters.feedback.samples()).toEqual([
    { labels: { source: 'webhook:aws', kind: 'none', result: 'ignored' }, value: 3 },
    { labels: { source: 'webhook:aws', kind: 'bounce', result: 'matched' }, value: 1 },
    { labels: { source: 'webhook:aws', kind: 'bounce', result: 'ignored' }, value: 1 },
    { labels: { source: 'dsn', kind: 'bounce', result: 'matched' }, value: 1 },
    { labels: { source: 'webhook:aws', kind: 'complaint', result: 'matched' }, value: 2 },
    { labels: { source: 'webhook:aws', kind: 'complaint', result: 'unmatched' }, value: 1 },
  ]);
  expect(counters.bounces.samples()).toEqual([
    { labels: { relay: 'aws', type: 'hard' }, value: 1 },
    { labels: { relay: '', type: 'soft' }, value: 1 },
  ]);
  expect(counters.complaints.samples()).toEqual([{ labels: { relay: 'aws' }, value: 1 }]);
  expect(counters.suppressed).toMatchObject({ complaint: 2, hard_bounce: 0 });
  expect(counters.signIns).toMatchObject({ password: { refused: 0 }, passkey: { refused: 1, done: 0 } });
  expect(counters.attemptDuration.sum).toBe(1.5);
});

/** Keeps the loop again and again, each time beyond a turn of what measures it: the first of those only begins. */
async function keepLoop(): Promise<void> {
  for (let times = 0; times < 3; times++) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

test('how late the loop is is measured from the first reading on', async () => {
  let now = 0;
  const meter = createProcessMeter({ mono: () => now });
  try {
    await keepLoop();
    expect(meter.read().loopDelay.max).toBe(0);
    now = 10_000;
    expect(meter.read().loopDelay.max, 'what was before').toBe(0);
    await keepLoop();
    now = 20_000;
    expect(meter.read().loopDelay.max).toBeGreaterThan(0);
  } finally {
    meter.stop();
  }
});

test('the process is measured, and delays stay for a whole window', () => {
  let now = 0;
  const meter = createProcessMeter({ mono: () => now });
  try {
    const first = meter.read();
    expect(first.residentBytes).toBeGreaterThan(first.heapBytes);
    expect(first.cpuSeconds).toBeGreaterThan(0);
    now = 9_999;
    expect(meter.read().loopDelay).toBe(first.loopDelay);
    now = 10_000;
    expect(meter.read().loopDelay).not.toBe(first.loopDelay);
  } finally {
    meter.stop();
  }
});
