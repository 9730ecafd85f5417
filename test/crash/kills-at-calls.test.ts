/**
 * The real process dies as it comes to a call that writes or flushes: to the first, the second, and so on, up to the last that
 * it takes to accept a message, deliver it and settle it. Nothing acknowledged is lost, and no second copy goes unflagged.
 */
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { createKey, installed } from '../e2e/service.ts';
import { describeWith } from '../peers/need.ts';
import type { Installation, RunningServer } from '../peers/server.ts';
import { startSmtpSink } from '../peers/smtp-sink.ts';
import { before, tell, times } from '../support/proof.ts';
import {
  Book,
  countFlagged,
  holdAcknowledged,
  holdCopies,
  messagesIn,
  readStore,
  untilAllIsFinal,
} from './book.ts';
import type { Customer } from './customer.ts';
import { type HttpAnswer, HttpCustomer } from './http-customer.ts';
import { WAYS, type Way } from './machine.ts';
import { SmtpCustomer } from './smtp-customer.ts';
import { deathAt, strike } from './under-fault.ts';

/** How often the whole path is gone through. */
const ROUNDS = times('call_rounds', 1);
/** Of the calls of which there are many, every so-manieth; where the first is differs from round to round. */
const STRIDE = times('call_stride', 18);

/** What a thread does on that path, each on one file, or on whichever. */
interface Calls {
  readonly call: string;
  /** In the data directory. */
  readonly file: string | null;
  /** So many there are at the least; more are found by going on until the process survives. */
  readonly least: number;
  /** So many are tried, and no more: what is done meanwhile goes on beside the path. */
  readonly most?: number;
}

/** The spool's come first: its thread is one of its own, and there is only one. */
const PATH: readonly Calls[] = [
  { call: 'pwritev', file: null, least: 1 },
  { call: 'fdatasync', file: null, least: 1 },
  { call: 'fsync', file: null, least: 2 },
  { call: 'fsync', file: 'waybill.db-wal', least: 2 },
  { call: 'pwrite64', file: 'waybill.db-wal', least: 20 },
  // By the checkpoint that follows: it has many pages to copy.
  { call: 'pwrite64', file: 'waybill.db', least: 5, most: 5 },
  { call: 'fsync', file: 'waybill.db', least: 1, most: 1 },
];

describeWith(['strace'], 'the process dies at a call', () => {
  test.concurrent.for(WAYS)(
    'of those that a message over %s takes, any of them: nothing is lost, no second copy goes unflagged',
    { timeout: 600_000 + (ROUNDS * 2_000_000) / STRIDE },
    async (way, context) => {
      const world = await World.start(context, way);
      for (let round = 0; round < ROUNDS; round++)
        for (const calls of turnOf(way, before() + round)) await world.dieAtEach(calls, before() + round);
      await world.hold(way);
    },
  );
});

/** Which calls have their turn: all of them, or, in the short form, the ones over one way and the others over the other. */
function turnOf(way: Way, round: number): readonly Calls[] {
  return PATH.filter((_, place) => STRIDE === 1 || (place + round) % WAYS.length === WAYS.indexOf(way));
}

class World {
  readonly #installation: Installation;
  readonly #key: string;
  readonly #customer: Customer<HttpAnswer | string>;
  readonly #book: Book;
  #kills = 0;

  private constructor(
    installation: Installation,
    key: string,
    customer: Customer<HttpAnswer | string>,
    book: Book,
  ) {
    this.#installation = installation;
    this.#key = key;
    this.#customer = customer;
    this.#book = book;
  }

  static async start(context: TestContext, way: Way): Promise<World> {
    const sink = await startSmtpSink();
    context.onTestFinished(() => sink.close());
    const installation = installed(
      context,
      `
api: { port: 0, rate_limit_per_key: 0, bind: ["127.0.0.1"] }
webui: { port: null }
listener: { ports: [0], bind: ["127.0.0.1"], allow_insecure_auth: true }
delivery: { default_relay: out, retry_first_seconds: 1, retry_max_seconds: 1 }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none }]
`,
    );
    // One thread does all that the spool wants, so that its calls are counted in their order.
    installation.environment['UV_THREADPOOL_SIZE'] = '1';
    const scopes = ['send', 'read', 'read_all'].flatMap((name) => ['--scope', `messages:${name}`]);
    const key = await createKey(installation, 'app', ...scopes);
    const book = new Book();
    void book.follow('out', sink);
    const customer: Customer<HttpAnswer | string> =
      way === 'HTTP' ? new HttpCustomer(key) : new SmtpCustomer(key, context);
    return new World(installation, key, customer, book);
  }

  /** Lets one process after the other die at such a call, each time at a later one, until one survives. */
  async dieAtEach(calls: Calls, round: number): Promise<void> {
    const { call, file, least, most } = calls;
    const stride = least > STRIDE ? STRIDE : 1;
    for (let n = 1 + (round % stride); n <= (most ?? Number.POSITIVE_INFINITY); n += stride) {
      const died = await this.#dieAt(calls, n);
      if (died) this.#kills++;
      else if (n <= least) expect.fail(`there is no call ${n} of ${call} on ${file ?? 'any file'}`);
      else return;
    }
  }

  /** Whether the process died before the message was settled; where it surely will, after that. */
  async #dieAt({ call, file, most }: Calls, n: number): Promise<boolean> {
    const server = await this.#installation.start();
    await untilAllIsFinal(server, this.#key);
    const path = file === null ? null : join(this.#installation.dataDir, file);
    await strike(server, deathAt(call, n), path);
    const settled = this.#send(server).then(() => (most === undefined ? null : server.exited));
    const survived = await Promise.race([server.exited.then(() => false), settled.then(() => true)]);
    await server.end('SIGKILL');
    return !survived;
  }

  /** Hands in a message and waits until it has arrived. Never resolves if the server does not live to tell it. */
  async #send(server: RunningServer): Promise<void> {
    const record = await this.#sendAndWait(server).catch(() => null);
    if (record === null) await server.exited.then(() => new Promise(() => {}));
    expect(record).toMatchObject({ status: 'delivered' });
  }

  async #sendAndWait(server: RunningServer): Promise<unknown> {
    const id = this.#customer.idIn(await this.#customer.send(server));
    const headers = { authorization: `Bearer ${this.#key}` };
    return (await fetch(`${server.api}/api/v1/messages/${id}?wait=60`, { headers })).json();
  }

  /** Holds all that was acknowledged against the store and what arrived. */
  async hold(way: string): Promise<void> {
    const server = await this.#installation.start();
    await untilAllIsFinal(server, this.#key);
    expect(await server.end('SIGTERM')).toBe(0);
    const stored = await readStore(this.#installation.dataDir, messagesIn);
    const { acknowledged } = this.#customer;
    holdAcknowledged(this.#book, stored, acknowledged);
    const twice = holdCopies(this.#book, stored);
    tell(`deaths at each call that a message over ${way} takes`, {
      deaths: this.#kills,
      acknowledged: acknowledged.size,
      lost: 0,
      'recipients reached twice': twice,
      'messages flagged': countFlagged(stored),
    });
  }
}
