/** `GET /metrics` (contract §8), over real sockets with TLS. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { METRICS } from '../../../src/observe/metric-table.ts';
import { METRICS_DOC, metricsDoc } from '../../../tools/metrics-doc.ts';
import { describeWith } from '../../peers/need.ts';
import { acceptedEvent, attemptedEvent } from '../../support/engine-events.ts';
import { startDashboard } from './dashboard-server.ts';
import { viewsWith } from './world.ts';

/** The gauges of the contract, with their labels and every value that must always be there. */
const CONTRACT: Readonly<Record<string, readonly string[]>> = {
  svc_up: [''],
  svc_database_reachable: [''],
  svc_messages_today: ['received', 'delivered', 'failed', 'retried', 'denied'].map((v) => `{event="${v}"}`),
  svc_messages_last5m: ['received', 'sent'].map((v) => `{event="${v}"}`),
  svc_spool_files: ['incoming', 'processing', 'failed'].map((v) => `{state="${v}"}`),
  svc_relay_inflight: ['inbox', 'out'].map((v) => `{relay="${v}"}`),
  svc_relay_delivered_today: ['inbox', 'out'].map((v) => `{relay="${v}"}`),
  svc_relay_failed_today: ['inbox', 'out'].map((v) => `{relay="${v}"}`),
};

async function scrape(setup: Parameters<typeof startDashboard>[0] = {}): Promise<string> {
  const server = await startDashboard(setup);
  const { events, counters } = server;
  const reply = { code: 250, enhanced: null, cause: 'smtp_reply', text: 'joe@example.com took it' };
  events.emit(acceptedEvent({ keyId: 'k1', sizeBytes: 99, durationMs: 4 }));
  events.emit(
    attemptedEvent({
      host: 'mx.example.net',
      durationMs: 300,
      results: [
        {
          address: 'joe@example.com',
          state: 'delivered',
          outcome: { kind: 'delivered', captured: false, reply, providerMessageId: null, dsnPassed: false },
        },
      ],
    }),
  );
  events.emit({ type: 'denied', reason: 'key_unknown', sourceAddress: '192.0.2.1', count: 2 });
  events.emit({ type: 'feedback', source: 'webhook:out', result: 'refused', count: 2 });
  const told = {
    source: 'dsn',
    verdict: 'matched',
    changed: true,
    messageId: 'msg_1',
    relay: 'out',
  } as const;
  const about = { address: 'joe@example.com', entry: null, counted: null };
  events.emit({ type: 'told', ...told, ...about, kind: 'bounce', bounce: 'hard' });
  events.emit({ type: 'told', ...told, ...about, kind: 'complaint', bounce: null });
  const recipients = [{ address: 'joe@example.com', reason: 'complaint' }] as const;
  events.emit({ type: 'suppressed', messageId: 'msg_1', recipients });
  events.emit({ type: 'signed_in', way: 'provider', result: 'failed' });
  counters.acceptDuration.observe(60);
  const { status, headers, body } = await server.ask({ path: '/metrics' });
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  return body;
}

test('the text is exactly what it was when it was last looked at', async () => {
  await expect(await scrape()).toMatchFileSnapshot('metrics.golden.txt');
});

test('every gauge of the contract is there, with exactly its labels, also before the store has answered', async () => {
  const text = await scrape({ sources: { views: viewsWith(() => new Promise(() => {})) } });
  for (const [name, labels] of Object.entries(CONTRACT)) {
    expect(text).toContain(`# TYPE ${name} gauge\n`);
    const lines = text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    expect(lines.map((line) => line.slice(name.length, line.lastIndexOf(' ')))).toEqual(labels);
    const expected = name === 'svc_up' ? /^1$/ : name === 'svc_relay_inflight' ? /^[03]$/ : /^0$/;
    for (const line of lines) expect(line.slice(line.lastIndexOf(' ') + 1)).toMatch(expected);
  }
});

test('no address, subject, key, id or content is in any label', async () => {
  const text = await scrape();
  for (const secret of ['joe', 'example.com', 'example.net', 'msg_1', 'k1', '192.0.2.1'])
    expect(text).not.toContain(secret);
});

test('counters end in _total and times are in seconds', () => {
  for (const [name, { type }] of Object.entries(METRICS)) {
    expect(name).toMatch(/^svc_/);
    expect(name.endsWith('_total')).toBe(type === 'counter');
    if (type === 'histogram') expect(name).toMatch(/_seconds$/);
  }
});

test('docs/metrics.md is what the table says; `node tools/metrics-doc.ts` writes it', () => {
  expect(readFileSync(METRICS_DOC, 'utf8')).toBe(metricsDoc());
});

describeWith(['promtool'], 'promtool', () => {
  test('finds nothing to complain of', async () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: await scrape(),
      encoding: 'utf8',
    });
    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
  });
});
