import { Database } from '../../src/postgres/database.ts';
import { Postgres } from '../peers/postgres.ts';
import { PostgresProxy } from '../peers/postgres-proxy.ts';

/** A server with a table of marks, and a database over it whose connections a proxy breaks where they commit. */
export class CommitMarks {
  readonly server: Postgres;
  readonly proxy: PostgresProxy;
  database: Database;
  /** How often a transaction was run. */
  runs = 0;
  /** How often one was told that it is committed. */
  told = 0;

  private constructor(server: Postgres, proxy: PostgresProxy) {
    this.server = server;
    this.proxy = proxy;
    this.database = new Database({ url: proxy.url() });
  }

  static async start(): Promise<CommitMarks> {
    const server = await Postgres.start();
    await server.run('CREATE TABLE marks (mark text)');
    return new CommitMarks(server, await PostgresProxy.start(server));
  }

  /** Forgets all, and opens a database of so many connections. */
  async renew(connections: number): Promise<void> {
    await this.database.close();
    this.runs = 0;
    this.told = 0;
    await this.server.run('TRUNCATE marks');
    this.database = new Database({ url: this.proxy.url(), connections });
    // What befalls it is no connection's first transaction.
    await this.database.transact((db) => db.rows('SELECT 1'));
  }

  /** A transaction that adds a mark; `hears`: it is told when it is committed. */
  mark(hears: boolean, on = this.database): Promise<string> {
    return on.transact(
      async (db) => {
        this.runs++;
        await db.run(`INSERT INTO marks VALUES ('made')`);
        return 'done';
      },
      hears ? { committed: () => void this.told++ } : {},
    );
  }

  async count(): Promise<number> {
    return (await this.server.run('SELECT mark FROM marks')).length;
  }

  /** What is not flushed may be lost. */
  async crash(): Promise<void> {
    await this.server.down();
    await this.server.up();
  }

  async stop(): Promise<void> {
    await this.database.close();
    await this.proxy.stop();
    await this.server.stop();
  }
}
