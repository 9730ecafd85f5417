/** What a key may do, over the whole process. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { Client, configurationFor, createKey, type Service, startService } from './service.ts';

let sink: SmtpSink;
let service: Service;
beforeAll(async () => {
  sink = await startSmtpSink();
  service = await startService(configurationFor(sink.port));
});
afterAll(async () => {
  await service.stop();
  await sink.close();
});

test("a test key's mail is captured and never reaches the relay", async () => {
  const { client, server, installation } = service;
  const tester = new Client(server, await createKey(installation, 'tests', '--test'));
  expect(tester.key).toMatch(/^wb_test_/);
  const answer = await tester.post(letter('captured'));
  const { id, message } = (await answer.json()) as { id: string; message: string };
  expect([answer.status, message]).toEqual([202, 'Captured in the local inbox; nothing will be sent.']);
  expect(await tester.end(id)).toMatchObject({ status: 'delivered', outcome: 'captured', relay: 'inbox' });
  await client.end(await client.send(letter('sent')));
  expect(sink.messages).toMatchObject([{ to: ['sent@example.net'] }]);
});

let revoked = 0;

// A machine that stood still for a second is given another chance.
test('a revoked key is refused within a second', { retry: 2 }, async () => {
  const { server, installation } = service;
  const name = `short-lived-${revoked++}`;
  const client = new Client(server, await createKey(installation, name));
  expect((await client.get('')).status).toBe(200);
  expect((await installation.run('keys', 'revoke', name)).code).toBe(0);
  const revokedAt = performance.now();
  let acceptedAt = revokedAt;
  for (let status = 200; status !== 401; ) {
    const askedAt = performance.now();
    ({ status } = await client.get(''));
    if (status === 200) acceptedAt = askedAt;
  }
  expect(acceptedAt - revokedAt).toBeLessThan(1000);
  expect((await client.post(letter('revoked'))).status).toBe(401);
});

/** A message known by its recipient's name. */
function letter(name: string) {
  return { from: 'a@example.com', to: `${name}@example.net`, subject: name, text: 'x' };
}
