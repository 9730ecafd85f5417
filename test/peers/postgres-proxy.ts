import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Postgres } from './postgres.ts';

/** What happens to the next commit that passes. */
export type Mishap =
  /** The server never hears of it, and both connections break. */
  | 'before'
  /** The server commits, and its answer is lost with the connection. */
  | 'after'
  /** The server commits and says so; what was asked behind it never arrives. */
  | 'unflushed'
  /** The server never hears of it, nor that the client's connection broke. */
  | 'unnoticed';

/** A mishap that no commit has met yet. */
interface Pending {
  readonly kind: Mishap;
  /** Called when it has happened, before the client learns of it. */
  readonly befell: () => Promise<void>;
}

/** COMMIT as a simple query, and as the tag of its answer (postgresql.org, "Message Formats"). */
const COMMIT = 'Q\0\0\0\x0bCOMMIT\0';
const COMMITTED = 'C\0\0\0\x0bCOMMIT\0';
/** That the server is ready for the next query; one more byte follows. */
const READY = 'Z\0\0\0\x05';

/** Stands before a server and breaks a connection exactly where it commits. */
export class PostgresProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #mishap: Pending | null = null;
  #ambush: { readonly words: string; readonly befell: () => Promise<void> } | null = null;

  private constructor(socket: string) {
    this.#server = createServer((client) => this.#pass(client, connect(socket)));
  }

  /** Starts one before a server; resolves when it accepts connections. */
  static async start(server: Postgres): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(`${server.directory}/.s.PGSQL.5432`);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** Its address. */
  url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `postgres://waybill@127.0.0.1:${port}/postgres`;
  }

  /** Lets it befall the next commit. Resolves when it has; the client learns of it after `befell`. */
  next(kind: Mishap, befell: () => Promise<void> | void = () => {}): Promise<void> {
    return new Promise((resolve) => {
      this.#mishap = {
        kind,
        befell: async () => {
          await befell();
          resolve();
        },
      };
    });
  }

  /** Does something before the server hears these words for the first time. */
  before(words: string, befell: () => Promise<void>): void {
    this.#ambush = { words, befell };
  }

  /** Ends it, and with it every connection. */
  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(client: Socket, there: Socket): void {
    for (const socket of [client, there]) {
      this.#sockets.add(socket);
      socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
    }
    let isBroken = false;
    const breakAll = async (mishap: Pending) => {
      this.#mishap = null;
      isBroken = true;
      if (mishap.kind !== 'unnoticed') there.destroy();
      await mishap.befell();
      client.destroy();
    };
    client.on('data', (chunk) => {
      const mishap = this.#mishap;
      if (isBroken) return;
      const commit = chunk.indexOf(COMMIT, 0, 'latin1');
      const ambush = this.#ambush;
      if (mishap !== null && mishap.kind !== 'after' && commit >= 0) {
        if (mishap.kind === 'unflushed') there.write(chunk.subarray(0, commit + COMMIT.length));
        else void breakAll(mishap);
      } else if (ambush !== null && chunk.includes(ambush.words)) {
        this.#ambush = null;
        void ambush.befell().then(() => there.write(chunk));
      } else there.write(chunk);
    });
    there.on('data', (chunk) => {
      const mishap = this.#mishap;
      if (isBroken) return;
      const answer = chunk.indexOf(COMMITTED, 0, 'latin1');
      if (answer < 0 || (mishap?.kind !== 'after' && mishap?.kind !== 'unflushed')) {
        client.write(chunk);
        return;
      }
      const end = chunk.indexOf(READY, answer, 'latin1') + READY.length + 1;
      if (mishap.kind === 'unflushed') client.write(chunk.subarray(0, end));
      void breakAll(mishap);
    });
    client.on('close', () => isBroken || there.destroy());
    there.on('close', () => isBroken || client.destroy());
  }
}
