/** Acting on messages that are ours already, and reading all that is known of them. */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Result, unwrap } from '../../src/client/result.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { Client, configurationFor, createKey, type Service, startService } from './service.ts';

const LETTER = { from: 'a@example.com', subject: 'Act', text: 'x' };
/** Attempts that the relay takes at a time. */
const SLOTS = 20;
const BUSY = '451 4.2.1 mailbox busy';

let sink: SmtpSink;
let service: Service;
let client: Client;
beforeAll(async () => {
  sink = await startSmtpSink();
  service = await startService(configurationFor(sink.port));
  client = service.client;
});
afterEach(() => {
  sink.script = {};
});
afterAll(async () => {
  await service.stop();
  await sink.close();
});

/** The code of a refusal. */
function codeOf<T>(result: Result<T>): string {
  return result.ok ? 'none' : result.error.kind === 'problem' ? result.error.code : result.error.kind;
}

/** How often a recipient was given to the next hop. */
const tried = (address: string) => sink.commands.filter(({ line }) => line.includes(`<${address}>`)).length;

test('a message that waits for another try is cancelled, and who waits for its end hears of it', async () => {
  sink.script = { RCPT: BUSY };
  const id = await client.send({ ...LETTER, to: 'cancel@example.net' });
  await client.until(id, 'retrying');
  const [end, cancelled] = await Promise.all([client.end(id), client.api.cancel(id)]);
  expect([codeOf(cancelled), end.status, end.outcome]).toEqual(['none', 'failed', 'cancelled']);
  expect(codeOf(await client.api.cancel(id))).toBe('not_cancellable');
});

test('an attempt under way when its message is cancelled is the last', async () => {
  const held = Promise.withResolvers<void>();
  sink.script = { RCPT: { after: held.promise, reply: BUSY } };
  const id = await client.send({ ...LETTER, to: 'last@example.net' });
  await sink.until(() => tried('last@example.net') === 1);
  expect(unwrap(await client.api.cancel(id)).status).toBe('processing');
  held.resolve();
  expect(await client.end(id)).toMatchObject({ status: 'failed', outcome: 'cancelled', attempts: 1 });
  expect(tried('last@example.net')).toBe(1);
});

test('messages cancelled while they wait for a slot end at once, and the next hop sees nothing of them', async () => {
  const held = Promise.withResolvers<void>();
  const busy = Array.from({ length: SLOTS }, (_, i) => `busy-${i}@example.net`);
  sink.script = { MAIL: { after: held.promise, reply: '250 2.1.0 ok' } };
  const before = await Promise.all(busy.map((to) => client.send({ ...LETTER, to })));
  for (const id of before) await client.until(id, 'processing');
  const large = { ...LETTER, text: `${'x'.repeat(70)}\n`.repeat(15_000) };
  const ids: string[] = [];
  for (let i = 0; i < 6; i++) ids.push(await client.send({ ...large, to: `hand-${i}@example.net` }));
  for (const id of ids) expect((await client.record(id)).status).toBe('processing');
  for (const id of ids)
    expect(unwrap(await client.api.cancel(id))).toMatchObject({ status: 'failed', outcome: 'cancelled' });
  const { connections } = sink;
  held.resolve();
  for (const id of before) expect((await client.end(id)).status).toBe('delivered');
  expect([0, 1, 2, 3, 4, 5].map((i) => tried(`hand-${i}@example.net`))).toEqual([0, 0, 0, 0, 0, 0]);
  expect(sink.connections, 'no connection was lost by it').toBe(connections);
});

test('an attempt under way that succeeds although its message is cancelled is a delivery', async () => {
  const held = Promise.withResolvers<void>();
  sink.script = { DOT: { after: held.promise, reply: '250 2.0.0 taken' } };
  const id = await client.send({ ...LETTER, to: 'late@example.net' });
  await sink.until(() => tried('late@example.net') === 1);
  unwrap(await client.api.cancel(id));
  held.resolve();
  expect(await client.end(id)).toMatchObject({ status: 'delivered', outcome: 'accepted' });
});

test.each(['API', 'command line'])(
  'what failed is tried again by the %s; what was delivered is not',
  async (by) => {
    const [good, bad] = ['good', 'bad'].map((name) => `${name}-${by.replace(' ', '-')}@example.net`);
    sink.script = {
      RCPT: ({ argument }) => (argument.includes('bad') ? '550 5.1.1 no such user' : undefined),
    };
    const id = await client.send({ ...LETTER, to: [`${good}`, `${bad}`] });
    expect(await client.end(id)).toMatchObject({ status: 'failed', outcome: 'partial' });
    sink.script = {};
    if (by === 'API') unwrap(await client.api.retry(id));
    else await service.installation.run('messages', 'retry', id);
    expect(await client.end(id)).toMatchObject({ status: 'delivered', outcome: 'accepted' });
    expect([tried(`${good}`), tried(`${bad}`)]).toEqual([1, 2]);
    expect(codeOf(await client.api.retry(id))).toBe('nothing_to_retry');
  },
);

test('every attempt is told with what was said', async () => {
  sink.script = { RCPT: BUSY };
  const id = await client.send({ ...LETTER, to: 'told@example.net' });
  await client.until(id, 'retrying');
  sink.script = {};
  await client.end(id);
  const attempts = unwrap(await client.api.attempts(id));
  const results = attempts.flatMap((attempt) => attempt.results);
  expect(results[0]).toMatchObject({ recipient: 'told@example.net', outcome: 'deferred', code: 451 });
  expect(results.at(-1)).toMatchObject({ recipient: 'told@example.net', outcome: 'delivered', code: 250 });
  expect(attempts[0]).toMatchObject({ number: 1, relay: 'out', address: '127.0.0.1', tls: null });
  expect(attempts[0]?.steps.map(({ verb }) => verb)).toContain('RCPT');
});

test('a content of any size is read back as it was sent', async () => {
  const args = ['--scope', 'messages:content', '--scope', 'messages:read_all'];
  const reader = new Client(service.server, await createKey(service.installation, 'reader', ...args));
  for (const size of [10, 3_000_000]) {
    const attachment = { filename: 'a.bin', content: randomBytes(size).toString('base64') };
    const to = `size-${size}@example.net`;
    const id = await client.send({ ...LETTER, to, attachments: [attachment] });
    await client.end(id);
    const content = unwrap(await reader.api.content(id));
    const sent = sink.messages.find((message) => message.to.includes(to));
    expect(content.length).toBeGreaterThan(size);
    expect(Buffer.from(content).equals(sent?.content ?? Buffer.alloc(0))).toBe(true);
  }
});
