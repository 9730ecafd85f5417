import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MessageRecord } from '../../src/domain/message.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import type { ListPage, Views } from '../../src/store/views.ts';
import { Installation, type RunningServer } from '../peers/server.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { type Customer, LETTER, subjectOf } from './customer.ts';
import { HttpCustomer } from './http-customer.ts';
import { SmtpCustomer } from './smtp-customer.ts';

const CYCLES = Number(process.env['WAYBILL_CRASH_CYCLES'] ?? 100);
/** Customers of each way in. */
const WRITERS = 4;
/** A process is killed at a random event (an answer, or a message at the sink) up to this one. */
const MAX_EVENTS = 120;

let sink: SmtpSink;
let installation: Installation;
/** Subject and recipient → how often the sink took it. */
const taken = new Map<string, number>();
let onEvent = () => {};
let over = false;

beforeAll(async () => {
  sink = await startSmtpSink();
  void follow();
  installation = new Installation(`
api: { port: 0, rate_limit_per_key: 0, bind: ["127.0.0.1"] }
webui: { port: null }
listener: { ports: [0], bind: ["127.0.0.1"], allow_insecure_auth: true }
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
}, async (context) => {
  const dice = seededRandom(CYCLES);
  const key = (await installation.run('keys', 'create', 'crash', '--quiet')).stdout.trim();
  const overHttp = Array.from({ length: WRITERS }, () => new HttpCustomer(key));
  const overSmtp = Array.from({ length: WRITERS }, () => new SmtpCustomer(key, context));
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const server = await installation.start();
    const killAt = 1 + Math.floor(dice.next() * MAX_EVENTS);
    const killed = new Promise<void>((resolve) => {
      let events = 0;
      onEvent = () => {
        if (++events === killAt) resolve(server.end('SIGKILL').then(() => {}));
      };
    });
    const writers = [
      ...overHttp.map((customer) => write(server, customer)),
      ...overSmtp.map((customer) => write(server, customer)),
    ];
    await Promise.all([killed, ...writers]);
  }
  onEvent = () => {};
  const server = await installation.start();
  await untilAllIsFinal(server, key);
  expect(await server.end('SIGTERM')).toBe(0);
  await holdAgainstTheStore({ HTTP: acknowledgedTo(overHttp), SMTP: acknowledgedTo(overSmtp) });
});

/** Enters every message into the book as the sink takes it. */
async function follow(): Promise<void> {
  for (let seen = 0; !over; ) {
    await sink.until(() => sink.messages.length > seen);
    for (const { content, to } of sink.messages.slice(seen)) {
      const subject = subjectOf(content);
      for (const recipient of to)
        taken.set(`${subject} ${recipient}`, (taken.get(`${subject} ${recipient}`) ?? 0) + 1);
      seen++;
      onEvent();
    }
  }
}

/** Sends one message after the other until the server is gone. */
async function write<Answer>(server: RunningServer, customer: Customer<Answer>): Promise<void> {
  for (;;) {
    const answer = await customer.send(server).catch(() => null);
    // The server was killed: that is what we are here for.
    if (answer === null) return;
    expect(customer.idIn(answer), JSON.stringify(answer)).not.toBeNull();
    onEvent();
  }
}

/** Subject and id of all that was acknowledged to any of them. */
function acknowledgedTo(customers: readonly Pick<Customer<never>, 'acknowledged'>[]): [string, string][] {
  return customers.flatMap(({ acknowledged }) => [...acknowledged]);
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
async function holdAgainstTheStore(acknowledged: Record<'HTTP' | 'SMTP', [string, string][]>): Promise<void> {
  const { store, views } = openSqlite(join(installation.dataDir, 'waybill.db'));
  const stored = await messagesBySubject(views);
  for (const [way, messages] of Object.entries(acknowledged)) {
    expect(messages.length, way).toBeGreaterThan(CYCLES);
    for (const [subject, id] of messages) {
      const message = stored.get(subject);
      expect(message?.id, `${subject} was acknowledged over ${way}`).toBe(id);
      expect(message?.status, id).toBe('delivered');
      for (const address of LETTER.to)
        expect(taken.get(`${subject} ${address}`), `${subject} to ${address}`).toBeGreaterThan(0);
    }
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
  const { HTTP, SMTP } = acknowledged;
  process.stdout.write(
    `crash: ${CYCLES} kills, ${HTTP.length} acknowledged over HTTP and ${SMTP.length} over SMTP, 0 lost, ` +
      `${copies.length} recipients reached, ${twice} twice, ${flagged} messages flagged\n`,
  );
}

/** Every message in the store, by its subject, which is unique. */
async function messagesBySubject(views: Views): Promise<Map<string, MessageRecord>> {
  const found = new Map<string, MessageRecord>();
  let before: string | null = null;
  do {
    const page: ListPage = await views.list({ owner: 'all', statuses: [], before, limit: 200 });
    for (const message of page.messages) found.set(message.header.subject, message);
    before = page.next;
  } while (before !== null);
  return found;
}
