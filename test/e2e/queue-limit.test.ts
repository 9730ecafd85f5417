/** Mail that waits is bounded, of one key and of all. */
import { afterEach, expect, test } from 'vitest';
import { Client, createKey, type Service, startService } from './service.ts';

const HOUR_MS = 3_600_000;
const MIB = 1024 * 1024;

let service: Service;
afterEach(() => service.stop());

/** A server that captures what it takes, with these limits. */
const start = (limits: string) =>
  startService(`
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0, max_message_bytes: 1048576 }
webui: { port: null }
listener: { ports: [] }
limits: { ${limits} }
`);

/** Mail that waits for its time, so that the queue holds it. */
function letter(text = 'x') {
  const sendAt = new Date(Date.now() + HOUR_MS);
  return { from: 'a@example.com', to: 'b@example.net', subject: 'Later', text, sendAt };
}

/** What posting it is answered with. */
async function answerTo(client: Client, text?: string) {
  const answer = await client.post(letter(text));
  const body = (await answer.json()) as { readonly code?: string; readonly detail?: string };
  return { ...body, status: answer.status, retryAfter: answer.headers.get('retry-after') };
}

test('a key whose queue is full gets 503 until something of it has ended; another key does not notice', async () => {
  service = await start('max_queued_per_key: 2');
  const { client, server, installation } = service;
  const first = await client.send(letter());
  await client.send(letter());
  expect(await answerTo(client)).toMatchObject({
    status: 503,
    code: 'queue_limit',
    retryAfter: '30',
    detail: expect.stringContaining('limits.max_queued_per_key'),
  });
  const other = new Client(server, await createKey(installation, 'other'));
  expect((await answerTo(other)).status).toBe(202);
  const cancelled = await client.api.cancel(first);
  expect(cancelled.ok).toBe(true);
  await expect.poll(async () => (await answerTo(client)).status).toBe(202);
  expect((await answerTo(client)).status).toBe(503);
});

test('when the queue of all is full everyone gets 503', async () => {
  service = await start('max_queued_bytes: 1048576');
  const { client, server, installation } = service;
  expect((await answerTo(client, 'x'.repeat(MIB / 2))).status).toBe(202);
  const full = {
    status: 503,
    code: 'queue_limit',
    detail: expect.stringContaining('limits.max_queued_bytes'),
  };
  expect(await answerTo(client, 'x'.repeat(MIB / 2))).toMatchObject(full);
  const other = new Client(server, await createKey(installation, 'other'));
  expect(await answerTo(other, 'x'.repeat(MIB / 2))).toMatchObject(full);
  expect((await answerTo(other, 'x')).status, 'a small one still fits').toBe(202);
});
