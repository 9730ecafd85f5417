/** The real server with a group of two relays, customers who hand in mail to it, and a book of what arrives where. */

import { expect, type TestContext, vi } from 'vitest';
import type { QueueView } from '../../src/operations/queue.ts';
import { Book, messagesIn, readStore, untilAllIsFinal } from '../crash/book.ts';
import { ask, type Customer, LETTER } from '../crash/customer.ts';
import { type HttpAnswer, HttpCustomer } from '../crash/http-customer.ts';
import { SmtpCustomer } from '../crash/smtp-customer.ts';
import { freePort } from '../peers/free-port.ts';
import { Installation, type RunningServer } from '../peers/server.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { Client, createKey } from './service.ts';

/** Attempts at once, of each relay. */
export const CONCURRENCY = 8;
const CUSTOMERS_EACH_WAY = 4;
/** How long something that must happen by itself is waited for. */
const PATIENCE = { timeout: 45_000, interval: 50 };

/** Who hands in mail, over HTTP or SMTP. */
export type AnyCustomer = Customer<HttpAnswer | string>;

/** See this file's comment. */
export class TwoRelays {
  readonly first: SmtpSink;
  readonly second: SmtpSink;
  readonly installation: Installation;
  server: RunningServer;
  /** Their mail goes by the first relay, or else by the second. */
  shop: readonly AnyCustomer[] = [];
  /** Theirs goes by the first alone. */
  printers: readonly AnyCustomer[] = [];
  readonly #book = new Book();
  #key = '';

  private constructor(
    sinks: readonly [SmtpSink, SmtpSink],
    installation: Installation,
    server: RunningServer,
  ) {
    [this.first, this.second] = sinks;
    this.installation = installation;
    this.server = server;
    void this.#book.follow('first', this.first);
    void this.#book.follow('second', this.second);
  }

  /** Starts all of it; gone when the test ends. */
  static async start(context: TestContext): Promise<TwoRelays> {
    // A sink that is started again must be found at the same place.
    const first = await startSmtpSink({ port: await freePort() });
    const second = await startSmtpSink();
    const installation = new Installation(configuration(first, second));
    context.onTestFinished(async () => {
      installation.remove();
      await Promise.all([first.close(), second.close()]);
    });
    const world = new TwoRelays([first, second], installation, await installation.start());
    const scopes = ['send', 'read', 'read_all'].flatMap((name) => ['--scope', `messages:${name}`]);
    world.#key = await createKey(installation, 'shop', ...scopes);
    world.shop = customers(world.#key, context);
    world.printers = customers(await createKey(installation, 'printer'), context);
    return world;
  }

  /** Hands in so many messages, each customer one after the other. Each must be acknowledged. */
  async load(senders: readonly AnyCustomer[], count: number): Promise<void> {
    let left = count;
    const write = async (customer: AnyCustomer) => {
      while (left-- > 0) {
        const answer = await customer.send(this.server);
        expect(customer.idIn(answer), JSON.stringify(answer)).not.toBeNull();
      }
    };
    await Promise.all(senders.map(write));
  }

  /** Hands in mail, kills the server once so many are acknowledged, and starts it again. */
  async killUnderLoad(senders: readonly AnyCustomer[], count: number): Promise<void> {
    let acknowledged = 0;
    const write = async (customer: AnyCustomer) => {
      for (;;) {
        const answer = await customer.send(this.server).catch(() => null);
        if (answer === null) return;
        expect(customer.idIn(answer), JSON.stringify(answer)).not.toBeNull();
        if (++acknowledged === count) this.server.signal('SIGKILL');
      }
    };
    await Promise.all(senders.map(write));
    await this.server.exited;
    this.server = await this.installation.start();
  }

  /** Runs `waybill queue …`; what it printed as JSON. */
  async queue(...args: readonly string[]) {
    const { code, stdout, stderr } = await this.installation.run('queue', ...args, '--json');
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout);
  }

  /** Waits until a lane is as expected, as `waybill queue` tells. */
  async untilLane(name: string, expected: Partial<QueueView['lanes'][number]>): Promise<void> {
    await vi.waitFor(async () => {
      const { lanes }: QueueView = await this.queue();
      expect(lanes.find(({ lane }) => lane === name)).toMatchObject(expected);
    }, PATIENCE);
  }

  /** Waits until a relay is as expected, as health tells. */
  async untilRelay(name: string, expected: { readonly state?: string; readonly inflight?: number }) {
    await vi.waitFor(async () => {
      const { relays } = JSON.parse((await ask(this.server, '/health')).body);
      expect(relays.find((relay: { readonly name: string }) => relay.name === name)).toMatchObject(expected);
    }, PATIENCE);
  }

  /** Waits until all that was acknowledged has arrived, but what its relay may have taken and did not say. */
  async untilArrived(senders: readonly AnyCustomer[]): Promise<void> {
    const client = new Client(this.server, this.#key);
    await vi.waitFor(async () => {
      for (const id of this.#missing(senders))
        expect(await client.record(id)).toMatchObject({ possibleDuplicate: true });
    }, PATIENCE);
  }

  /** The relays that took the letters of these customers. */
  relaysOf(senders: readonly AnyCustomer[]): string[] {
    const subjects = new Set(acknowledgedTo(senders).map(([subject]) => subject));
    const taken = [...this.#book.letters].filter(([name]) => subjects.has(subjectIn(name)));
    return [...new Set(taken.flatMap(([, hops]) => hops))];
  }

  /**
   * Waits until nothing waits, and holds what arrived against what the server recorded: all that was acknowledged was
   * delivered, by one relay alone whatever the end of an attempt left open, and what came twice is flagged. Returns a
   * line of figures.
   */
  async hold(): Promise<string> {
    await untilAllIsFinal(this.server, this.#key);
    expect((await this.queue()).totals).toMatchObject({ waiting: 0, processing: 0, inFlight: 0 });
    expect(await this.server.end('SIGTERM')).toBe(0);
    const stored = await readStore(this.installation.dataDir, messagesIn);
    const everyone = [...this.shop, ...this.printers];
    const acknowledged = acknowledgedTo(everyone);
    for (const [subject, id] of acknowledged)
      expect(stored.get(id)?.header.subject, `${id} was acknowledged`).toBe(subject);
    expect(this.#missing(everyone)).toEqual([]);
    expect([...stored.values()].filter(({ status }) => status !== 'delivered')).toEqual([]);
    const letters = [...this.#book.letters];
    expect(letters.filter(([, hops]) => new Set(hops).size > 1)).toEqual([]);
    const flagged = [...stored.values()].filter(({ possibleDuplicate }) => possibleDuplicate);
    const excused = new Set(flagged.map(({ header }) => header.subject));
    const twice = letters.filter(([, hops]) => hops.length > 1);
    expect(twice.filter(([name]) => !excused.has(subjectIn(name)))).toEqual([]);
    const by = (hop: string) => letters.filter(([, [taken]]) => taken === hop).length;
    return (
      `${acknowledged.length} acknowledged, 0 lost; recipients: ${by('first')} by first, ${by('second')} by second, ` +
      `${twice.length} twice; ${flagged.length} messages flagged`
    );
  }

  /** Ids of what was acknowledged and has not reached all of its recipients. */
  #missing(senders: readonly AnyCustomer[]): string[] {
    const reached = (subject: string) => LETTER.to.every((address) => this.#book.has(subject, address));
    return acknowledgedTo(senders).flatMap(([subject, id]) => (reached(subject) ? [] : id));
  }
}

function configuration(first: SmtpSink, second: SmtpSink): string {
  const relay = (name: string, { port }: SmtpSink) =>
    `  - { name: ${name}, type: smtp, host: 127.0.0.1, port: ${port}, tls: none, max_concurrency: ${CONCURRENCY} }`;
  return `
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [0], bind: ["127.0.0.1"], allow_insecure_auth: true }
delivery: { default_relay: first, retry_first_seconds: 1, retry_max_seconds: 1 }
relays:
${relay('first', first)}
${relay('second', second)}
routes: [{ match: { key: shop }, via: [first, second] }]
`;
}

/** Of both ways in. */
function customers(key: string, context: TestContext): AnyCustomer[] {
  return Array.from({ length: CUSTOMERS_EACH_WAY }, () => [
    new HttpCustomer(key),
    new SmtpCustomer(key, context),
  ]).flat();
}

/** Subject and id of what was acknowledged. */
function acknowledgedTo(senders: readonly AnyCustomer[]): [string, string][] {
  return senders.flatMap(({ acknowledged }) => [...acknowledged]);
}

/** Of a name in the book. */
function subjectIn(name: string): string {
  return name.slice(0, name.indexOf(' '));
}
