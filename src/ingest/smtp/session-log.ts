import type { RequestLine } from '../../domain/request-line.ts';
import type { Clock } from '../../lib/clock.ts';
import { sourceGroup } from '../../lib/network.ts';
import type { RequestWriter } from '../request-writer.ts';

/**
 * What the log of requests has of SMTP sessions: a line for each that sent something, or was refused. The ports are open
 * to the world: sessions without a key or a name that were refused for one reason from one source, and those in which
 * nothing was sent, become one line in ten minutes.
 */

/** A line of a session: it stands for itself. */
export type SessionLine = RequestLine & {
  readonly sourceAddress: string;
  readonly session: NonNullable<RequestLine['session']>;
};

/** The code of sessions in which nothing was sent, and nothing refused. */
export const NOTHING_SENT = 'nothing_sent';

/** For how long repeated sessions are summed up, in ms. */
export const SUM_MS = 600_000;
/** How often it is looked for sums that are due, in ms. */
const LOOK_MS = 60_000;
/** Sources and reasons that are summed up at a time, at about 500 bytes each; the oldest makes room. */
export const MAX_SUMS = 1_000;

interface Sum {
  readonly since: number;
  last: SessionLine;
  /** Sessions that no line stands for yet. */
  count: number;
}

/** What noting them needs. */
interface SessionLogDeps {
  readonly writer: RequestWriter;
  readonly clock: Clock;
  /** Aborts when the service stops. */
  readonly signal: AbortSignal;
}

/** Notes sessions that have ended. */
export class SessionLog {
  readonly #deps: SessionLogDeps;
  /** By source and code. */
  readonly #sums = new Map<string, Sum>();
  #looking: Promise<void> | null = null;

  constructor(deps: SessionLogDeps) {
    this.#deps = deps;
  }

  /** Whether sessions are noted now. */
  get isKept(): boolean {
    return this.#deps.writer.isKept;
  }

  /** Notes a session. */
  add(line: SessionLine): void {
    const isStrange = line.keyId === null && line.session.accepted === 0;
    if (!isStrange && line.code !== NOTHING_SENT) {
      this.#write(line, 1);
      return;
    }
    const name = `${line.code} ${line.keyId} ${sourceGroup(line.sourceAddress)}`;
    const known = this.#sums.get(name);
    if (known !== undefined) {
      known.last = line;
      known.count += 1;
      return;
    }
    // The first one is told of at once, if it says something: somebody may wait to see it.
    const isTold = line.code !== NOTHING_SENT;
    if (isTold) this.#write(line, 1);
    this.#sums.set(name, { since: this.#deps.clock.mono(), last: line, count: isTold ? 0 : 1 });
    if (this.#sums.size > MAX_SUMS) this.#endOldest();
    this.#looking ??= this.#look();
  }

  /** Writes what is summed up, as far as it has come: the listener closes. */
  flush(): void {
    for (const name of this.#sums.keys()) this.#end(name);
  }

  async #look(): Promise<void> {
    const { clock, signal } = this.#deps;
    while (this.#sums.size > 0 && !signal.aborted) {
      await clock.sleep(LOOK_MS, signal);
      const due = clock.mono() - SUM_MS;
      for (const [name, { since }] of this.#sums) if (since <= due) this.#end(name);
    }
    this.#looking = null;
  }

  #endOldest(): void {
    for (const name of this.#sums.keys()) {
      this.#end(name);
      return;
    }
  }

  #end(name: string): void {
    const sum = this.#sums.get(name);
    this.#sums.delete(name);
    if (sum !== undefined && sum.count > 0) this.#write(sum.last, sum.count);
  }

  #write(line: SessionLine, weight: number): void {
    this.#deps.writer.add({ ...line, pattern: '' }, () => line, weight);
  }
}
