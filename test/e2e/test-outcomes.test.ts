/** Outcomes on demand at the real program: an application tests what it does when its mail bounces. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { heldFetch } from '../support/openapi.ts';
import { Client, createKey, startService } from './service.ts';

const PATIENCE = { timeout: 30_000, interval: 50 };

/** What an endpoint is told: the types of events, by recipient. */
async function startApplication() {
  const told = new Map<string, string[]>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { type, data } = JSON.parse(Buffer.concat(chunks).toString());
    const address = data.recipient?.address ?? data.entry?.address;
    if (address !== undefined) told.set(address, [...(told.get(address) ?? []), type]);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { told, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/waybill` };
}

test('every outcome is told by record, webhook and list, also over a death in between', async () => {
  const application = await startApplication();
  const service = await startService(`
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: null }
listener: { ports: [] }
webhooks: { private_urls: ["${application.url}"] }
`);
  onTestFinished(() => service.stop());
  const scopes = ['messages:send', 'messages:read', 'suppressions:read'].flatMap((scope) => [
    '--scope',
    scope,
  ]);
  const key = await createKey(service.installation, 'tests', '--test', ...scopes);
  await service.installation.run(
    'webhooks',
    'add',
    application.url,
    '--type',
    'message.*',
    '--type',
    'suppression.added',
  );
  let client = new Client(service.server, key);
  const send = (local: string) =>
    client.send({ from: 'shop@example.com', to: [`${local}@shop.test`], subject: 'Hello', text: 'Hi.' });

  // It dies when the bounce is planned and has not come.
  const dying = await send('bounce+death');
  await expect.poll(async () => (await client.record(dying)).status, PATIENCE).toBe('delivered');
  await service.server.end('SIGKILL');
  await service.restart();
  client = new Client(service.server, key);
  await expect.poll(async () => (await client.record(dying)).outcome, PATIENCE).toBe('bounced');

  const names = ['delivered', 'bounce', 'reject', 'complain', 'unsubscribe', 'defer', 'suppressed'];
  const ids = new Map<string, string>();
  for (const name of names) ids.set(name, await send(`${name}+1`));
  const told = (name: string) => (application.told.get(`${name}+1@shop.test`) ?? []).toSorted();
  await expect.poll(() => told('bounce'), PATIENCE).toHaveLength(3);
  await expect.poll(() => told('complain'), PATIENCE).toHaveLength(3);
  await expect.poll(() => told('unsubscribe'), PATIENCE).toHaveLength(3);
  await expect.poll(() => told('defer'), PATIENCE).toHaveLength(2);
  expect(Object.fromEntries(names.map((name) => [name, told(name)]))).toEqual({
    delivered: ['message.delivered'],
    bounce: ['message.bounced', 'message.delivered', 'suppression.added'],
    reject: ['message.failed'],
    complain: ['message.complained', 'message.delivered', 'suppression.added'],
    unsubscribe: ['message.delivered', 'message.unsubscribed', 'suppression.added'],
    defer: ['message.deferred', 'message.delivered'],
    suppressed: ['message.suppressed', 'suppression.added'],
  });
  const ends = await Promise.all([...ids].map(async ([name, id]) => [name, (await client.end(id)).outcome]));
  expect(Object.fromEntries(ends)).toEqual({
    delivered: 'accepted',
    bounce: 'bounced',
    reject: 'rejected',
    complain: 'accepted',
    unsubscribe: 'accepted',
    defer: 'accepted',
    suppressed: 'suppressed',
  });

  // What arrived lies in the inbox, whatever became of it; what never arrived does not.
  const inbox = async (name: string) => {
    const url = `${service.server.api}/api/v1/inbox/wait?to=${name}%2B1@shop.test&timeout=0`;
    return (await heldFetch(url, { headers: { authorization: `Bearer ${key}` } })).status;
  };
  const found = await Promise.all(names.map(async (name) => [name, await inbox(name)]));
  const isThere = (name: string) => (name === 'reject' || name === 'suppressed' ? 404 : 200);
  expect(found).toEqual(names.map((name) => [name, isThere(name)]));

  const answer = await heldFetch(`${service.server.api}/api/v1/suppressions`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { suppressions } = (await answer.json()) as {
    suppressions: { address: string; scope: string }[];
  };
  const listed: string[] = suppressions.map(({ address, scope }) => `${address} ${scope}`);
  const suppressed = ['bounce+1', 'bounce+death', 'complain+1', 'suppressed+1', 'unsubscribe+1'];
  expect(listed.toSorted()).toEqual(suppressed.map((local) => `${local}@shop.test key:tests`));
}, 180_000);
