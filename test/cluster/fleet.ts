/** Several real servers over one PostgreSQL, under load, and the books on what became of the mail. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { openPostgres } from '../../src/store/postgres/open.ts';
import {
  Book,
  countFlagged,
  holdAcknowledged,
  holdCopies,
  messagesIn,
  untilAllIsFinal,
} from '../crash/book.ts';
import { HttpCustomer } from '../crash/http-customer.ts';
import { type Node, Nodes } from '../e2e/nodes.ts';
import { createKey } from '../e2e/service.ts';
import { Postgres } from '../peers/postgres.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import type { SinkScript } from '../peers/smtp-sink-script.ts';

const SCHEMA = 'fleet';
/** Relays, each a lane of its own, so that every node has some to work on. */
const RELAYS = ['r1', 'r2', 'r3', 'r4'];
/** Customers of each node. */
const CUSTOMERS = 2;
/** What a customer waits after each message, in ms: most of these tests wait for leases to end, and others run beside them. */
const PACE_MS = 100;

/** What became of the mail of a fleet. */
export interface FleetBooks {
  readonly acknowledged: number;
  /** Recipients that got more than one copy, all of them flagged. */
  readonly twice: number;
  readonly flagged: number;
}

/** Nodes, their database, the next hops and their customers. */
export class Fleet {
  readonly postgres: Postgres;
  readonly nodes: Node[] = [];
  readonly #nodes: Nodes;
  readonly #sink: SmtpSink;
  readonly #book: Book;
  readonly #over = new AbortController();
  #onAcknowledged = () => {};
  #key = '';
  readonly #customers: HttpCustomer[] = [];
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(postgres: Postgres, sink: SmtpSink, nodes: Nodes) {
    this.postgres = postgres;
    this.#sink = sink;
    this.#nodes = nodes;
    this.#book = new Book();
    void this.#book.follow('sink', sink);
  }

  /** Starts nodes of these names, and their customers. */
  static async start(names: readonly string[]): Promise<Fleet> {
    const [postgres, sink] = await Promise.all([Postgres.start(), startSmtpSink({ script: moodyScript() })]);
    const relay = (name: string) =>
      `{ name: ${name}, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none, max_concurrency: 8 }`;
    const nodes = new Nodes(
      postgres.url(),
      SCHEMA,
      `delivery: { default_relay: r1, retry_first_seconds: 1, retry_max_seconds: 1, reports_per_hour: 0 }
relays: [${RELAYS.map(relay).join(', ')}]
routes: [{ match: {}, via: [${RELAYS.map((name) => `{ relay: ${name}, weight: 1 }`).join(', ')}] }]`,
    );
    const fleet = new Fleet(postgres, sink, nodes);
    try {
      for (const name of names) fleet.nodes.push(await nodes.start(name));
      await fleet.#begin();
      return fleet;
    } catch (error) {
      await fleet.end();
      throw error;
    }
  }

  /** Resolves when so many more messages are acknowledged. */
  acknowledged(count: number): Promise<void> {
    let left = count;
    return new Promise((resolve) => {
      this.#onAcknowledged = () => {
        if (--left === 0) resolve();
      };
    });
  }

  /** Ends the load, and waits until every message is final. Holds what was acknowledged against what arrived. */
  async close(): Promise<FleetBooks> {
    this.#over.abort();
    await this.#writing;
    const [first] = this.nodes;
    if (first === undefined) throw new Error('there are no nodes');
    await untilAllIsFinal(first.server, this.#key);
    const { store, views } = await openPostgres({ url: this.postgres.url(), schema: SCHEMA });
    const stored = await messagesIn(views).finally(() => store.close());
    const acknowledged = this.#customers.flatMap((customer) => [...customer.acknowledged]);
    holdAcknowledged(this.#book, stored, acknowledged);
    const twice = holdCopies(this.#book, stored);
    return { acknowledged: acknowledged.length, twice, flagged: countFlagged(stored) };
  }

  /** Kills everything and removes what it had. */
  async end(): Promise<void> {
    this.#over.abort();
    this.#nodes.remove();
    await this.#writing;
    await this.#sink.close();
    await this.postgres.stop();
  }

  async #begin(): Promise<void> {
    const [first] = this.nodes;
    if (first === undefined) return;
    const scopes = ['send', 'read', 'read_all'].flatMap((name) => ['--scope', `messages:${name}`]);
    this.#key = await createKey(first.installation, 'fleet', ...scopes);
    this.#writing = Promise.all(
      this.nodes.flatMap((node) => Array.from({ length: CUSTOMERS }, () => this.#write(node))),
    );
  }

  /** Sends one message after the other; what is refused, or not answered, is not sent again. */
  async #write(node: Node): Promise<void> {
    const customer = new HttpCustomer(this.#key);
    this.#customers.push(customer);
    while (!this.#over.signal.aborted) {
      const answer = await customer.send(node.server).catch(() => null);
      if (answer !== null && customer.idIn(answer) !== null) this.#onAcknowledged();
      else if (answer !== null) expect([503], JSON.stringify(answer.body)).toContain(answer.status);
      await pause(PACE_MS);
    }
  }
}

/** Now and then drops the connection after the dot, or puts a message off. */
function moodyScript(): SinkScript {
  let dots = 0;
  return {
    DOT: () => {
      dots++;
      if (dots % 53 === 0) return { close: 'reset' };
      return dots % 17 === 0 ? '451 4.3.0 Not now' : undefined;
    },
  };
}
