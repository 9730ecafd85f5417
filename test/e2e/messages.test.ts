/** One service and one next hop: acting on messages, reading all that is known of them, hops that take a part, what keys may do. */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type Result, unwrap } from '../../src/client/result.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import type { SinkEvent } from '../peers/smtp-sink-script.ts';
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
      RCPT: ({ argument }) => (argument.includes('bad') ? '550 5.7.1 not today' : undefined),
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

test('what has no mailbox is tried again only once it is off the suppression list', async () => {
  sink.script = { RCPT: '550 5.1.1 no such user' };
  const id = await client.send({ ...LETTER, to: 'gone@example.net' });
  expect(await client.end(id)).toMatchObject({ status: 'failed', outcome: 'rejected' });
  sink.script = {};
  unwrap(await client.api.retry(id));
  const stopped = { suppression: expect.stringMatching(/^sup_/) };
  expect(await client.end(id)).toMatchObject({
    status: 'failed',
    outcome: 'suppressed',
    recipients: [stopped],
  });
  expect(tried('gone@example.net')).toBe(1);
  await service.installation.run('suppressions', 'remove', 'gone@example.net');
  unwrap(await client.api.retry(id));
  expect(await client.end(id)).toMatchObject({
    status: 'delivered',
    outcome: 'accepted',
    recipients: [{ suppression: null }],
  });
});

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

test('one ok, one 450, one 550: only the 450 is tried again, and nobody gets a second copy', async () => {
  const answers: Record<string, string> = { later: '450 4.2.1 busy', never: '550 5.1.1 nobody here' };
  sink.script = { RCPT: ({ argument }: SinkEvent) => answers[/<(\w+)@/.exec(argument)?.[1] ?? ''] };
  const to = ['now@example.net', 'later@example.net', 'never@example.net'];
  const id = await client.send({ from: 'a@example.com', to, subject: 'Parts', text: 'x' });
  const waiting = await client.until(id, 'retrying');
  expect(waiting.recipients).toMatchObject([
    { address: 'now@example.net', status: 'delivered', lastCode: 250 },
    { address: 'later@example.net', status: 'retrying', lastCode: 450, lastEnhancedCode: '4.2.1' },
    { address: 'never@example.net', status: 'failed', outcome: 'rejected', lastCode: 550 },
  ]);
  await sink.until(() => tried('later@example.net') >= 2);
  sink.script = {};
  const done = await client.end(id);
  expect(done).toMatchObject({ outcome: 'partial' });
  expect(done).not.toHaveProperty('possibleDuplicate');
  expect(done.recipients).toMatchObject([
    { status: 'delivered', attempts: 1 },
    { status: 'delivered', attempts: tried('later@example.net') },
    { status: 'failed', attempts: 1 },
  ]);
  expect(tried('now@example.net')).toBe(1);
  expect(tried('never@example.net')).toBe(1);
  const taken = sink.messages.filter(({ content }) => content.includes('Subject: Parts'));
  expect(taken.map((message) => message.to)).toEqual([['now@example.net'], ['later@example.net']]);
});

test('recipients beyond what one transaction takes are offered in the next ones at once', async () => {
  const few = await startSmtpSink();
  let named = 0;
  few.script = {
    MAIL: () => {
      named = 0;
      return undefined;
    },
    RCPT: () => (++named > 2 ? '452 4.5.3 Too many recipients' : undefined),
  };
  const patient = await startService(
    configurationFor(few.port).replace(
      'retry_first_seconds: 1, retry_max_seconds: 1',
      'retry_first_seconds: 3600',
    ),
  );
  try {
    const to = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@example.net`);
    const id = await patient.client.send({ from: 'a@example.com', to, subject: 'Many', text: 'x' });
    const done = await patient.client.end(id);
    expect(done).toMatchObject({ status: 'delivered' });
    expect(done.recipients.map(({ attempts }) => attempts)).toEqual([1, 1, 2, 2, 3]);
    expect(few.messages.map((message) => message.to.length)).toEqual([2, 2, 1]);
  } finally {
    await patient.stop();
    await few.close();
  }
});

test('greylisting costs time and nothing else', async () => {
  const seen = new Set<string>();
  sink.script = {
    RCPT: ({ argument }: SinkEvent) => {
      if (seen.has(argument)) return undefined;
      seen.add(argument);
      return '451 4.7.1 greylisted, come back later';
    },
  };
  const before = sink.taken;
  const id = await client.send({
    from: 'a@example.com',
    to: ['grey@example.net'],
    subject: 'Grey',
    text: 'x',
  });
  const done = await client.end(id);
  expect(done).toMatchObject({ status: 'delivered', attempts: 2 });
  expect(sink.taken).toBe(before + 1);
});

test("a test key's mail is captured and never reaches the relay", async () => {
  const { server, installation } = service;
  const tester = new Client(server, await createKey(installation, 'tests', '--test'));
  expect(tester.key).toMatch(/^wb_test_/);
  const answer = await tester.post({ ...LETTER, to: 'captured@example.net' });
  const { id, message } = (await answer.json()) as { id: string; message: string };
  expect([answer.status, message]).toEqual([202, 'Captured in the local inbox; nothing will be sent.']);
  expect(await tester.end(id)).toMatchObject({ status: 'delivered', outcome: 'captured', relay: 'inbox' });
  await client.end(await client.send({ ...LETTER, to: 'sent@example.net' }));
  expect([tried('captured@example.net'), tried('sent@example.net')]).toEqual([0, 1]);
});

let revoked = 0;

// A machine that stood still for a second is given another chance.
test('a revoked key is refused within a second', { retry: 2 }, async () => {
  const { server, installation } = service;
  const name = `short-lived-${revoked++}`;
  const shortLived = new Client(server, await createKey(installation, name));
  expect((await shortLived.get('')).status).toBe(200);
  expect((await installation.run('keys', 'revoke', name)).code).toBe(0);
  const revokedAt = performance.now();
  let acceptedAt = revokedAt;
  for (let status = 200; status !== 401; ) {
    const askedAt = performance.now();
    ({ status } = await shortLived.get(''));
    if (status === 200) acceptedAt = askedAt;
  }
  expect(acceptedAt - revokedAt).toBeLessThan(1000);
  expect((await shortLived.post({ ...LETTER, to: 'revoked@example.net' })).status).toBe(401);
});

test('contents of a key that keeps none go within seconds after the end, and then nothing can be sent again', async () => {
  const { server, installation } = service;
  const scopes = ['send', 'read', 'content'].flatMap((name) => ['--scope', `messages:${name}`]);
  const key = await createKey(installation, 'private', '--content-days', '0', ...scopes);
  const other = await createKey(installation, 'other', ...scopes);
  const message = { from: 'a@example.com', to: ['b@example.net'], subject: 'secret', text: 'secret' };
  const secretive = new Client(server, key);
  const ordinary = new Client(server, other);
  const id = await secretive.send(message);
  const kept = await ordinary.send(message);
  await Promise.all([secretive.end(id), ordinary.end(kept)]);
  await vi.waitFor(
    async () => {
      const gone = await secretive.get(`/${id}/content`);
      expect([gone.status, ((await gone.json()) as { code: string }).code]).toEqual([404, 'content_expired']);
    },
    { timeout: 60_000, interval: 200 },
  );
  const again = await fetch(`${secretive.messages}/${id}/resend`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
  });
  expect([again.status, ((await again.json()) as { code: string }).code]).toEqual([409, 'content_expired']);
  expect(await secretive.record(id)).toMatchObject({ status: 'delivered', subject: 'secret' });
  expect((await ordinary.get(`/${kept}/content`)).status).toBe(200);
});
