/** Webhooks of a provider at the real program: what they tell changes records, once, also before and after a death. */
import { createHmac, randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { type ApiRequest, answerJson, ProviderApi } from '../peers/provider-api.ts';
import { createKey, type Service, startService } from './service.ts';

const SECRET = Buffer.from('a secret of the webhook');
const LETTER = { from: 'a@example.org', subject: 'Hello', text: 'It works.' };
/** What a key needs that is to see the events of every message. */
const FOLLOWING = ['events:read', 'messages:read_all'].flatMap((name) => ['--scope', name]);

function configuration(provider: ProviderApi): string {
  return `
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [] }
threads: { ingest: 2 }
delivery: { default_relay: rs }
server: { public_url: https://mail.example.com }
health: { disk_critical_bytes: 0, disk_low_bytes: 0 }
relays:
  - { name: rs, type: resend, secret: re_key, webhook_secret: whsec_${SECRET.toString('base64')}, endpoint: ${provider.url}, allow_private: true }
`;
}

/** Calls the webhook as Resend does, with an event of one recipient. */
async function call(
  service: Service,
  path: string,
  type: string,
  emailId: string,
  id: string = randomUUID(),
) {
  const body = JSON.stringify({
    type,
    created_at: new Date().toISOString(),
    data: {
      email_id: emailId,
      to: ['b@example.net'],
      ...(type === 'email.bounced' && {
        bounce: { type: 'Permanent', subType: 'General', message: '550 5.1.1 no such user' },
      }),
    },
  });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', SECRET).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = { 'svix-id': id, 'svix-timestamp': timestamp, 'svix-signature': `v1,${signature}` };
  // Of the two threads, either may get it.
  const init = { method: 'POST', headers: { ...headers, connection: 'close' }, body };
  const answer = await fetch(`${service.server.api}${path}`, init);
  return [answer.status, await answer.text()];
}

/** The path of the relay's hook, as the command shows it. */
async function hookPath({ installation }: Service, ...words: readonly string[]): Promise<string> {
  const { stdout, stderr } = await installation.run('relays', ...words, '--json');
  const { pathname, origin } = new URL((JSON.parse(stdout) as { readonly url: string }).url);
  expect([origin, stderr]).toEqual(['https://mail.example.com', '']);
  return pathname;
}

async function started(answer?: (request: ApiRequest) => ReturnType<typeof answerJson>): Promise<Service> {
  let sent = 0;
  const usual = () => answerJson(200, { id: `email-${++sent}` });
  const provider = await ProviderApi.start({ answer: answer ?? usual });
  const service = await startService(configuration(provider));
  onTestFinished(() => service.stop());
  return service;
}

const outcomeOf = async ({ client }: Service, id: string) => {
  const { status, recipients } = await client.record(id);
  return [status, ...recipients.map(({ outcome }) => outcome)];
};

/** What the log of events tells of a message. */
async function eventsOf({ server }: Service, id: string, key: string): Promise<string[]> {
  const url = `${server.api}/api/v1/events?message=${id}&limit=50&after=0`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  const { events } = (await answer.json()) as { readonly events: readonly { readonly type: string }[] };
  return events.map(({ type }) => type);
}

test('a bounce changes the record once, whoever repeats it, and outlives a death', async () => {
  const service = await started();
  const path = await hookPath(service, 'show', 'rs', '--hook');
  const follower = await createKey(service.installation, 'follower', ...FOLLOWING);
  const id = await service.client.send({ ...LETTER, to: 'b@example.net' });
  expect(await service.client.end(id)).toMatchObject({ status: 'delivered' });

  expect(await call(service, path, 'email.delivered', 'email-1')).toEqual([200, '{"accepted":1}']);
  expect(await outcomeOf(service, id)).toEqual(['delivered', 'accepted']);
  const bounce = randomUUID();
  expect(await call(service, path, 'email.bounced', 'email-1', bounce)).toEqual([200, '{"accepted":1}']);
  await service.server.end('SIGKILL');
  await service.restart();
  expect(await outcomeOf(service, id)).toEqual(['failed', 'bounced']);

  for (let repeat = 0; repeat < 6; repeat++)
    expect((await call(service, path, 'email.bounced', 'email-1', bounce))[0]).toBe(200);
  expect(await eventsOf(service, id, follower)).toEqual([
    'message.queued',
    'message.delivered',
    'message.confirmed',
    'message.bounced',
  ]);
  const again = await service.client.send({ ...LETTER, to: 'b@example.net' });
  expect(await service.client.end(again)).toMatchObject({ status: 'failed' });
  expect(await outcomeOf(service, again)).toEqual(['failed', 'suppressed']);
  await service.server.printed(/\/hooks\/rs\/…/);
  expect(service.server.output).not.toContain(path.split('/').at(-1));
});

test('an event that comes before our own attempt is recorded counts once it is', async () => {
  let service: Service | null = null;
  let path = '';
  const answers: unknown[] = [];
  const answer = ({ path: asked }: ApiRequest) => {
    const id = `early-${answers.length + 1}`;
    const told = service === null || asked !== '/emails' ? null : call(service, path, 'email.bounced', id);
    if (told !== null) answers.push(told);
    // The provider tells of it before it answers us.
    return { ...answerJson(200, { id }), ...(told !== null && { after: told }) };
  };
  service = await started(answer);
  path = await hookPath(service, 'show', 'rs', '--hook');
  const id = await service.client.send({ ...LETTER, to: 'b@example.net' });
  const found = service;
  await expect.poll(() => outcomeOf(found, id)).toEqual(['failed', 'bounced']);
  expect(await Promise.all(answers)).toEqual([[200, '{"accepted":1}']]);
  const follower = await createKey(service.installation, 'follower', ...FOLLOWING);
  expect(await eventsOf(service, id, follower)).toEqual([
    'message.queued',
    'message.delivered',
    'message.bounced',
  ]);
});

test('a hook that is rotated has two URLs, which all threads know, also after a start', async () => {
  const service = await started();
  const before = await hookPath(service, 'show', 'rs', '--hook');
  const after = await hookPath(service, 'hook', 'rotate', 'rs');
  expect(after).not.toBe(before);
  for (let time = 0; time < 8; time++)
    for (const path of [before, after])
      expect((await call(service, path, 'email.opened', 'email-1'))[0]).toBe(200);
  const wrong = after.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  expect(await call(service, wrong, 'email.opened', 'email-1')).toEqual([404, '']);
  expect(await service.server.end('SIGTERM')).toBe(0);
  await service.restart();
  for (const path of [before, after])
    expect((await call(service, path, 'email.opened', 'email-1'))[0]).toBe(200);
  const shown = await service.installation.run('relays', 'hook', 'show', 'rs', '--json');
  expect(JSON.parse(shown.stdout)).toMatchObject({ missing: [], lastProvenAt: expect.stringMatching(/^20/) });
});
