import type { Client } from 'pg';
import type { Clock } from '../lib/clock.ts';
import type { Database } from './database.ts';

/** A lost connection is remade after this pause, in ms, which doubles with each failure, up to the maximum. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 5_000;
/** How often to check that a connection still works, in ms: a network failure is silent. */
const PROBE_MS = 10_000;

/** What listening takes. */
export interface ListeningOptions {
  readonly database: Database;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Returns the name of the channel: letters, digits and underscores. */
  readonly channel: () => Promise<string>;
  /** Called with every notification. */
  readonly heard: (payload: string) => void;
  /** Called whenever a connection starts to listen, at first and after each loss: earlier notifications were missed. */
  readonly missed: () => void;
}

/**
 * Receives notifications of a channel of the database (postgresql.org, NOTIFY), by a connection of its own, which is
 * remade when it is lost. Behind a pooler listening is impossible, and nothing is received.
 */
export class Listening {
  readonly #options: ListeningOptions;
  readonly #ended = new AbortController();
  #process: number | null = null;

  constructor(options: ListeningOptions) {
    this.#options = options;
    void this.#run();
  }

  /** The server process of the connection; null while there is none. */
  get process(): number | null {
    return this.#process;
  }

  /** Ends it. */
  end(): void {
    this.#ended.abort();
  }

  async #run(): Promise<void> {
    const { database, clock, channel } = this.#options;
    const { signal } = this.#ended;
    let pause = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      try {
        const name = await channel();
        if (database.pooled) return;
        await this.#listen(name, () => {
          pause = FIRST_PAUSE_MS;
        });
      } catch {
        // Other users of the database report its failures; this only tries again.
      }
      await clock.sleep(pause, signal);
      pause = Math.min(2 * pause, LAST_PAUSE_MS);
    }
  }

  /** Listens until it is ended or the connection is lost. */
  async #listen(channel: string, listens: () => void): Promise<void> {
    const { database, clock, heard, missed } = this.#options;
    const client = database.newClient();
    const lost = new AbortController();
    const over = AbortSignal.any([this.#ended.signal, lost.signal]);
    const lose = () => lost.abort();
    client.on('error', lose).on('end', lose);
    client.on('notification', ({ payload = '' }) => {
      if (!over.aborted) heard(payload);
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
      this.#process = await probe(client);
      listens();
      missed();
      while (!over.aborted) {
        await clock.sleep(PROBE_MS, over);
        if (!over.aborted) await probe(client);
      }
    } finally {
      this.#process = null;
      // The end of a lost or unmade connection tells nothing.
      client.end().catch(() => {});
    }
  }
}

async function probe(client: Client): Promise<number | null> {
  const { rows } = await client.query<{ process: number }>('SELECT pg_backend_pid() AS process');
  return rows[0]?.process ?? null;
}
