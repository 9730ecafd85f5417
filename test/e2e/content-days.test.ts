/** Contents that a key keeps for no time (contract §9, §12). */
import { expect, test, vi } from 'vitest';
import { Client, createKey, installed } from './service.ts';

const CONFIGURATION = `
api: { port: 0, rate_limit_per_key: 0, bind: ["127.0.0.1"] }
webui: { port: null }
listener: { ports: [] }
`;

test('contents of a key that keeps none go within seconds after the end, and then nothing can be sent again', async (context) => {
  const installation = installed(context, CONFIGURATION);
  const scopes = ['send', 'read', 'content'].flatMap((name) => ['--scope', `messages:${name}`]);
  const key = await createKey(installation, 'private', '--content-days', '0', ...scopes);
  const other = await createKey(installation, 'other', ...scopes);
  const server = await installation.start();
  const message = { from: 'a@example.com', to: ['b@example.net'], subject: 'secret', text: 'secret' };
  const client = new Client(server, key);
  const ordinary = new Client(server, other);
  const id = await client.send(message);
  const kept = await ordinary.send(message);
  await Promise.all([client.end(id), ordinary.end(kept)]);
  await vi.waitFor(
    async () => {
      const gone = await client.get(`/${id}/content`);
      expect([gone.status, ((await gone.json()) as { code: string }).code]).toEqual([404, 'content_expired']);
    },
    { timeout: 60_000, interval: 200 },
  );
  const again = await fetch(`${client.messages}/${id}/resend`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
  });
  expect([again.status, ((await again.json()) as { code: string }).code]).toEqual([409, 'content_expired']);
  expect(await client.record(id)).toMatchObject({ status: 'delivered', subject: 'secret' });
  expect((await ordinary.get(`/${kept}/content`)).status).toBe(200);
});
