import { expect, test } from 'vitest';
import { acceptedEvent, attemptedEvent, deliveryTo } from '../../test/support/engine-events.ts';
import { localReply, type Outcome, type Reply } from '../domain/outcome.ts';
import type { Log, LogFields } from '../lib/log.ts';
import { logEvents } from './event-log.ts';
import { type Event, Events } from './events.ts';

const REFUSED = localReply('connect_refused', '4.4.1', 'refuses connections');
const DENIED: Reply = { ...localReply('auth_failed', '5.7.8', 'Authentication failed'), code: 535 };

type Line = readonly [level: string, event: string, fields: LogFields];

function linesOf(...happened: Event[]): Line[] {
  const lines: Line[] = [];
  const at =
    (level: string) =>
    (event: string, fields: LogFields = {}) =>
      lines.push([level, event, fields]);
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const events = new Events();
  const stop = logEvents(events, log);
  for (const event of happened) events.emit(event);
  stop();
  for (const event of happened) events.emit(event);
  return lines;
}

const reply: Reply = { code: 250, enhanced: '2.0.0', cause: 'smtp_reply', text: 'queued as 7' };
const delivered: Outcome = {
  kind: 'delivered',
  captured: false,
  reply,
  providerMessageId: '7',
  dsnPassed: false,
};
const deferred: Outcome = { kind: 'deferred', reply: { ...reply, code: 451, text: 'later' } };
const lost: Outcome = {
  kind: 'unknown',
  reply: { ...reply, code: null, cause: 'connection_lost', text: '' },
};

test('an accepted message is one line', () => {
  expect(
    linesOf(
      acceptedEvent({
        requestId: 'r-7',
        source: 'smtp',
        deliveries: [deliveryTo('a@x.org'), deliveryTo('b@x.org')],
        sizeBytes: 9,
      }),
    ),
  ).toEqual([
    [
      'info',
      'message.accepted',
      { messageId: 'msg_1', requestId: 'r-7', via: 'smtp', recipients: 2, sizeBytes: 9 },
    ],
  ]);
});

test('an attempt is one line for each recipient, with the reply where it was not delivered', () => {
  const lines = linesOf(
    attemptedEvent({
      host: 'mx.example.net',
      durationMs: 12.4,
      results: [
        { address: 'a@x.org', state: 'delivered', outcome: delivered },
        { address: 'b@x.org', state: 'retrying', outcome: deferred },
        { address: 'c@x.org', state: 'failed', outcome: lost },
      ],
    }),
  );
  const base = { messageId: 'msg_1', relay: 'out', host: 'mx.example.net', durationMs: 12 };
  expect(lines).toEqual([
    ['info', 'delivery.delivered', { ...base, recipient: 'a@x.org', code: 250 }],
    [
      'info',
      'delivery.deferred',
      { ...base, recipient: 'b@x.org', code: 451, outcome: 'deferred', reply: 'later' },
    ],
    [
      'info',
      'delivery.failed',
      { ...base, recipient: 'c@x.org', code: 'connection_lost', outcome: 'unknown', reply: '' },
    ],
  ]);
});

test('what ends because it was cancelled has its own line, with an attempt and without', () => {
  const results = [
    { address: 'a@x.org', state: 'failed', outcome: deferred, cancelled: true },
    { address: 'b@x.org', state: 'failed', outcome: deferred },
  ] as const;
  const lines = linesOf(attemptedEvent({ results }), {
    type: 'cancelled',
    messageId: 'msg_2',
    recipients: ['c@x.org', 'd@x.org'],
  });
  expect(lines.map(([, name, fields]) => [name, fields])).toMatchObject([
    ['delivery.cancelled', { recipient: 'a@x.org', code: 451, reply: 'later' }],
    ['delivery.failed', { recipient: 'b@x.org' }],
    ['delivery.cancelled', { messageId: 'msg_2', recipient: 'c@x.org' }],
    ['delivery.cancelled', { messageId: 'msg_2', recipient: 'd@x.org' }],
  ]);
});

test('refusals, acts, pauses, recoveries and faults', () => {
  expect(
    linesOf(
      { type: 'denied', reason: 'source_not_allowed', sourceAddress: '192.0.2.1', count: 1 },
      { type: 'denied', reason: 'unauthorized', sourceAddress: '192.0.2.1', count: 1 },
      {
        type: 'denied',
        reason: 'rate_limited',
        sourceAddress: '192.0.2.1',
        keyId: 'source:printer',
        requestId: 'r-7',
        count: 2,
      },
      {
        type: 'refused',
        reason: 'nul',
        reply: '550 5.6.11',
        sourceAddress: '192.0.2.1',
        keyId: null,
        requestId: 'r-7',
        count: 1,
      },
      { type: 'lane_paused', lane: 'out', pauseMs: 1000.4, reply: REFUSED, again: false },
      { type: 'lane_paused', lane: 'out', pauseMs: 2000, reply: REFUSED, again: true },
      { type: 'probed', relay: 'out', host: 'smtp.example', trouble: DENIED, nextProbeAt: 120_000 },
      { type: 'probed', relay: 'out', host: 'smtp.example', trouble: null, nextProbeAt: null },
      { type: 'acted', messageId: 'msg_a', act: 'cancel' },
      { type: 'acted', messageId: 'msg_a', act: 'retry' },
      { type: 'acted', messageId: 'msg_a', act: 'reschedule' },
      { type: 'acted', messageId: 'msg_a', act: 'discard' },
      { type: 'reclaimed', released: 0, unknown: 0 },
      { type: 'reclaimed', released: 3, unknown: 0 },
      { type: 'reclaimed', released: 3, unknown: 1 },
      { type: 'fault', code: 'store_failed', message: 'The store cannot commit.' },
    ),
  ).toEqual([
    ['info', 'source.denied', { code: 'source_not_allowed', source: '192.0.2.1', count: 1 }],
    [
      'info',
      'source.denied',
      {
        code: 'rate_limited',
        source: '192.0.2.1',
        keyId: 'source:printer',
        requestId: 'r-7',
        count: 2,
      },
    ],
    [
      'info',
      'message.refused',
      { code: 'nul', reply: '550 5.6.11', source: '192.0.2.1', requestId: 'r-7', count: 1 },
    ],
    [
      'warn',
      'lane.paused',
      { lane: 'out', code: 'connect_refused', reply: 'refuses connections', pauseMs: 1000 },
    ],
    [
      'debug',
      'lane.paused',
      { lane: 'out', code: 'connect_refused', reply: 'refuses connections', pauseMs: 2000 },
    ],
    [
      'info',
      'relay.probed',
      {
        relay: 'out',
        host: 'smtp.example',
        code: 'auth_failed 535 5.7.8',
        reply: 'Authentication failed',
        nextProbeAt: '1970-01-01T00:02:00.000Z',
      },
    ],
    ['info', 'relay.probed', { relay: 'out', host: 'smtp.example', code: 'well' }],
    ['info', 'message.cancel_requested', { messageId: 'msg_a' }],
    ['info', 'message.retried', { messageId: 'msg_a' }],
    ['info', 'message.rescheduled', { messageId: 'msg_a' }],
    ['info', 'message.discarded', { messageId: 'msg_a' }],
    ['info', 'deliveries.reclaimed', { released: 3, unknown: 0 }],
    ['warn', 'deliveries.reclaimed', { released: 3, unknown: 1 }],
    ['error', 'service.fault', { code: 'store_failed', message: 'The store cannot commit.' }],
  ]);
});

test('a report to a sender is one line, and one that did not go is a warning', () => {
  expect(
    linesOf(
      { type: 'reported', messageId: 'msg_1', reportId: 'msg_2', kind: 'failed', recipients: 3 },
      { type: 'report_suppressed', messageId: 'msg_3', kind: 'delayed', recipients: 1 },
      { type: 'report_unwritten', messageId: 'msg_4', kind: 'failed', recipients: 2 },
    ),
  ).toEqual([
    ['info', 'message.reported', { messageId: 'msg_1', reportId: 'msg_2', kind: 'failed', recipients: 3 }],
    ['warn', 'message.report_suppressed', { messageId: 'msg_3', kind: 'delayed', recipients: 1 }],
    ['warn', 'message.report_unwritten', { messageId: 'msg_4', kind: 'failed', recipients: 2 }],
  ]);
});
