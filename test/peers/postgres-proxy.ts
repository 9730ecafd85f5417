import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Postgres } from './postgres.ts';

/** What happens to the next commit that passes. */
export type Mishap =
  /** The server never hears of it, and both connections break. */
  | 'before'
  /** The server commits, and its answer is lost with the connection. */
  | 'after'
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

/** Stands before a server and breaks a connection exactly where it commits. */
export class PostgresProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #mishap: Pending | null = null;

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
      if (mishap !== null && mishap.kind !== 'after' && chunk.includes(COMMIT, 0, 'latin1'))
        void breakAll(mishap);
      else there.write(chunk);
    });
    there.on('data', (chunk) => {
      const mishap = this.#mishap;
      if (isBroken) return;
      if (mishap?.kind === 'after' && chunk.includes(COMMITTED, 0, 'latin1')) void breakAll(mishap);
      else client.write(chunk);
    });
    client.on('close', () => isBroken || there.destroy());
    there.on('close', () => isBroken || client.destroy());
  }
}
