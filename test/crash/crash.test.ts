import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../src/lib/random.ts';
import { Installation, type RunningServer } from '../peers/server.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import type { SinkEvent, SinkScript } from '../peers/smtp-sink-script.ts';
import { before, tell, times } from '../support/proof.ts';
import { Book, holdCopies, messagesIn, readStore, untilAllIsFinal } from './book.ts';
import { type Customer, LETTER } from './customer.ts';
import { HttpCustomer } from './http-customer.ts';
import { SmtpCustomer } from './smtp-customer.ts';

const CYCLES = times('crashes', 40);
/** Customers of each way in. */
const WRITERS = 4;
/** A process is killed at a random event (an answer, or a message at the sink) up to this one. */
const MAX_EVENTS = 120;

/** Every next hop refuses this recipient. */
const NOBODY = 'nobody@example.net';

/** Subject and id of what was acknowledged: by the way in, and what is also to somebody whom every hop refuses. */
type Acknowledged = Readonly<Record<'HTTP' | 'SMTP' | 'refused', readonly [string, string][]>>;

let flaky: SmtpSink;
let steady: SmtpSink;
let installation: Installation;
let onEvent = () => {};
/** An event is an answer, or a recipient of a message at a sink. */
const book = new Book(() => onEvent());

beforeAll(async () => {
  flaky = await startSmtpSink({ script: flakyScript() });
  steady = await startSmtpSink({ script: { RCPT: refuseNobody } });
  void book.follow('flaky', flaky);
  void book.follow('steady', steady);
  installation = new Installation(`
api: { port: 0, rate_limit_per_key: 0, bind: ["127.0.0.1"] }
webui: { port: null }
listener: { ports: [0], bind: ["127.0.0.1"], allow_insecure_auth: true }
delivery: { default_relay: steady, retry_first_seconds: 1, retry_max_seconds: 1, reports_per_hour: 10000 }
relays:
  - { name: flaky, type: smtp, host: 127.0.0.1, port: ${flaky.port}, tls: none, max_concurrency: 8 }
  - { name: steady, type: smtp, host: 127.0.0.1, port: ${steady.port}, tls: none, max_concurrency: 8 }
routes: [{ match: {}, via: [flaky, steady] }]
`);
});

afterAll(async () => {
  await Promise.all([flaky.close(), steady.close()]);
  installation.remove();
});

function refuseNobody({ argument }: SinkEvent): string | undefined {
  return argument.includes(`<${NOBODY}>`) ? '550 5.1.1 Nobody has this name' : undefined;
}

/** Does each of these now and then: greets with 421, puts a recipient off, or a message, drops after the dot. */
function flakyScript(): SinkScript {
  const times = { CONNECT: 0, RCPT: 0, DOT: 0 };
  return {
    CONNECT: () => (++times.CONNECT % 7 === 0 ? { reply: '421 4.3.2 Not now', close: 'end' } : undefined),
    RCPT: (event) => refuseNobody(event) ?? (++times.RCPT % 19 === 0 ? '451 4.7.1 Not now' : undefined),
    DOT: () => {
      times.DOT++;
      if (times.DOT % 13 === 0) return { close: 'reset' };
      return times.DOT % 17 === 0 ? '451 4.3.0 Not now' : undefined;
    },
  };
}

test(`nothing acknowledged is lost over ${CYCLES} kills, no second copy goes unflagged, and who is refused is reported`, {
  timeout: 60_000 + CYCLES * 6_000,
}, async (context) => {
  const dice = seededRandom(CYCLES + before());
  // Bound to a domain, so that its senders are told of failures.
  const scopes = ['send', 'read', 'read_all'].flatMap((name) => ['--scope', `messages:${name}`]);
  const create = ['keys', 'create', 'crash', '--quiet', '--sender-domain', 'example.com', ...scopes];
  const key = (await installation.run(...create)).stdout.trim();
  const overHttp = Array.from({ length: WRITERS }, () => new HttpCustomer(key));
  const overSmtp = Array.from({ length: WRITERS / 2 }, () => new SmtpCustomer(key, context));
  const alsoTo = [NOBODY];
  const refused = Array.from({ length: WRITERS / 2 }, () => new SmtpCustomer(key, context, { alsoTo }));
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
      ...[...overSmtp, ...refused].map((customer) => write(server, customer)),
    ];
    await Promise.all([killed, ...writers]);
  }
  onEvent = () => {};
  const server = await installation.start();
  await untilAllIsFinal(server, key);
  expect(await server.end('SIGTERM')).toBe(0);
  await holdAgainstTheStore({
    HTTP: acknowledgedTo(overHttp),
    SMTP: acknowledgedTo(overSmtp),
    refused: acknowledgedTo(refused),
  });
});

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

/** What was acknowledged must arrive or be reported; whatever came twice must be flagged, acknowledged or not. */
async function holdAgainstTheStore(acknowledged: Acknowledged): Promise<void> {
  const stored = await readStore(installation.dataDir, messagesIn);
  for (const [way, messages] of Object.entries(acknowledged)) {
    expect(messages.length, way).toBeGreaterThan(CYCLES / 2);
    for (const [subject, id] of messages) {
      expect(stored.get(id)?.header.subject, `${id} was acknowledged over ${way}`).toBe(subject);
      expect(stored.get(id)?.status, id).toBe(way === 'refused' ? 'failed' : 'delivered');
      for (const address of LETTER.to)
        expect(book.has(subject, address), `${id} to ${address} arrived`).toBe(true);
      const reports = new Set(book.reports.get(`${subject} ${NOBODY}`));
      expect(reports.size, `reports on ${id}`).toBe(way === 'refused' ? 1 : 0);
    }
  }
  const twice = holdCopies(book, stored);
  const flagged = [...stored.values()].filter(({ possibleDuplicate }) => possibleDuplicate).length;
  const { HTTP, SMTP, refused } = acknowledged;
  tell('kills of a process over SQLite', {
    kills: CYCLES,
    'acknowledged over HTTP': HTTP.length,
    'acknowledged over SMTP': SMTP.length + refused.length,
    lost: 0,
    'recipients reached': book.letters.size,
    'refused and reported': book.reports.size,
    'recipients reached twice': twice,
    'messages flagged': flagged,
  });
}
