/** A relay disabled by the real program: its mail moves or waits, and is delivered once it is enabled. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { QueueView } from '../../src/operations/queue.ts';
import { ask } from '../crash/customer.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { type Service, startService } from './service.ts';

let first: SmtpSink;
let second: SmtpSink;
let service: Service;

beforeEach(async () => {
  [first, second] = await Promise.all([startSmtpSink(), startSmtpSink()]);
  service = await startService(`
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [] }
`);
  await add('first', first, '--default');
  await add('second', second);
  const rules = join(service.installation.dataDir, 'rules.yaml');
  writeFileSync(rules, '[{ name: pair, match: { tag: pair }, via: [first, second] }]');
  await waybill('routes', 'publish', rules);
});
afterEach(async () => {
  await service.stop();
  await Promise.all([first.close(), second.close()]);
});

async function waybill(...args: readonly string[]) {
  const { code, stdout, stderr } = await service.installation.run(...args, '--json');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

function add(name: string, { port }: SmtpSink, ...more: readonly string[]) {
  const to = ['--type', 'smtp', '--host', '127.0.0.1', '--port', String(port), '--tls', 'none'];
  return waybill('relays', 'add', name, ...to, ...more);
}

async function lane(name: string) {
  const { lanes }: QueueView = await waybill('queue');
  return lanes.find((row) => row.lane === name);
}

const send = (to: string, ...tags: readonly string[]) =>
  service.client.send({ from: 'a@example.com', subject: 'Hello', text: 'hi', to: [to], tags: [...tags] });

test('mail of a disabled relay moves within its group or waits, also over a restart, until it is enabled', async () => {
  // Held at both, the pair's mail waits at the first of them.
  for (const name of ['first', 'second']) await waybill('queue', 'pause', name);
  const pair = await send('ann@example.net', 'pair');
  expect(await lane('first')).toMatchObject({ waiting: 1 });

  expect(await waybill('relays', 'disable', 'first')).toMatchObject({ disabled: true, changed: true });
  await waybill('queue', 'resume', 'first');
  const moved = await vi.waitFor(
    async () => {
      const row = await lane('second');
      expect(row).toMatchObject({ waiting: 1 });
      return row;
    },
    { timeout: 60_000, interval: 50 },
  );
  expect(moved).toMatchObject({ state: 'paused' });
  const alone = await send('bob@example.net');
  expect(await lane('first')).toMatchObject({ state: 'disabled', waiting: 1 });
  await service.server.end('SIGTERM');
  await service.restart();
  await waybill('queue', 'resume', 'second');
  expect(await service.client.end(pair)).toMatchObject({ status: 'delivered', relay: 'second' });
  const fresh = await send('eve@example.net', 'pair');
  expect(await service.client.end(fresh)).toMatchObject({ status: 'delivered', relay: 'second' });
  expect((await service.client.record(alone)).status).toBe('queued');
  expect(first.commands).toEqual([]);
  const { body: health } = await ask(service.server, '/health');
  expect(JSON.parse(health)).toMatchObject({
    status: 'healthy',
    relays: expect.arrayContaining([expect.objectContaining({ name: 'first', disabled: true })]),
    checks: expect.arrayContaining([
      expect.objectContaining({ name: 'relays', detail: expect.stringContaining('A relay is disabled') }),
    ]),
  });

  expect(await waybill('relays', 'enable', 'first')).toMatchObject({ disabled: false, changed: true });
  expect(await service.client.end(alone)).toMatchObject({ status: 'delivered', relay: 'first' });
});
