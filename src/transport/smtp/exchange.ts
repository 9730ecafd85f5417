import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { StopSignal } from '../../lib/stop.ts';
import type { TransportJob, TransportResult } from '../transport.ts';
import type { SmtpConnection } from './connection.ts';
import { ABORTED, HopFailure } from './failure.ts';
import { HopForms, type Resign } from './hop-forms.ts';
import { type Destination, type OpenTerms, openSession } from './open.ts';
import type { ConnectionPool } from './pool.ts';
import type { Trace } from './trace.ts';
import { type TransactionEnd, transact } from './transaction.ts';

/** One way to a server. */
export interface Way {
  /** Connections of ways with the same key stand for one another. */
  readonly key: string;
  readonly destination: Destination;
  readonly terms: OpenTerms;
  /** Ends the opening of a connection, or the wait for one; a transaction goes on. */
  readonly giveUp?: AbortSignal;
}

/** What messages are sent with: one for each transport. */
export interface ExchangeParts {
  readonly relay: string;
  readonly pool: ConnectionPool;
  readonly clock: Clock;
  readonly log: Log;
  readonly resign?: Resign | undefined;
}

/** Sends messages over connections of a pool. */
export class Exchange {
  readonly #parts: ExchangeParts;
  readonly #forms: HopForms;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    this.#forms = new HopForms(parts.resign);
  }

  /** Sends a message over an idle connection, or a new one. Throws `HopFailure` when there is none to be had. */
  async send(way: Way, job: TransportJob, trace: Trace, signal: StopSignal): Promise<TransactionEnd> {
    const { relay, pool, log } = this.#parts;
    const connection = pool.takeIdle(way.key) ?? (await this.#takeFresh(way, job, trace, signal));
    const reused = connection.transactions > 0;
    const end = await this.#transact(connection, job, trace, signal);
    if (!end.stillborn || !reused) return end;
    // The server closed it while it was idle, or has had as many messages by it as it takes, as servers do; that says
    // nothing about the hop or the message.
    log.debug('smtp.connection_stale', { relay, code: end.outcomes[0]?.reply.cause });
    const fresh = await this.#takeFresh(way, job, trace, signal);
    return await this.#transact(fresh, job, trace, signal);
  }

  /** Opens a session, for the next message to use. Throws `HopFailure` when that cannot be done. */
  async open({ key, destination, terms }: Way, trace: Trace, signal: AbortSignal): Promise<void> {
    const { pool } = this.#parts;
    const open = () => openSession(destination, terms, trace, signal);
    pool.giveBack(await pool.takeFresh(key, open, signal), 'clean');
  }

  /** Opening a connection, or waiting for one, ends with the wish for it. */
  async #takeFresh(way: Way, job: TransportJob, trace: Trace, signal: StopSignal): Promise<SmtpConnection> {
    const stop = new AbortController();
    const abort = () => stop.abort();
    const causes = [signal, job.refused, ...(way.giveUp ? [way.giveUp] : [])];
    for (const cause of causes) cause.addEventListener('abort', abort);
    const { key, destination, terms } = way;
    const open = () => openSession(destination, terms, trace, stop.signal);
    try {
      if (causes.some(({ aborted }) => aborted)) throw new HopFailure(ABORTED);
      return await this.#parts.pool.takeFresh(key, open, stop.signal);
    } finally {
      for (const cause of causes) cause.removeEventListener('abort', abort);
    }
  }

  #transact(
    connection: SmtpConnection,
    job: TransportJob,
    trace: Trace,
    signal: StopSignal,
  ): Promise<TransactionEnd> {
    const { pool, clock } = this.#parts;
    trace.over(connection);
    const giveBack = (session: TransactionEnd['session']) => pool.giveBack(connection, session);
    return transact(connection, job, trace, { clock, forms: this.#forms, giveBack }, signal);
  }
}

/** What a transaction came to, as a transport reports it. */
export function resultOf(end: TransactionEnd, trace: Trace): TransportResult {
  return { outcomes: end.outcomes, evidence: trace.evidence(), hopFailed: end.hopFailed, restMs: null };
}

/** No session came about: every recipient waits. */
export function failedResult(
  failure: HopFailure,
  job: TransportJob,
  trace: Trace,
  signal: StopSignal,
): TransportResult {
  const outcome = { kind: 'deferred', reply: failure.reply } as const;
  const outcomes = job.envelope.recipients.map(() => outcome);
  return {
    outcomes,
    evidence: trace.evidence(),
    hopFailed: !signal.aborted && !job.refused.aborted,
    restMs: failure.restMs,
  };
}
