import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MessageRecord } from '../../src/domain/message.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import type { ListPage, Views } from '../../src/store/views.ts';
import { Installation, type RunningServer } from '../peers/server.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';

const CYCLES = Number(process.env['WAYBILL_CRASH_CYCLES'] ?? 100);
const WRITERS = 6;
/** A process is killed at a random event (an answer, or a message at the sink) up to this one. */
const MAX_EVENTS = 120;

let sink: SmtpSink;
let installation: Installation;
/** Id → token of everything that was answered with 202. */
const acknowledged = new Map<string, string>();
/** Token and recipient → how often the sink took it. */
const taken = new Map<string, number>();
let onEvent = () => {};
let over = false;

beforeAll(async () => {
  sink = await startSmtpSink();
  void follow();
  installation = new Installation(`
api: { port: 0, rate_limit_per_key: 0, bind: ["127.0.0.1"] }
webui: { port: null }
listener: { ports: [] }
delivery: { default_relay: sink, retry_first_seconds: 1, retry_max_seconds: 1 }
relays: [{ name: sink, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none, max_concurrency: 8 }]
`);
});

afterAll(async () => {
  over = true;
  await sink.close();
  installation.remove();
});

test(`nothing acknowledged is lost over ${CYCLES} kills, and no second copy goes unflagged`, {
  timeout: 60_000 + CYCLES * 6_000,
}, async () => {
  const dice = seededRandom(CYCLES);
  const key = (await installation.run('keys', 'create', 'crash', '--quiet')).stdout.trim();
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const server = await installation.start();
    const killAt = 1 + Math.floor(dice.next() * MAX_EVENTS);
    const killed = new Promise<void>((resolve) => {
      let events = 0;
      onEvent = () => {
        if (++events === killAt) resolve(server.end('SIGKILL').then(() => {}));
      };
    });
    await Promise.all([
      killed,
      ...Array.from({ length: WRITERS }, (_, w) => write(server, key, `c${cycle}w${w}`)),
    ]);
  }
  onEvent = () => {};
  const server = await installation.start();
  await untilAllIsFinal(server, key);
  expect(await server.end('SIGTERM')).toBe(0);
  await holdAgainstTheStore();
});

/** Enters every message into the book as the sink takes it. */
async function follow(): Promise<void> {
  for (let seen = 0; !over; ) {
    await sink.until(() => sink.messages.length > seen);
    for (const { content, to } of sink.messages.slice(seen)) {
      const token = /^Subject: (.*)\r$/m.exec(content.toString('latin1'))?.[1] ?? 'no token';
      for (const recipient of to)
        taken.set(`${token} ${recipient}`, (taken.get(`${token} ${recipient}`) ?? 0) + 1);
      seen++;
      onEvent();
    }
  }
}

/** Posts one message after the other until the server is gone. */
async function write(server: RunningServer, key: string, name: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    for (let i = 0; ; i++) {
      const token = `${name}n${i}`;
      const id = await post(server, key, agent, token);
      acknowledged.set(id, token);
      onEvent();
    }
  } catch {
    // The server was killed: that is what we are here for.
  } finally {
    agent.destroy();
  }
}

function post(server: RunningServer, key: string, agent: Agent, token: string): Promise<string> {
  const body = JSON.stringify({
    from: 'crash@example.com',
    to: ['a@example.net', 'b@example.net'],
    subject: token,
    text: 'x'.repeat(2000),
  });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const call = request(`${server.api}/api/v1/messages`, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 202) resolve((JSON.parse(text) as { id: string }).id);
        else reject(new Error(`${response.statusCode} ${text}`));
      });
    });
    call.on('error', reject);
    call.end(body);
  });
}

/** Waits for one message after the other that is not final, until there is none. */
async function untilAllIsFinal(server: RunningServer, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const messages = `${server.api}/api/v1/messages`;
  const open = `${messages}?limit=1&status=queued&status=processing&status=retrying`;
  for (;;) {
    const list = await fetch(open, { headers });
    expect(list.status).toBe(200);
    const [message] = ((await list.json()) as { messages: { id: string }[] }).messages;
    if (message === undefined) return;
    await (await fetch(`${messages}/${message.id}?wait=60`, { headers })).text();
  }
}

/** What was acknowledged must be delivered; whatever came twice must be flagged, acknowledged or not. */
async function holdAgainstTheStore(): Promise<void> {
  const { store, views } = openSqlite(join(installation.dataDir, 'waybill.db'));
  const stored = await messagesByToken(views);
  for (const [id, token] of acknowledged) {
    const message = stored.get(token);
    expect(message?.id, `${token} was acknowledged`).toBe(id);
    expect(message?.status, id).toBe('delivered');
    for (const address of message?.to ?? [])
      expect(taken.get(`${token} ${address}`), `${token} to ${address}`).toBeGreaterThan(0);
  }
  for (const [name, copies] of taken) {
    const message = stored.get(name.slice(0, name.indexOf(' ')));
    expect(message, `${name} was sent`).toBeDefined();
    if (copies > 1) expect(message?.possibleDuplicate, `${name} was taken ${copies} times`).toBe(true);
  }
  const flagged = [...stored.values()].filter(({ possibleDuplicate }) => possibleDuplicate).length;
  await store.close();
  const copies = [...taken.values()];
  const twice = copies.filter((times) => times > 1).length;
  process.stdout.write(
    `crash: ${CYCLES} kills, ${acknowledged.size} acknowledged, 0 lost, ${copies.length} recipients reached, ` +
      `${twice} twice, ${flagged} messages flagged\n`,
  );
}

/** Every message in the store, by the token that is its subject. */
async function messagesByToken(views: Views): Promise<Map<string, MessageRecord>> {
  const found = new Map<string, MessageRecord>();
  let before: string | null = null;
  do {
    const page: ListPage = await views.list({ owner: 'all', statuses: [], before, limit: 200 });
    for (const message of page.messages) found.set(message.header.subject, message);
    before = page.next;
  } while (before !== null);
  return found;
}
