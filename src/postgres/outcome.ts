import { Client, type ClientConfig, DatabaseError } from 'pg';
import type { Clock } from '../lib/clock.ts';
import { isConflict, isLost } from './errors.ts';
import { FLUSH, RUN, setDurable } from './session.ts';

/** The outcome of a transaction: `unknown` if the server cannot be asked, or cannot know. */
export type Outcome = 'committed' | 'aborted' | 'unknown';

/** A transaction whose COMMIT was not answered. */
interface Doubt {
  /** Its number, which is reused only after a crash of the server. */
  readonly xid: string;
  /** {@link Session.run} of the connection that it was on. */
  readonly run: string | null;
  /** Its commit did not wait for its flush: it counts as committed once the flush is made up for. */
  readonly isUnflushed: boolean;
}

/** How long to ask the server, in ms: it may be about to return. */
const ASK_MS = 5_000;
const ASK_TIMEOUT_MS = 2_000;
const PAUSE_MS = 100;
/** SQLSTATE for a number that no transaction has had yet: after a crash, its transaction left nothing. */
const IN_THE_FUTURE = '22023';

/**
 * Asks the server for the outcome of a transaction, by connections of its own. A transaction that is still idle,
 * because the server has not noticed our loss, is terminated, which settles it.
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

/** Null: not known yet. Rejects if the server cannot be asked. */
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
    // A number is reused if a crash lost all traces of its first transaction: then another one's commit was found.
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
    // Nobody waits for its end.
    client.end().catch(() => {});
  }
}

interface Answer {
  /** Null if it is too long ago. */
  readonly status: 'in progress' | 'committed' | 'aborted' | null;
  readonly run: string | null;
}

const STATUS = `SELECT pg_xact_status($1::xid8) AS status, ${RUN} AS run`;

/** An active one may be committing. */
const END_IDLE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE backend_xid = $1::xid8::xid AND state LIKE 'idle in transaction%'`;

/**
 * Most tries of a transaction that conflicts with others: at once, then after 4 ms, then after twice as long each time.
 */
const MAX_TRIES = 10;
/** How long to retry a lost server, in ms, before callers are told. */
const RECONNECT_MS = 5_000;
const RECONNECT_PAUSE_MS = 100;

/** How far a transaction came. */
export interface Progress {
  /** There was a connection for it. */
  isConnected: boolean;
  hasBegun: boolean;
  /** It may have happened. */
  isInDoubt: boolean;
}

/**
 * Runs a transaction until it is done, or fails for good. Conflicts with others are retried a few times. A transaction
 * that is known not to have happened because its connection was lost is retried once, if another connection can be made
 * soon.
 */
export async function untilDone<T>(
  once: (progress: Progress) => Promise<T>,
  clock: Pick<Clock, 'mono' | 'sleep'>,
): Promise<T> {
  let tries = 1;
  let lostAt: number | null = null;
  for (;;) {
    const progress: Progress = { isConnected: false, hasBegun: false, isInDoubt: false };
    try {
      return await once(progress);
    } catch (error) {
      if (isConflict(error) && tries < MAX_TRIES) {
        if (tries > 1) await clock.sleep(2 ** tries);
        tries++;
        continue;
      }
      if (!isLost(error) || progress.isInDoubt) throw error;
      // An unreachable server is reported at once; one that was reachable, when it stays away.
      const isFinal: boolean =
        lostAt === null ? !progress.isConnected : progress.hasBegun || clock.mono() - lostAt >= RECONNECT_MS;
      if (isFinal) throw error;
      lostAt ??= clock.mono();
      await clock.sleep(RECONNECT_PAUSE_MS);
    }
  }
}
