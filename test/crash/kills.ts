/**
 * The real process is killed at random, again and again, while customers hand in mail over HTTP and SMTP and it delivers: what
 * was acknowledged is never lost, and no second copy goes unflagged. The same over each store.
 */
import { expect, type TestContext } from 'vitest';
import type { MessageRecord } from '../../src/domain/message.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { createKey, installed } from '../e2e/service.ts';
import type { Installation, RunningServer } from '../peers/server.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import type { SinkScript } from '../peers/smtp-sink-script.ts';
import { before, tell } from '../support/proof.ts';
import { Book, countFlagged, holdAcknowledged, holdCopies, untilAllIsFinal } from './book.ts';
import type { Customer } from './customer.ts';
import { HttpCustomer } from './http-customer.ts';
import { NOBODY, refuseNobody } from './nobody.ts';
import { SmtpCustomer } from './smtp-customer.ts';

/** Customers of each way in. */
const WRITERS = 4;
/** A process is killed at a random event (an answer, or a message at the sink) up to this one. */
const MAX_EVENTS = 120;

/** Where facts and contents lie. */
export interface Ground {
  /** Its name, in a reader's words. */
  readonly store: string;
  /** Further settings, as lines of YAML. */
  readonly settings: string;
  /** Every message that is stored, by its id, while no server runs. */
  messages(installation: Installation): Promise<Map<string, MessageRecord>>;
}

/** What one run over one store works with. */
interface Run {
  readonly cycles: number;
  readonly installation: Installation;
  readonly configuration: (encrypting: boolean) => string;
  readonly book: Book;
  readonly key: string;
  readonly customers: Customers;
  /** Is told of every event. */
  onEvent: () => void;
}

interface Customers {
  readonly overHttp: readonly HttpCustomer[];
  readonly overSmtp: readonly SmtpCustomer[];
  /** What they hand in is also to somebody whom every hop refuses. */
  readonly refused: readonly SmtpCustomer[];
}

/** Starts and kills the process so many times over a store; then holds what was acknowledged against it, and tells the sums. */
export async function surviveKills(context: TestContext, ground: Ground, cycles: number): Promise<void> {
  const run = await prepare(context, ground, cycles);
  const { installation, key } = run;
  const dice = seededRandom(cycles + before());
  for (let cycle = 0; cycle < cycles; cycle++) {
    // Contents are encrypted in every other life, from the first on: each reads what the others left.
    installation.configure(run.configuration(cycle % 2 === 0));
    await killOnce(run, 1 + Math.floor(dice.next() * MAX_EVENTS));
  }
  run.onEvent = () => {};
  const server = await installation.start();
  await untilAllIsFinal(server, key);
  expect(await server.end('SIGTERM')).toBe(0);
  hold(run, ground.store, await ground.messages(installation));
}

async function prepare(context: TestContext, ground: Ground, cycles: number): Promise<Run> {
  const flaky = await startSmtpSink({ script: flakyScript() });
  const steady = await startSmtpSink({ script: { RCPT: refuseNobody } });
  context.onTestFinished(async () => {
    await Promise.all([flaky.close(), steady.close()]);
  });
  const configuration = (encrypting: boolean) => configurationFor(ground, flaky, steady, encrypting);
  const installation = installed(context, configuration(true));
  // Bound to a domain, so that its senders are told of failures.
  const scopes = ['send', 'read', 'read_all'].flatMap((name) => ['--scope', `messages:${name}`]);
  const key = await createKey(installation, 'crash', '--sender-domain', 'example.com', ...scopes);
  const book = new Book(() => run.onEvent());
  void book.follow('flaky', flaky);
  void book.follow('steady', steady);
  const customers = {
    overHttp: Array.from({ length: WRITERS }, () => new HttpCustomer(key)),
    overSmtp: Array.from({ length: WRITERS / 2 }, () => new SmtpCustomer(key, context)),
    refused: Array.from({ length: WRITERS / 2 }, () => new SmtpCustomer(key, context, { alsoTo: [NOBODY] })),
  };
  const run: Run = { cycles, installation, configuration, book, key, customers, onEvent: () => {} };
  return run;
}

function configurationFor(
  { settings }: Ground,
  flaky: SmtpSink,
  steady: SmtpSink,
  encrypting: boolean,
): string {
  return `
secrets: { encrypt_contents: ${encrypting} }
api: { port: 0, rate_limit_per_key: 0, bind: ["127.0.0.1"] }
webui: { port: null }
listener: { ports: [0], bind: ["127.0.0.1"], allow_insecure_auth: true }
delivery: { default_relay: steady, retry_first_seconds: 1, retry_max_seconds: 1, reports_per_hour: 10000 }
relays:
  - { name: flaky, type: smtp, host: 127.0.0.1, port: ${flaky.port}, tls: none, max_concurrency: 8 }
  - { name: steady, type: smtp, host: 127.0.0.1, port: ${steady.port}, tls: none, max_concurrency: 8 }
routes: [{ match: {}, via: [flaky, steady] }]
${settings}`;
}

/** One life of the process: all hand in mail until it is killed, at this event. */
async function killOnce(run: Run, killAt: number): Promise<void> {
  const server = await run.installation.start();
  const killed = new Promise<void>((resolve) => {
    let events = 0;
    run.onEvent = () => {
      if (++events === killAt) resolve(server.end('SIGKILL').then(() => {}));
    };
  });
  const { overHttp, overSmtp, refused } = run.customers;
  await Promise.all([
    killed,
    ...overHttp.map((customer) => write(run, server, customer)),
    ...[...overSmtp, ...refused].map((customer) => write(run, server, customer)),
  ]);
}

/** Sends one message after the other until the server is gone. */
async function write<Answer>(run: Run, server: RunningServer, customer: Customer<Answer>): Promise<void> {
  for (;;) {
    const answer = await customer.send(server).catch(() => null);
    // The server was killed: that is what we are here for.
    if (answer === null) return;
    expect(customer.idIn(answer), JSON.stringify(answer)).not.toBeNull();
    run.onEvent();
  }
}

/** What was acknowledged must arrive or be reported; whatever came twice must be flagged, acknowledged or not. */
function hold({ book, customers, cycles }: Run, store: string, stored: Map<string, MessageRecord>): void {
  const HTTP = acknowledgedTo(customers.overHttp);
  const SMTP = acknowledgedTo(customers.overSmtp);
  const refused = acknowledgedTo(customers.refused);
  for (const [way, messages] of Object.entries({ HTTP, SMTP, refused })) {
    expect(messages.length, way).toBeGreaterThan(cycles / 2);
    holdAcknowledged(book, stored, messages, way === 'refused' ? 'failed' : 'delivered');
    for (const [subject, id] of messages) {
      const reports = new Set(book.reports.get(`${subject} ${NOBODY}`));
      expect(reports.size, `reports on ${id}`).toBe(way === 'refused' ? 1 : 0);
    }
  }
  const twice = holdCopies(book, stored);
  tell(`kills of a process over ${store}`, {
    kills: cycles,
    'acknowledged over HTTP': HTTP.length,
    'acknowledged over SMTP': SMTP.length + refused.length,
    lost: 0,
    'recipients reached': book.letters.size,
    'refused and reported': book.reports.size,
    'recipients reached twice': twice,
    'messages flagged': countFlagged(stored),
  });
}

/** Subject and id of all that was acknowledged to any of them. */
function acknowledgedTo(customers: readonly Pick<Customer<never>, 'acknowledged'>[]): [string, string][] {
  return customers.flatMap(({ acknowledged }) => [...acknowledged]);
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
