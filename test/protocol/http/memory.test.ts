import { afterEach, expect, test } from 'vitest';
import { RawClient } from '../../peers/http.ts';
import { BATCH_PATH } from './batch-client.ts';
import { MAIL, World } from './world.ts';

/** The budget of bytes in flight: nobody keeps the others, or itself, from sending what is small. */

let world: World;
afterEach(() => world.close());

/** Begins a request with a body of JSON, all of it but its end. */
function begin(path: string, key: string, body: string, announced = body.length + 1, more = ''): RawClient {
  const header = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json${more}`;
  return new RawClient(world.port, `${header}\r\nContent-Length: ${announced}\r\n\r\n${body}`);
}

const batchOf = (bytes: number) => `{"messages":[{"text":"${'x'.repeat(bytes)}`;

test('batches that fill all they may hold up neither other keys nor the messages of their own', async () => {
  world = await World.start({ maxBytesInFlight: 1_000_000 });
  const greedy = await world.key();
  const batches = [1, 2, 3].map(() => begin(BATCH_PATH, greedy, batchOf(450_000), 499_000));
  await expect.poll(() => world.shared.budget.waiting).toBeGreaterThan(0);
  for (const key of [await world.key(), greedy])
    for (let count = 0; count < 20; count++) expect((await world.post(key, MAIL)).status).toBe(202);
  for (const { socket } of batches) socket.destroy();
});

test('messages that are only announced take next to nothing', async () => {
  world = await World.start({ maxBytesInFlight: 1_000_000, limits: { maxMessageBytes: 900_000 } });
  const idle = await world.key();
  const announced = Array.from({ length: 3 }, () =>
    begin('/api/v1/messages', idle, '', 900_000, '\r\nExpect: 100-continue'),
  );
  for (const client of announced) {
    await client.until(/ 100 Continue/);
    client.socket.write('{');
  }
  const large = { ...MAIL, text: 'x'.repeat(40_000) };
  expect((await world.post(await world.key(), large)).status).toBe(202);
  for (const { socket } of announced) socket.destroy();
});

test('a batch whose client has gone is not worked on any further', async () => {
  world = await World.start({
    maxBytesInFlight: 50_000_000,
    limits: { maxBatchMessages: 400, maxBatchBytes: 25_000_000 },
  });
  const key = await world.key();
  const messages = Array(400).fill({ ...MAIL, dryRun: true, text: 'x'.repeat(50_000) });
  const body = JSON.stringify({ messages });
  const { plan } = world.intake;
  let judged = 0;
  const first = Promise.withResolvers<void>();
  world.intake.plan = (submission) => {
    judged += 1;
    if (judged === 1) client.socket.destroy();
    first.resolve();
    return plan.call(world.intake, submission);
  };
  const client = begin(BATCH_PATH, key, body, body.length);
  await first.promise;
  // A request that comes after it is answered after what is left of it.
  await expect.poll(async () => (await world.post(key, MAIL)).status).toBe(202);
  const before = judged;
  expect((await world.post(key, MAIL)).status).toBe(202);
  expect(judged).toBe(before);
  expect(judged).toBeLessThan(400);
  expect(world.logged).toEqual([]);
});

test('a body of JSON counts twice, for what is composed of it, and once as soon as that is done', async () => {
  world = await World.start({ maxBytesInFlight: 50_000_000, limits: { maxMessageBytes: 20_000_000 } });
  const files = [{ filename: 'a.bin', content: Buffer.alloc(6_000_000).toString('base64') }];
  const body = JSON.stringify({ ...MAIL, attachments: files });
  const client = begin('/api/v1/messages', await world.key(), body.slice(0, -1));
  await expect.poll(() => world.shared.budget.taken).toBe(2 * body.length);
  const { accept } = world.intake;
  const whileWritten: { readonly taken: number; readonly size: number | undefined }[] = [];
  world.intake.accept = (submissions, together) => {
    const [size] = submissions.map(({ content }) => content.sizeBytes);
    whileWritten.push({ taken: world.shared.budget.taken, size });
    return accept.call(world.intake, submissions, together);
  };
  client.socket.write('}');
  await expect.poll(() => world.shared.budget.taken).toBe(0);
  const [written] = whileWritten;
  expect(whileWritten).toHaveLength(1);
  expect(written?.size).toBeGreaterThan(8_000_000);
  expect(written?.taken).toBe(written?.size);
});
