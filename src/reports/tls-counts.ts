import { createHash } from 'node:crypto';
import type { NoteTlsSession, TlsSession } from '../domain/tls-report.ts';
import type { Clock } from '../lib/clock.ts';
import type { TlsCount, TlsReports } from '../store/tls-reports.ts';

/** Counts sessions in memory, and writes the counts every few seconds: no delivery waits, and a crash loses seconds. */

const DAY_MS = 86_400_000;
/** Kinds of sessions that wait to be written. What comes beyond it is not counted. */
const MAX_WAITING = 20_000;
/** Kinds of a domain and day that are kept with their details. */
const MAX_KINDS = 100;
/** Counts written in one transaction. */
const BATCH = 500;

/** Sessions that were counted, and are not written yet. */
export class TlsCounts {
  readonly #store: Pick<TlsReports, 'countTlsSessions'>;
  readonly #clock: Pick<Clock, 'wall'>;
  #waiting = new Map<string, { -readonly [K in keyof TlsCount]: TlsCount[K] }>();

  constructor(store: Pick<TlsReports, 'countTlsSessions'>, clock: Pick<Clock, 'wall'>) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Counts one. */
  readonly note: NoteTlsSession = (domain, session) => {
    const day = Math.floor(this.#clock.wall() / DAY_MS);
    const kind = kindOf(session);
    const key = `${day} ${domain} ${kind}`;
    const known = this.#waiting.get(key);
    if (known !== undefined) known.count++;
    else if (this.#waiting.size < MAX_WAITING)
      this.#waiting.set(key, { day, domain, kind, session, count: 1 });
  };

  /** Writes what was counted. What could not be written is written next time. Rejects with `StoreError`. */
  async write(): Promise<void> {
    const counts = [...this.#waiting.values()];
    this.#waiting = new Map();
    for (let at = 0; at < counts.length; at += BATCH)
      try {
        await this.#store.countTlsSessions(counts.slice(at, at + BATCH), MAX_KINDS);
      } catch (error) {
        this.#takeBack(counts.slice(at));
        throw error;
      }
  }

  #takeBack(counts: readonly TlsCount[]): void {
    for (const one of counts) {
      const key = `${one.day} ${one.domain} ${one.kind}`;
      const known = this.#waiting.get(key);
      if (known !== undefined) known.count += one.count;
      else if (this.#waiting.size < MAX_WAITING) this.#waiting.set(key, { ...one });
    }
  }
}

/** The same for sessions alike. */
function kindOf(session: TlsSession): string {
  return createHash('sha256').update(JSON.stringify(session)).digest('hex').slice(0, 32);
}
