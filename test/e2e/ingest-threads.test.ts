/** Several threads take mail at the same ports (`threads.ingest`): they are one service to whoever speaks to them. */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../crash/customer.ts';
import { Installation, type RunningServer } from '../peers/server.ts';
import { Client, createKey } from './service.ts';

const THREADS = 3;
/** Enough that no thread is left out: of so many connections one in 10^7 chances leaves a third of them empty. */
const CONNECTIONS = 40;
const OF_SOURCE = 25;
const CONFIGURATION = `
api: { port: 0, bind: ["127.0.0.1"], tls_port: 0, tls_enabled: true }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [0], implicit_tls_ports: [0], bind: ["127.0.0.1"], max_connections_per_source: ${OF_SOURCE} }
threads: { ingest: ${THREADS} }
`;

describe('threads that take mail', () => {
  let installation: Installation;
  let server: RunningServer;
  let client: Client;

  beforeAll(async () => {
    installation = new Installation(CONFIGURATION);
    server = await installation.start();
    const scopes = ['send', 'read', 'read_all', 'content'].flatMap((name) => ['--scope', `messages:${name}`]);
    client = new Client(
      server,
      await createKey(installation, 'app', ...scopes, '--scope', 'admin', '--rate', '0'),
    );
  });
  afterAll(async () => {
    await server.end('SIGKILL');
    installation.remove();
  });

  /** What an endpoint for operators answers: its status and body. */
  const act = async (name: string, body: object) => {
    const answer = await fetch(`${server.api}/api/v1/${name}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${client.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    return [answer.status, await answer.json()];
  };

  test('a message that came to one of them is seen by all, over HTTP and over SMTP', async () => {
    const ids = await Promise.all(
      Array.from({ length: CONNECTIONS }, (_, place) => submit(client, `of ${place}`)),
    );
    expect(new Set(ids).size).toBe(CONNECTIONS);
    const overSmtp = await smtpSend(server.runtime.smtp[0] ?? 0);
    for (const id of [...ids, overSmtp]) expect((await client.end(id)).status).toBe('delivered');
    const listed: string[] = [];
    for await (const { id } of client.api.list()) listed.push(id);
    expect(listed).toEqual(expect.arrayContaining(ids));
  });

  test('contents come back whole, of any size', async () => {
    const text = 'A line of text.\r\n'.repeat(40_000);
    const id = await client.send({ from: 'a@example.com', to: ['b@example.com'], subject: 'Large', text });
    const answer = await client.get(`/${id}/content`);
    const content = Buffer.from(await answer.arrayBuffer());
    expect(content.length).toBe(Number(answer.headers.get('content-length')));
    expect(content.toString('latin1').replaceAll('=\r\n', '')).toContain('A line of text.\r\n'.repeat(1000));
  });

  test('who waits for the end of a message hears of it', async () => {
    const sendAt = new Date(Date.now() + 1500).toISOString();
    const message = { from: 'a@example.com', to: ['b@example.com'], subject: 'Later', text: 'x', sendAt };
    const id = await client.send(message);
    expect(await client.record(id)).toMatchObject({ status: 'queued', waitingFor: 'scheduled' });
    const asked = performance.now();
    const answer = await client.get(`/${id}?wait=20`);
    expect(await answer.json()).toMatchObject({ status: 'delivered' });
    expect(performance.now() - asked).toBeLessThan(10_000);
  });

  test('operations, their refusals, and what a dry run and an explanation say come through', async () => {
    expect((await act('admin/relays', {}))[0]).toBe(200);
    expect(await act('admin/removeRelay', { name: 'nobody' })).toMatchObject([
      404,
      { detail: expect.stringContaining('nobody') },
    ]);
    const dry = { from: 'a@example.com', to: ['b@example.com'], subject: 'Dry', text: 'x', dryRun: true };
    expect(await (await client.post(dry)).json()).toMatchObject({ dryRun: true, captured: true });
    const way = await fetch(`${server.api}/api/v1/routes/explain?from=a@example.com&to=b@example.com`, {
      headers: { authorization: `Bearer ${client.key}` },
    });
    expect(await way.json()).toMatchObject({ relay: 'inbox' });
    const queue = await fetch(`${server.api}/api/v1/queue`, {
      headers: { authorization: `Bearer ${client.key}` },
    });
    expect(queue.status).toBe(200);
  });

  test('what is done to the queue comes through, and is in the activity under the name of the key', async () => {
    expect(await act('queue/pause', { target: 'inbox' })).toMatchObject([
      200,
      { kind: 'pause', changed: true },
    ]);
    expect(await act('queue/resume', { target: 'inbox' })).toMatchObject([
      200,
      { kind: null, changed: true },
    ]);
    expect(await act('queue/pause', { target: 'nobody' })).toMatchObject([404, { code: 'relay_not_found' }]);
    const page = { actor: 'app', action: 'hold', subject: null, limit: 10, before: null };
    const [, activity] = await act('admin/activity', page);
    expect(activity).toMatchObject({
      entries: [
        { subject: 'nobody', after: { error: 'not_found' } },
        { subject: 'inbox', after: { kind: null } },
        { subject: 'inbox', actorKind: 'key', sourceAddress: '127.0.0.1', after: { kind: 'pause' } },
      ],
    });
  });

  test("an administrator's act on the message of another key is in the activity, and refused by its own code", async () => {
    const other = new Client(server, await createKey(installation, 'other', '--scope', 'messages:send'));
    const id = await submit(other, 'of another');
    await client.end(id);
    expect(await act(`messages/${id}/cancel`, {})).toMatchObject([409, { code: 'not_cancellable' }]);
    const page = { actor: 'app', action: 'cancelMessage', subject: id, limit: 10, before: null };
    const [, activity] = await act('admin/activity', page);
    expect(activity).toMatchObject({ entries: [{ subject: id, after: { error: 'refused' } }] });
  });

  test('a source has as many connections as it may, over all threads, and not one more', async (context) => {
    const sockets = Array.from({ length: CONNECTIONS }, () =>
      connect(server.runtime.smtp[0] ?? 0, '127.0.0.1'),
    );
    context.onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    const greetings = await Promise.all(sockets.map(firstLine));
    expect(greetings.filter((line) => line.startsWith('220 ')).length).toBe(OF_SOURCE);
    expect(greetings.filter((line) => line.startsWith('421 4.7.0 ')).length).toBe(CONNECTIONS - OF_SOURCE);
    const { body } = await ask(server, '/metrics');
    expect(/^svc_smtp_connections (\d+)$/m.exec(body)?.[1]).toBe(String(OF_SOURCE));
  });

  test('requests of a key count wherever they come in', async () => {
    const limit = 2000;
    const key = await createKey(installation, 'limited', '--rate', String(limit));
    let taken = 0;
    const areKnownToAll = async () => {
      const before = taken;
      taken += CONNECTIONS;
      const left = await Promise.all(Array.from({ length: CONNECTIONS }, () => remaining(server, key)));
      return Math.max(...left) < limit - before;
    };
    await areKnownToAll();
    // Threads that counted by themselves would be the further behind the more is asked.
    await expect.poll(areKnownToAll, { timeout: 10_000, interval: 1000 }).toBe(true);
  });

  test('a setting that is changed holds in all of them', async () => {
    installation.configure(CONFIGURATION.replace('listener: {', 'listener: { require_auth: true,'));
    await expect.poll(() => refusals(server)).toBe(THREADS * 3);
    installation.configure(CONFIGURATION);
    await expect.poll(() => refusals(server)).toBe(0);
  });

  test('a second server cannot have the same ports, though it would share them too', async () => {
    const { api, smtp } = server.runtime;
    const other = new Installation(
      CONFIGURATION.replace('api: { port: 0', `api: { port: ${api}`).replace(
        'ports: [0]',
        `ports: [${smtp[0]}]`,
      ),
    );
    const { code, stderr } = await other.run('serve');
    other.remove();
    expect(code).toBe(1);
    expect(stderr).toContain(`api.port: cannot listen on 127.0.0.1 port ${api}: another program uses it`);
  });

  test('it stops when told to, and what was accepted is there afterwards', async () => {
    const idle = new Agent({ keepAlive: true });
    const id = await submit(client, 'the last', idle);
    expect(await server.end('SIGTERM')).toBe(0);
    idle.destroy();
    server = await installation.start();
    client = new Client(server, client.key);
    expect((await client.end(id)).status).toBe('delivered');
  });
});

/** Hands in a message by a connection of its own. */
async function submit({ messages, key }: Client, subject: string, agent = new Agent()): Promise<string> {
  const body = JSON.stringify({ from: 'a@example.com', to: ['b@example.com'], subject, text: 'x' });
  const { status, text } = await over(agent, messages, key, body);
  expect([status, text]).toEqual([202, expect.stringContaining('msg_')]);
  return String((JSON.parse(text) as { id: string }).id);
}

/** Of the reads that a key may make a minute, how many are left, as one of the threads says. */
async function remaining(server: RunningServer, key: string): Promise<number> {
  const { headers } = await over(new Agent(), `${server.api}/api/v1/messages`, key, null);
  return Number(/;r=(\d+)/.exec(String(headers['ratelimit']))?.[1]);
}

interface Answered {
  readonly status: number | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
}

async function over(agent: Agent, url: string, key: string, body: string | null): Promise<Answered> {
  const method = body === null ? 'GET' : 'POST';
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const sent = request(url, { agent, method, headers });
  sent.end(body ?? undefined);
  const [response] = await once(sent, 'response');
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece);
  return { status: response.statusCode, headers: response.headers, text: Buffer.concat(pieces).toString() };
}

async function firstLine(socket: Socket): Promise<string> {
  const [bytes] = await once(socket, 'data');
  return String(bytes).split('\r\n')[0] ?? '';
}

/** Of some connections, one after the other, how many may not send without a key. */
async function refusals(server: RunningServer): Promise<number> {
  let refused = 0;
  for (let i = 0; i < THREADS * 3; i++) {
    const replies = await dialogue(server.runtime.smtp[0] ?? 0, [
      'EHLO me.example',
      'MAIL FROM:<a@example.com>',
    ]);
    if (replies.at(-1)?.startsWith('530 ')) refused++;
  }
  return refused;
}

/** Sends a message over SMTP; its id. */
async function smtpSend(port: number): Promise<string> {
  const replies = await dialogue(port, [
    'EHLO me.example',
    'MAIL FROM:<a@example.com>',
    'RCPT TO:<b@example.com>',
    'DATA',
    'Subject: over SMTP\r\n\r\nx\r\n.',
  ]);
  return /queued as (msg_\w+)/.exec(replies.at(-1) ?? '')?.[1] ?? replies.join('\n');
}

/** Says these things one at a time; the last line of each reply. */
async function dialogue(port: number, says: readonly string[]): Promise<string[]> {
  const socket = connect(port, '127.0.0.1');
  const replies: string[] = [];
  let text = '';
  const reply = async () => {
    for (;;) {
      const found = /^(?:\d{3}-.*\r\n)*(\d{3} .*)\r\n/.exec(text);
      if (found !== null) {
        text = text.slice(found[0].length);
        return found[1] ?? '';
      }
      const [bytes] = await once(socket, 'data');
      text += String(bytes);
    }
  };
  await reply();
  for (const said of says) {
    socket.write(`${said}\r\n`);
    replies.push(await reply());
  }
  socket.end('QUIT\r\n');
  return replies;
}
