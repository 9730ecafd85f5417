/** What outlives the process, and what must not. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { HANG } from '../peers/smtp-sink-script.ts';
import { untilFound } from '../peers/watch.ts';
import { configurationFor, type Service, startService } from './service.ts';

// At once, because most of the time goes by in waiting.
describe.concurrent('the process', { timeout: 180_000 }, () => {
  test('SIGTERM lets what has its final dot be answered, and the rest is delivered after the next start', async (context) => {
    const { sink, service } = await install(context);
    const dotted = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    sink.script = {
      DOT: () => {
        dotted.resolve();
        return { after: asked.promise, reply: '250 2.0.0 taken' };
      },
    };
    const names = ['first', 'second', 'third'];
    const ids = await sendAll(service, names);
    await dotted.promise;
    const ended = service.server.end('SIGTERM');
    await untilGone(service, 'runtime.json');
    sink.script = {};
    asked.resolve();
    expect(await ended).toBe(0);
    expect(taken(sink)).toContain('first');

    await service.restart();
    for (const id of ids)
      expect(await service.client.end(id)).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(taken(sink)).toEqual(names);
  });

  // The grace is longer than the test may take.
  test.for([
    ['RCPT', 'x'],
    ['DATA', 'x'.repeat(500_000)],
  ] as const)(
    'SIGTERM breaks off at once what hangs at %s, unharmed, and it is delivered after the next start',
    async ([verb, text], context) => {
      const { sink, service } = await install(context, 'shutdown: { grace_seconds: 3600 }');
      sink.script = { [verb]: HANG };
      const id = await service.client.send({
        from: 'a@example.com',
        to: 'hanging@example.net',
        subject: 'hanging',
        text,
      });
      await sink.until(() => sink.commands.some(({ line }) => line.startsWith(verb)));
      expect(await service.server.end('SIGTERM')).toBe(0);
      sink.script = {};
      await service.restart();
      const record = await service.client.end(id);
      expect(record).toMatchObject({ status: 'delivered', attempts: 1 });
      expect(record).not.toHaveProperty('possibleDuplicate');
      expect(taken(sink)).toEqual(['hanging']);
    },
  );

  test.for(['SIGTERM', 'SIGINT'] as const)(
    '%s leaves neither runtime.json nor control.sock',
    async (signal, context) => {
      const { service } = await install(context);
      const files = ['runtime.json', 'control.sock'].map((name) => join(service.installation.dataDir, name));
      expect(files.map((file) => existsSync(file))).toEqual([true, true]);
      expect(await service.server.end(signal)).toBe(0);
      expect(files.map((file) => existsSync(file))).toEqual([false, false]);
    },
  );

  test('a second server on the same data directory is refused, and the first goes on', async (context) => {
    const { service } = await install(context);
    const { installation, client } = service;
    const { code, stderr } = await installation.run('serve');
    const { pid } = service.server.runtime;
    expect([code, stderr]).toEqual([1, expect.stringContaining(`in use by process ${pid}`)]);
    expect(stderr).toContain(installation.dataDir);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    const [id = ''] = await sendAll(service, ['still-there']);
    expect(await client.end(id)).toMatchObject({ status: 'delivered' });
  });

  test('what was killed leaves nothing that keeps the next server from starting', async (context) => {
    const { service } = await install(context);
    await service.server.end('SIGKILL');
    await service.restart();
    const [id = ''] = await sendAll(service, ['after-the-kill']);
    expect(await service.client.end(id)).toMatchObject({ status: 'delivered' });
  });

  test('mail with a later sendAt stays queued, over a restart too, and goes out when its time has come', async (context) => {
    const { sink, service } = await install(context);
    const { client } = service;
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    const soon = new Date(Date.now() + 4_000).toISOString();
    const late = await client.send({ ...letter('tomorrow'), sendAt: tomorrow });
    const early = await client.send({ ...letter('soon'), sendAt: soon });
    await client.end(await client.send(letter('now')));
    expect(await client.record(late)).toMatchObject({ status: 'queued', sendAt: tomorrow, attempts: 0 });
    expect(await service.server.end('SIGTERM')).toBe(0);

    await service.restart();
    const { deliveredAt } = await service.client.end(early);
    expect(Date.parse(String(deliveredAt))).toBeGreaterThanOrEqual(Date.parse(soon));
    expect(await service.client.record(late)).toMatchObject({ status: 'queued' });
    expect(taken(sink)).toEqual(['now', 'soon']);
  });
});

/** A sink, and a service that sends to it one message at a time: one in flight keeps the others waiting. */
async function install(
  { onTestFinished }: TestContext,
  more = '',
): Promise<{ readonly sink: SmtpSink; readonly service: Service }> {
  const sink = await startSmtpSink();
  onTestFinished(() => sink.close());
  const service = await startService(configurationFor(sink.port, 'tls: none, max_concurrency: 1') + more);
  onTestFinished(() => service.stop());
  return { sink, service };
}

/** A message known by its recipient's name. */
function letter(name: string) {
  return { from: 'a@example.com', to: `${name}@example.net`, subject: name, text: 'x' };
}

async function sendAll({ client }: Service, names: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) ids.push(await client.send(letter(name)));
  return ids;
}

/** The names of those who got mail, in the sink's order, as often as they did. */
function taken(sink: SmtpSink): string[] {
  return sink.messages.flatMap(({ to }) => to.map((address) => address.replace('@example.net', '')));
}

/** Waits until a file of the data directory is removed. */
function untilGone({ installation: { dataDir } }: Service, name: string): Promise<true> {
  return untilFound(dataDir, () => (existsSync(join(dataDir, name)) ? null : true));
}
