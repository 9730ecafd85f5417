import { Client, type ClientConfig, DatabaseError } from 'pg';
import type { Clock } from '../lib/clock.ts';
import { FLUSH, RUN, setDurable } from './session.ts';

/** What became of a transaction: `unknown` where the server cannot be asked, or cannot know. */
export type Outcome = 'committed' | 'aborted' | 'unknown';

/** A transaction whose COMMIT was not answered. */
export interface Doubt {
  /** Its number, which is given anew only after a crash of the server. */
  readonly xid: string;
  /** {@link Session.run} of the connection that it was on. */
  readonly run: string | null;
  /** Its commit did not wait for its flush: it counts as committed once that is made up for. */
  readonly isUnflushed: boolean;
}

/** For how long the server is asked, in ms: it may be about to be there again. */
const ASK_MS = 5_000;
const ASK_TIMEOUT_MS = 2_000;
const PAUSE_MS = 100;
/** SQLSTATE of a number that no transaction has had yet: after a crash, of one that left nothing. */
const IN_THE_FUTURE = '22023';

/**
 * Asks the server what became of a transaction, by connections of its own. One that still stands idle, because the server has
 * not noticed that we are gone, is ended, and with it the doubt.
 */
export async function outcomeOf(
  doubt: Doubt,
  config: ClientConfig,
  clock: Pick<Clock, 'mono' | 'sleep'>,
): Promise<Outcome> {
  const deadline = clock.mono() + ASK_MS;
  for (;;) {
    const answer = await ask(doubt, config).catch(() => null);
    if (answer !== null) return answer;
    if (clock.mono() >= deadline) return 'unknown';
    await clock.sleep(PAUSE_MS);
  }
}

/** Null: not yet. Rejects when the server cannot be asked. */
async function ask({ xid, run, isUnflushed }: Doubt, config: ClientConfig): Promise<Outcome | null> {
  const times = { connectionTimeoutMillis: ASK_TIMEOUT_MS, query_timeout: ASK_TIMEOUT_MS };
  const client = new Client({ ...config, ...times });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<Answer>(STATUS, [xid]);
    const [answer] = rows;
    if (answer?.status === 'in progress') {
      await client.query(END_IDLE, [xid]);
      return null;
    }
    // A number is given again if a crash lost all traces of the first to have it: then it is another's that was committed.
    if (answer?.status === 'committed') {
      if (run === null || answer.run !== run) return 'unknown';
      // A crash between the answer and this would end the session.
      if (isUnflushed) await client.query(`SELECT ${setDurable(false)}; ${FLUSH}`);
      return 'committed';
    }
    return answer?.status === 'aborted' ? 'aborted' : 'unknown';
  } catch (error) {
    if (error instanceof DatabaseError && error.code === IN_THE_FUTURE) return 'aborted';
    throw error;
  } finally {
    // Nobody waits for how it ends.
    client.end().catch(() => {});
  }
}

interface Answer {
  /** Null when it is too long ago. */
  readonly status: 'in progress' | 'committed' | 'aborted' | null;
  readonly run: string | null;
}

const STATUS = `SELECT pg_xact_status($1::xid8) AS status, ${RUN} AS run`;

/** One that is at work may be committing. */
const END_IDLE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE backend_xid = $1::xid8::xid AND state LIKE 'idle in transaction%'`;
