/** The queue in an operator's hands: held, drained, rerouted and shown, by the real program over real peers. */

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { QueueView } from '../../src/operations/queue.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { type Service, startService } from './service.ts';

const LETTER = { from: 'a@example.com', subject: 'Hello', text: 'hi' };

let first: SmtpSink;
let second: SmtpSink;
let service: Service;

beforeEach(async () => {
  [first, second] = await Promise.all([startSmtpSink(), startSmtpSink()]);
  service = await startService(`
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: null }
listener: { ports: [] }
delivery: { default_relay: first, retry_first_seconds: 1, retry_max_seconds: 1 }
relays:
  - { name: first, type: smtp, host: 127.0.0.1, port: ${first.port}, tls: none }
  - { name: second, type: smtp, host: 127.0.0.1, port: ${second.port}, tls: none }
routes:
  - { match: { tag: group }, via: [first, second] }
  - { match: { tag: other }, via: [second] }
`);
});
afterEach(async () => {
  await service.stop();
  await Promise.all([first.close(), second.close()]);
});

async function queue(...args: readonly string[]) {
  const { code, stdout, stderr } = await service.installation.run('queue', ...args, '--json');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

async function lane(name: string) {
  const { lanes }: QueueView = await queue();
  return lanes.find((row) => row.lane === name);
}

const send = (to: string, tags: readonly string[] = []) =>
  service.client.send({ ...LETTER, to: [to], tags: [...tags] });

test('a paused relay sends nothing, also after a restart, until it is resumed', async () => {
  expect(await queue('pause', 'first')).toMatchObject({ target: 'first', kind: 'pause', changed: true });
  const id = await send('ann@example.net');
  expect(await lane('first')).toMatchObject({ state: 'paused', waiting: 1, inFlight: 0 });
  await service.server.end('SIGTERM');
  // What waits is told while no server runs, too.
  expect(await lane('first')).toMatchObject({ state: 'paused', waiting: 1 });
  await service.restart();
  // Mail for another relay is delivered: the server has had its turn.
  await service.client.end(await send('bob@example.net', ['other']));
  expect((await service.client.record(id)).status).toBe('queued');
  expect(first.messages).toHaveLength(0);
  expect(await queue('resume', 'first')).toMatchObject({ kind: null, changed: true });
  expect(await service.client.end(id)).toMatchObject({ status: 'delivered', relay: 'first' });
  const row = await lane('first');
  expect(row).toMatchObject({ state: 'ready', waiting: 0, processing: 0, inFlight: 0, perMinute: 1 });
  expect(row?.lastReply).toMatchObject({ code: 250, at: expect.stringMatching(/Z$/) });
});

test('a draining relay gets no new mail: that goes to the next of its group', async () => {
  await queue('drain', 'first');
  const id = await send('ann@example.net', ['group']);
  expect(await service.client.end(id)).toMatchObject({ status: 'delivered', relay: 'second' });
  expect(first.messages).toHaveLength(0);
  await queue('resume', 'first');
  const next = await send('bob@example.net', ['group']);
  expect(await service.client.end(next)).toMatchObject({ relay: 'first' });
});

test('what waits for one relay is rerouted to another, and only what was meant', async () => {
  await queue('pause', 'first');
  const [ann, bob] = [await send('ann@example.net'), await send('bob@example.org')];
  const meant = ['reroute', '--relay', 'first', '--to', '@example.net', '--to-relay', 'second'];
  expect(await queue(...meant, '--dry-run')).toMatchObject({ matched: 1, acted: 0 });
  expect(await queue(...meant)).toMatchObject({ matched: 1, acted: 1 });
  expect(await service.client.end(ann)).toMatchObject({ status: 'delivered', relay: 'second' });
  expect(await lane('first')).toMatchObject({ waiting: 1 });
  expect(await queue('cancel', '--lane', 'first')).toMatchObject({ matched: 1, acted: 1 });
  expect(await service.client.end(bob)).toMatchObject({ status: 'failed', outcome: 'cancelled' });
  expect(first.messages).toHaveLength(0);
});

test('the table for people says how each lane is', async () => {
  await queue('pause', 'second');
  const id = await send('ann@example.net');
  await service.client.end(id);
  const { stdout } = await service.installation.run('queue');
  const [head, ...rows] = stdout.trimEnd().split('\n');
  expect(head).toBe('LANE    STATE   WAITING  LEASED  SENDING  OLDEST  /MIN  LAST REPLY');
  expect(rows.map((row) => row.split(/\s+/).slice(0, 3))).toEqual([
    ['first', 'ready', '0'],
    ['inbox', 'ready', '0'],
    ['second', 'paused', '0'],
    ['total', '0', '0'],
  ]);
  const shown = await service.installation.run('messages', 'show', id);
  expect(shown.stdout).toContain('Attempt 1 of 1');
  expect(shown.stdout).toMatch(/ms {2}MAIL +250/);
});

test('what is no relay is not held, and nothing is selected by saying nothing', async () => {
  expect((await service.installation.run('queue', 'pause', 'nowhere')).code).toBe(1);
  expect((await service.installation.run('queue', 'cancel')).code).toBe(2);
});
