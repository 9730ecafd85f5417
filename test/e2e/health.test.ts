/** What the service tells of itself, in good days and in bad ones. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, type TestContext, test, vi } from 'vitest';
import { ask } from '../crash/customer.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { writeManyMessages } from '../support/many-messages.ts';
import { configurationFor, type Service, startService } from './service.ts';

const LETTER = { from: 'a@example.com', to: 'b@example.net', text: 'x' };

// At once, because most of the time goes by in waiting.
describe.concurrent('the service', { timeout: 180_000 }, () => {
  test('health answers over HTTPS without a key, and says that all is well', async (context) => {
    const { service } = await install(context);
    const { status, body } = await ask(service.server, '/health');
    const { api, webui } = service.server.runtime;
    expect([status, webui]).toEqual([200, expect.any(Number)]);
    expect(JSON.parse(body)).toMatchObject({
      status: 'healthy',
      database: { reachable: true, engine: 'sqlite' },
      smtp: { listening: false },
      api: { listening: true, port: api },
      relays: expect.arrayContaining([{ name: 'out', state: 'closed', inflight: 0, disabled: false }]),
    });
  });

  test('health and metrics are 404 on the ingestion port, with and without a key', async (context) => {
    const { client, server } = (await install(context)).service;
    for (const path of ['/health', '/metrics'])
      for (const headers of [{}, { authorization: `Bearer ${client.key}` }]) {
        const { status } = await fetch(`${server.api}${path}`, { headers });
        expect([path, status]).toEqual([path, 404]);
      }
  });

  test('health answers in time while the store is blocked', async (context) => {
    const { service } = await install(context);
    const { client } = service;
    const held = holdStore(service);
    let accepted = false;
    const posted = client.send({ ...LETTER, to: 'blocked@example.net' }).then((id) => {
      accepted = true;
      return id;
    });
    try {
      // Every one of these answers came while the lock was held.
      const { status, body } = await vi.waitFor(
        async () => {
          const answer = await ask(service.server, '/health');
          expect(JSON.parse(answer.body)).toMatchObject({ database: { reachable: false } });
          return answer;
        },
        { timeout: 8_000, interval: 50 },
      );
      expect([status, JSON.parse(body)]).toEqual([503, expect.objectContaining({ status: 'critical' })]);
      expect((await ask(service.server, '/livez')).status).toBe(200);
      expect(await figures(service)).toMatchObject({ svc_database_reachable: 0, svc_up: 1 });
      expect(accepted).toBe(false);
    } finally {
      held.release();
    }
    expect(await client.end(await posted)).toMatchObject({ status: 'delivered' });
    await untilHealthy(service);
  });

  test('health stays well while a key’s lists look at everything', async (context) => {
    const { service } = await install(context);
    const database = new Database(join(service.installation.dataDir, 'waybill.db'));
    const keyId = database.prepare('SELECT id FROM keys').pluck().get();
    writeManyMessages(database, String(keyId), 21_000);
    database.close();
    let ended = false;
    const lists = Array.from(
      { length: 99 },
      async () => (await service.client.get('?subject=nowhere')).status,
    );
    const statuses = Promise.all(lists).finally(() => {
      ended = true;
    });
    while (!ended) {
      const { status, body } = await ask(service.server, '/health');
      expect([status, JSON.parse(body)]).toEqual([
        200,
        expect.objectContaining({
          status: 'healthy',
          database: expect.objectContaining({ reachable: true }),
        }),
      ]);
    }
    expect(new Set(await statuses), 'answered, or told to come again').toEqual(new Set([200, 503]));
  });

  test('a message posted while the store is blocked for long gets 503, and all resumes when it is free', async (context) => {
    const { service, sink } = await install(context);
    const { client } = service;
    const held = holdStore(service);
    let refused: Response;
    try {
      refused = await client.post({ ...LETTER, to: 'refused@example.net' });
    } finally {
      held.release();
    }
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await refused.json()).toMatchObject({ code: 'store_unavailable' });
    await untilHealthy(service);
    const id = await client.send({ ...LETTER, to: 'afterwards@example.net' });
    expect(await client.end(id)).toMatchObject({ status: 'delivered' });
    expect(sink.messages.flatMap(({ to }) => to)).not.toContain('refused@example.net');
  });

  test('the log shows no subject, body, header, file name, secret or local part', async (context) => {
    const { service, sink } = await install(context);
    const { client, server } = service;
    sink.script = {
      RCPT: ({ argument }) =>
        argument.includes('refusedlocal') ? `550 5.1.1 no ${argument} here` : undefined,
    };
    const words = ['subject', 'body', 'html', 'header', 'filename', 'metadata', 'tag'].map(
      (what) => `${what}word`,
    );
    const locals = ['senderlocal', 'tolocal', 'refusedlocal', 'bcclocal', 'Displayname'];
    const id = await client.send({
      from: 'Displayname <senderlocal@example.com>',
      to: ['tolocal@example.net', 'refusedlocal@example.org'],
      bcc: 'bcclocal@example.net',
      subject: 'subjectword',
      text: 'bodyword',
      html: '<p>htmlword</p>',
      headers: { 'X-Word': 'headerword' },
      attachments: [{ filename: 'filenameword.txt', content: 'Ym9keXdvcmQ=' }],
      metadata: { word: 'metadataword' },
      tags: ['tagword'],
    });
    expect(await client.end(id)).toMatchObject({ status: 'failed', outcome: 'partial' });
    // What is refused is logged too: here a key that differs from ours in one character.
    const wrong = client.key.slice(0, -1) + (client.key.endsWith('0') ? '1' : '0');
    expect((await fetch(client.messages, { headers: { authorization: `Bearer ${wrong}` } })).status).toBe(
      401,
    );
    await client.post({ from: 'senderlocal@', to: 'tolocal', subject: 'subjectword' });
    await server.end('SIGTERM');

    const log = server.output;
    for (const secret of [...words, ...locals, client.key, wrong]) expect(log).not.toContain(secret);
    expect(log).toContain(id);
    expect(log).toContain('*@example.org');
    const lines = log.split('\n').filter((line) => line.startsWith('{'));
    for (const line of lines)
      expect(JSON.parse(line)).toMatchObject({
        time: expect.any(String),
        level: expect.any(String),
        event: expect.any(String),
      });
    expect(lines.length).toBeGreaterThan(5);
  });
});

/** A sink, and a service that sends to it, with a dashboard port and the log's defaults. */
async function install({
  onTestFinished,
}: TestContext): Promise<{ readonly sink: SmtpSink; readonly service: Service }> {
  const sink = await startSmtpSink();
  onTestFinished(() => sink.close());
  const configuration = configurationFor(sink.port).replace('webui: { port: null }', 'webui: { port: 0 }');
  // How full this machine's disk is must not matter.
  const service = await startService(
    `${configuration}health: { disk_low_bytes: 0, disk_critical_bytes: 0 }\n`,
  );
  onTestFinished(() => service.stop());
  return { sink, service };
}

/** Holds the lock that every write to the store needs. */
function holdStore({ installation }: Service): { release(): void } {
  const database = new Database(join(installation.dataDir, 'waybill.db'));
  database.exec('BEGIN IMMEDIATE');
  return { release: () => database.close() };
}

async function untilHealthy(service: Service): Promise<void> {
  const look = async () =>
    expect(JSON.parse((await ask(service.server, '/health')).body)).toMatchObject({ status: 'healthy' });
  await vi.waitFor(look, { timeout: 60_000, interval: 50 });
}

/** Every series of `/metrics` and its value. */
async function figures(service: Service): Promise<Record<string, number>> {
  const { body } = await ask(service.server, '/metrics');
  const series = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    series.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  );
}
