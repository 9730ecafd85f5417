/** Real servers over one PostgreSQL: the nodes of one service. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { Installation, type RunningServer } from '../peers/server.ts';
import { Client } from './service.ts';

/** What makes one node differ from the others. */
export interface NodeOptions {
  /** `node.roles`; absent: all. */
  readonly roles?: readonly string[];
  /** The address that its ports are bound to; default 127.0.0.1. */
  readonly bind?: string;
  /** Further settings, as lines of YAML. */
  readonly settings?: string;
  /** The first file of the program; absent: this tree's. */
  readonly main?: string;
}

/** A node's data directory, its server once it runs, and its API. */
export class Node {
  readonly name: string;
  readonly installation: Installation;
  #server: RunningServer | null = null;

  constructor(name: string, installation: Installation) {
    this.name = name;
    this.installation = installation;
  }

  /** Starts it, and waits until it listens. `under` goes before the command. */
  async start(under: readonly string[] = []): Promise<void> {
    this.#server = await this.installation.start(under);
  }

  get server(): RunningServer {
    if (this.#server === null) throw new Error(`${this.name} does not run`);
    return this.#server;
  }

  /** An application that uses this node by a key. */
  client(key: string): Client {
    return new Client(this.server, key);
  }
}

/** The nodes over one schema of a database. All have the secret key of the first. */
export class Nodes {
  readonly #url: string;
  readonly #schema: string;
  readonly #common: string;
  readonly #all: Node[] = [];

  /** `common`: what every node's file says, as lines of YAML. */
  constructor(url: string, schema: string, common: string) {
    this.#url = url;
    this.#schema = schema;
    this.#common = common;
  }

  /** Starts another one. */
  async start(name: string, options: NodeOptions = {}): Promise<Node> {
    const node = this.add(name, options);
    await node.start();
    return node;
  }

  /** Sets another one up, which does not run yet. */
  add(name: string, { roles, bind = '127.0.0.1', settings = '', main }: NodeOptions = {}): Node {
    const configuration = `
node: { name: ${name}${roles === undefined ? '' : `, roles: [${roles.join(', ')}]`} }
database: { url: "${this.#url}", schema: ${this.#schema} }
api: { port: 0, bind: ["${bind}"], rate_limit_per_key: 0 }
webui: { port: 0, bind: ["${bind}"] }
listener: { ports: [0], bind: ["${bind}"] }
${this.#common}
${settings}
`;
    const installation = new Installation(
      configuration,
      {},
      main === undefined ? main : [process.execPath, main],
    );
    const [first] = this.#all;
    if (first !== undefined)
      copyFileSync(join(first.installation.dataDir, 'secret.key'), join(installation.dataDir, 'secret.key'));
    const node = new Node(name, installation);
    this.#all.push(node);
    return node;
  }

  /** Kills them all and removes what they have. */
  remove(): void {
    for (const { installation } of this.#all) installation.remove();
  }
}
