/** The real process at work from its first start on, with every byte that it gives to the disk written down. */
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext } from 'vitest';
import { Installation, type RunningServer } from '../../peers/server.ts';
import { type SmtpSink, startSmtpSink } from '../../peers/smtp-sink.ts';
import type { SinkScript } from '../../peers/smtp-sink-script.ts';
import { untilFound } from '../../peers/watch.ts';
import { untilAllIsFinal } from '../book.ts';
import { type Customer, subjectOf } from '../customer.ts';
import { HttpCustomer } from '../http-customer.ts';
import { NOBODY, refuseNobody } from '../nobody.ts';
import { SmtpCustomer } from '../smtp-customer.ts';
import { historyOf, type Step, TRACED_CALLS } from './history.ts';
import { settleKilled } from './killed.ts';
import { hasEnded, readTrace, traceCommand } from './trace.ts';

/** What was recorded. */
export interface Recording {
  readonly steps: readonly Step[];
  /** What was acknowledged, by id. */
  readonly letters: ReadonlyMap<string, Letter>;
  /** How often next hops heard the end of a message. */
  readonly heard: number;
  /** Sees all messages. */
  readonly key: string;
  /** What lies in the data directory in the end. */
  readonly files: ReadonlyMap<string, Buffer>;
}

/** A message, as its customer knows it. */
export interface Letter {
  readonly subject: string;
  /** The contents as next hops saw them, each time. */
  readonly copies: readonly Buffer[];
  /** No next hop refused any of these. */
  readonly alwaysTaken: boolean;
  /** It is also to somebody whom every next hop refuses. */
  readonly refused: boolean;
  /** Its contents may go as soon as it has ended. */
  readonly brief: boolean;
}

/** Letters that each customer sends in a round. */
const LETTERS = 3;
/** Rounds after which what nobody refers to must have gone. */
const MAX_ROUNDS = 8;
/** More than a page, a block and what is sent before an attempt is marked as begun. */
const ATTACHMENT = {
  attachments: [{ filename: 'large.bin', content: Buffer.alloc(70_000, 'large').toString('base64') }],
};
/** Contents that go to segments of their own, beside those of all others. One letter a round has it. */
const LARGE = {
  attachments: [{ filename: 'own-segment.bin', content: Buffer.alloc(800_000, 'own').toString('base64') }],
};
/** Not written by the process, or worth nothing without it. */
const PASSING = /^waybill\.yaml$|-shm$/;

/**
 * Records a service that comes to be, takes mail by every way, is killed, recovers, delivers, forgets and makes room, over
 * several starts.
 */
export async function record(context: TestContext): Promise<Recording> {
  const [flaky, steady] = await Promise.all([
    startSmtpSink({ script: flakyScript() }),
    startSmtpSink({ script: { RCPT: refuseNobody } }),
  ]);
  const installation = new Installation(configurationFor(flaky.port, steady.port));
  const logs = mkdtempSync(join(tmpdir(), 'waybill-trace-'));
  context.onTestFinished(async () => {
    await Promise.all([flaky.close(), steady.close()]);
    installation.remove();
    rmSync(logs, { recursive: true });
  });
  const firstSegment = join(installation.dataDir, 'spool', '00000001.seg');
  const steps: Step[] = [];
  let customers: Customers | null = null;
  for (let round = 1; round === 1 || existsSync(firstSegment); round++) {
    // Contents are encrypted in every other round, from the first on.
    installation.configure(configurationFor(flaky.port, steady.port, round % 2 === 1));
    if (round > MAX_ROUNDS) throw new Error('what nobody refers to does not go');
    const log = join(logs, String(round));
    const server = await installation.start(traceCommand(TRACED_CALLS, log));
    customers ??= await introduce(installation, context);
    const { all, large } = customers;
    await Promise.all(all.map((one) => sendLetters(server, one, one === large ? 1 : LETTERS)));
    if (round === 1) await server.end('SIGKILL');
    else await endInPeace(server, customers);
    const { pid } = server.runtime;
    await untilFound(logs, () => (hasEnded(log, pid) ? true : null));
    steps.push(...historyOf(readTrace(log), installation.dataDir));
    if (round === 1) steps.push(...settleKilled(steps, filesIn(installation.dataDir)));
  }
  if (customers === null) throw new Error('nothing was sent');
  return {
    steps,
    letters: lettersOf(customers, [flaky, steady]),
    heard: flaky.messages.length + steady.messages.length,
    key: customers.key,
    files: filesIn(installation.dataDir),
  };
}

/** Waits until all has ended, is told so, and stops. */
async function endInPeace(server: RunningServer, { key, all }: Customers): Promise<void> {
  await untilAllIsFinal(server, key);
  await Promise.all(all.map((customer) => askForLast(server, customer, key)));
  expect(await server.end('SIGTERM')).toBe(0);
}

interface Customers {
  readonly key: string;
  readonly brief: readonly Customer<unknown>[];
  readonly refused: Customer<unknown>;
  readonly large: Customer<unknown>;
  readonly all: readonly Customer<unknown>[];
}

/** Makes keys, and those who use them. */
async function introduce(installation: Installation, context: TestContext): Promise<Customers> {
  const scopes = ['send', 'read', 'read_all'].flatMap((name) => ['--scope', `messages:${name}`]);
  const create = ['keys', 'create', 'shop', '--quiet', '--sender-domain', 'example.com', ...scopes];
  const key = (await installation.run(...create)).stdout.trim();
  const other = await installation.run('keys', 'create', 'brief', '--quiet', '--content-days', '0');
  const briefKey = other.stdout.trim();
  const large = new HttpCustomer(briefKey, LARGE);
  const brief = [
    new HttpCustomer(briefKey, ATTACHMENT),
    large,
    new HttpCustomer(briefKey),
    new HttpCustomer(briefKey),
    new SmtpCustomer(briefKey, context),
  ];
  const refused = new SmtpCustomer(key, context, { alsoTo: [NOBODY] });
  return {
    key,
    brief,
    refused,
    large,
    all: [...brief, new HttpCustomer(key), new SmtpCustomer(key, context), refused],
  };
}

async function sendLetters(
  server: RunningServer,
  customer: Customer<unknown>,
  letters: number,
): Promise<void> {
  for (let count = 0; count < letters; count++)
    expect(customer.idIn(await customer.send(server))).not.toBeNull();
}

/** Asks what became of a customer's last letter: the answer is a promise too. */
async function askForLast(server: RunningServer, customer: Customer<unknown>, key: string): Promise<void> {
  const id = [...customer.acknowledged.values()].at(-1);
  const answer = await fetch(`${server.api}/api/v1/messages/${id}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(((await answer.json()) as { status: string }).status).toMatch(/^(?:delivered|failed)$/);
}

function lettersOf({ all, brief, refused }: Customers, sinks: readonly SmtpSink[]): Map<string, Letter> {
  const seen = Map.groupBy(
    sinks.flatMap(({ messages }) => messages),
    ({ content }) => subjectOf(content),
  );
  const letters = new Map<string, Letter>();
  for (const customer of all)
    for (const [subject, id] of customer.acknowledged) {
      const copies = seen.get(subject) ?? [];
      letters.set(id, {
        subject,
        copies: copies.map(({ content }) => content),
        alwaysTaken: copies.every(({ taken }) => taken),
        brief: brief.includes(customer),
        refused: customer === refused,
      });
    }
  return letters;
}

/** What is in a folder and lasts, by names relative to it. */
function filesIn(folder: string): Map<string, Buffer> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !PASSING.test(name) && lstatSync(join(folder, name)).isFile(),
  );
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
}

/** What it is configured by, with its next hops at these ports. */
export function configurationFor(flaky: number, steady: number, encrypting = false): string {
  return `
secrets: { encrypt_contents: ${encrypting} }
api: { port: 0, rate_limit_per_key: 0, bind: ["127.0.0.1"] }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [0], bind: ["127.0.0.1"], allow_insecure_auth: true }
retention: { compact_below_percent: 60 }
delivery: { default_relay: steady, retry_first_seconds: 1, retry_max_seconds: 1, reports_per_hour: 10000 }
relays:
  - { name: flaky, type: smtp, host: 127.0.0.1, port: ${flaky}, tls: none, max_concurrency: 8 }
  - { name: steady, type: smtp, host: 127.0.0.1, port: ${steady}, tls: none, max_concurrency: 8 }
routes: [{ match: {}, via: [flaky, steady] }]
`;
}

/** Puts a message off now and then, or takes it and goes away without a word. */
function flakyScript(): SinkScript {
  let dots = 0;
  return {
    RCPT: refuseNobody,
    DOT: () => {
      dots++;
      if (dots % 7 === 0) return { close: 'reset' };
      return dots % 5 === 0 ? '451 4.3.0 Not now' : undefined;
    },
  };
}
