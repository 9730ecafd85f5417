/** `Idempotency-Key` across a crash (contract §2): the process is killed, and a repeat still makes no second message. */
import { describe, expect, type TestContext, test } from 'vitest';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { heldFetch } from '../support/openapi.ts';
import { configurationFor, type Service, startService } from './service.ts';

const LETTER = { from: 'a@example.com', to: 'b@example.net', text: 'x' };

// At once, because most of the time goes by in waiting.
describe.concurrent('after a kill', { timeout: 180_000 }, () => {
  test('a submission, a batch and a resend get their first answers, and nobody gets a second copy', async (context) => {
    const { sink, service } = await install(context);
    const batch = {
      messages: [
        { ...LETTER, subject: 'two' },
        { ...LETTER, from: 'oops' },
        { ...LETTER, subject: 'three' },
      ],
    };
    const askAll = async (first: string | null) => {
      const one = await post(service, '', { ...LETTER, subject: 'one' }, 'k-one');
      const several = await post(service, '/batch', batch, 'k-batch');
      const again = await post(service, `/${first ?? one.json.id}/resend`, {}, 'k-again');
      return [one, several, again];
    };
    const before = await askAll(null);
    expect(before.map(({ status, replayed }) => [status, replayed])).toEqual(Array(3).fill([202, null]));
    await service.server.end('SIGKILL');
    await service.restart();
    const after = await askAll(String(before[0]?.json.id));
    expect(after.map(({ status, replayed }) => [status, replayed])).toEqual(Array(3).fill([202, 'true']));
    expect(after.map(({ json }) => json)).toEqual(before.map(({ json }) => json));

    const messages = await listAll(service);
    expect(messages.map(({ subject }) => subject).sort()).toEqual(['one', 'one', 'three', 'two']);
    for (const { id } of messages)
      expect(await service.client.end(id)).toMatchObject({ status: 'delivered' });
    expect(
      new Set(sink.messages.map(({ content }) => /^Message-ID: (.*)$/im.exec(String(content))?.[1])).size,
    ).toBe(4);
  });

  test('a client whose answer was lost asks again under its key until it has one, and has made one message', async (context) => {
    const { service } = await install(context);
    const subjects = Array.from({ length: 6 }, (_, round) => `round ${round}`);
    for (const subject of subjects) {
      const message = { ...LETTER, subject };
      // Killed while it is being accepted, before or after it was stored: nobody knows.
      const lost = post(service, '', message, subject).catch(() => null);
      await service.server.end('SIGKILL');
      const first = await lost;
      await service.restart();
      const second = await post(service, '', message, subject);
      expect(second.status).toBe(202);
      if (first !== null) expect(second.json.id).toBe(first.json.id);
    }
    const messages = await listAll(service);
    expect(messages.map(({ subject }) => subject).sort()).toEqual(subjects);
  });
});

/** A sink, and a service that sends to it. */
async function install({
  onTestFinished,
}: TestContext): Promise<{ readonly sink: SmtpSink; readonly service: Service }> {
  const sink = await startSmtpSink();
  onTestFinished(() => sink.close());
  const service = await startService(configurationFor(sink.port));
  onTestFinished(() => service.stop());
  return { sink, service };
}

/** Posts JSON under an idempotency key. */
async function post({ client }: Service, path: string, body: object, key: string) {
  const headers = {
    authorization: `Bearer ${client.key}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  };
  const answer = await heldFetch(client.messages + path, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const json = (await answer.json()) as { readonly id?: string };
  return { status: answer.status, replayed: answer.headers.get('idempotency-replayed'), json };
}

async function listAll({ client }: Service) {
  const messages = [];
  for await (const message of client.api.list()) messages.push(message);
  return messages;
}
