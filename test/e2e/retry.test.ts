/** What becomes of mail that the next hop does not take at once. */
import { afterAll, afterEach, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { createCertificate } from '../peers/certificate.ts';
import { freePort } from '../peers/free-port.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import type { SinkScript } from '../peers/smtp-sink-script.ts';
import { configurationFor, type Service, startService } from './service.ts';

const LETTER = { from: 'a@example.com', subject: 'Again', text: 'x' };

describe('a next hop that answers', () => {
  let sink: SmtpSink;
  let service: Service;
  beforeAll(async () => {
    sink = await startSmtpSink();
    service = await startService(configurationFor(sink.port));
  });
  afterEach(() => {
    sink.script = {};
  });
  afterAll(async () => {
    await service.stop();
    await sink.close();
  });

  test('451 to RCPT makes the message wait, and it is delivered once it is taken', async () => {
    const { client } = service;
    sink.script = { RCPT: '451 4.2.1 mailbox busy' };
    const id = await client.send({ ...LETTER, to: 'busy@example.net' });
    const waiting = await client.until(id, 'retrying');
    sink.script = {};
    const lastError = {
      class: 'transient',
      recipient: 'busy@example.net',
      message: expect.stringContaining('mailbox busy'),
    };
    expect(waiting).toMatchObject({ lastError });
    expect(waiting.recipients).toMatchObject([
      { status: 'retrying', outcome: null, lastCode: 451, lastEnhancedCode: '4.2.1' },
    ]);
    expect(Date.parse(String(waiting.nextAttemptAt))).toBeGreaterThan(Date.parse(waiting.updatedAt));
    expect(waiting.recipients[0]?.nextAttemptAt).toBe(waiting.nextAttemptAt);

    const done = await client.end(id);
    expect(done).toMatchObject({
      status: 'delivered',
      outcome: 'accepted',
      attempts: timesTried('busy@example.net'),
    });
    expect(done.attempts).toBeGreaterThan(1);
    expect(done).not.toHaveProperty('nextAttemptAt');
  });

  test('421 makes the message wait, and it is delivered once the hop is back', async () => {
    const { client } = service;
    sink.script = { MAIL: { reply: '421 4.3.2 going down', close: 'end' } };
    const id = await client.send({ ...LETTER, to: 'down@example.net' });
    const waiting = await client.until(id, 'retrying');
    sink.script = {};
    expect(waiting.lastError).toMatchObject({
      class: 'transient',
      message: expect.stringContaining('going down'),
    });
    expect(waiting).toHaveProperty('nextAttemptAt');
    const done = await client.end(id);
    expect(done).toMatchObject({ status: 'delivered' });
    expect(done.attempts).toBeGreaterThan(1);
  });

  test('550 to RCPT fails at once as rejected', async () => {
    const { client } = service;
    sink.script = { RCPT: '550 5.1.1 no such mailbox' };
    const done = await client.end(await client.send({ ...LETTER, to: 'nobody@example.net' }));
    expect(done).toMatchObject({
      status: 'failed',
      outcome: 'rejected',
      attempts: 1,
      lastError: {
        class: 'permanent',
        recipient: 'nobody@example.net',
        message: expect.stringContaining('no such mailbox'),
      },
    });
    expect(done).not.toHaveProperty('nextAttemptAt');
    expect(timesTried('nobody@example.net')).toBe(1);
  });

  test('554 to the content fails at once as rejected', async () => {
    const { client } = service;
    sink.script = { DOT: '554 5.7.1 not this' };
    const done = await client.end(await client.send({ ...LETTER, to: 'content@example.net' }));
    expect(done).toMatchObject({ status: 'failed', outcome: 'rejected', attempts: 1 });
  });

  test('one recipient taken and one refused ends failed with the outcome partial', async () => {
    const { client } = service;
    sink.script = onlyFor('bad@', '550 5.1.1 no such mailbox');
    const done = await client.end(
      await client.send({ ...LETTER, to: ['good@example.net', 'bad@example.net'] }),
    );
    expect(done).toMatchObject({
      status: 'failed',
      outcome: 'partial',
      lastError: { recipient: 'bad@example.net' },
    });
    expect(done.recipients).toMatchObject([
      { address: 'good@example.net', status: 'delivered', outcome: 'accepted' },
      { address: 'bad@example.net', status: 'failed', outcome: 'rejected', lastCode: 550 },
    ]);
  });

  test('who has the message does not get it again when another recipient is tried again', async () => {
    const { client } = service;
    sink.script = onlyFor('slow@', '450 4.2.0 later');
    const id = await client.send({ ...LETTER, to: ['quick@example.net', 'slow@example.net'] });
    const waiting = await client.until(id, 'retrying');
    sink.script = {};
    expect(waiting.recipients).toMatchObject([{ status: 'delivered' }, { status: 'retrying' }]);
    expect(await client.end(id)).toMatchObject({ status: 'delivered', outcome: 'accepted' });
    expect(timesTried('quick@example.net')).toBe(1);
  });

  function timesTried(recipient: string): number {
    return sink.commands.filter(({ line }) => line.startsWith(`RCPT TO:<${recipient}>`)).length;
  }
});

describe.concurrent('a next hop that cannot be spoken to', () => {
  test('mail for a hop that refuses connections waits, and is delivered once it listens', async (context) => {
    const port = await freePort();
    const { client } = await startFor(context, configurationFor(port));
    const id = await client.send({ ...LETTER, to: 'b@example.net' });
    const waiting = await client.until(id, 'retrying');
    expect(waiting.lastError).toMatchObject({ code: 'connect_refused', class: 'transient' });
    expect(waiting).toHaveProperty('nextAttemptAt');
    const sink = await startSmtpSink({ port });
    context.onTestFinished(() => sink.close());
    const done = await client.end(id);
    expect(done).toMatchObject({ status: 'delivered' });
    expect(done.attempts).toBeGreaterThan(1);
    expect(sink.taken).toBe(1);
  });

  test('mail for a hop that refuses us is tried once it has rested, and says so', async (context) => {
    const sink = await startSmtpSink();
    context.onTestFinished(() => sink.close());
    sink.script = { CONNECT: { reply: '554 5.7.1 Your address is not welcome', close: 'end' } };
    const { client, installation } = await startFor(context, configurationFor(sink.port));
    const first = await client.send({ ...LETTER, to: 'b@example.net' });
    await client.until(first, 'retrying');
    const second = await client.send({ ...LETTER, to: 'c@example.net' });
    for (const id of [first, second]) {
      const record = await client.record(id);
      // It rests for two minutes, up to a fifth less; the pause after an attempt is a second.
      const restMs = Date.parse(String(record.nextAttemptAt)) - Date.parse(record.updatedAt);
      expect(restMs).toBeGreaterThan(60_000);
      expect(restMs).toBeLessThan(150_000);
      const { nextAttemptAt = '', waitingFor } = record;
      expect(record).toMatchObject({
        waitingFor: 'relay_resting',
        recipients: [{ nextAttemptAt, waitingFor }],
      });
      const { stdout } = await installation.run('messages', 'show', id);
      expect(stdout).toMatch(/^waitingFor: +relay_resting$/m);
    }
    await installation.run('queue', 'pause', 'out');
    const paused = await client.record(second);
    expect(paused).toMatchObject({ waitingFor: 'relay_paused', recipients: [{ nextAttemptAt: null }] });
    expect(paused).not.toHaveProperty('nextAttemptAt');
  });

  test('a certificate nobody vouches for keeps mail waiting, until the relay is told not to verify', async (context) => {
    const certificate = createCertificate({ hosts: ['127.0.0.1'] });
    const sink = await startSmtpSink({ tls: 'starttls', certificate });
    context.onTestFinished(() => sink.close());
    const { client, installation } = await startFor(context, configurationFor(sink.port, 'tls: required'));
    const id = await client.send({ ...LETTER, to: 'b@example.net' });
    const waiting = await client.until(id, 'retrying');
    expect(waiting.lastError).toMatchObject({ code: 'tls_failed', class: 'transient' });
    expect(sink.commands.filter(({ line }) => line.startsWith('MAIL'))).toEqual([]);

    const lenient = configurationFor(sink.port, 'tls: required, verify: false');
    installation.configure(lenient);
    expect(await client.end(id)).toMatchObject({ status: 'delivered' });
    expect(sink.messages).toMatchObject([{ tls: true, to: ['b@example.net'] }]);
  });

  test('a hop without STARTTLS gets nothing where TLS is required', async (context) => {
    const sink = await startSmtpSink();
    context.onTestFinished(() => sink.close());
    const { client } = await startFor(context, configurationFor(sink.port, 'tls: required, verify: false'));
    const waiting = await client.until(await client.send({ ...LETTER, to: 'b@example.net' }), 'retrying');
    expect(waiting.lastError).toMatchObject({
      class: 'transient',
      message: expect.stringContaining('STARTTLS'),
    });
    expect(sink.commands.filter(({ line }) => line.startsWith('MAIL'))).toEqual([]);
  });
});

/** A service that goes with the test. */
async function startFor({ onTestFinished }: TestContext, configuration: string): Promise<Service> {
  const service = await startService(configuration);
  onTestFinished(() => service.stop());
  return service;
}

/** Refuses recipients that begin with `start`. */
function onlyFor(start: string, reply: string): SinkScript {
  return { RCPT: ({ argument }) => (argument.includes(`<${start}`) ? reply : undefined) };
}
