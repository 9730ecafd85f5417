import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { StopSignal } from '../../lib/stop.ts';
import type { TransportJob, TransportResult } from '../transport.ts';
import type { Behind } from './behind.ts';
import type { SmtpConnection } from './connection.ts';
import { ABORTED, HopFailure } from './failure.ts';
import { HopForms, type Resign } from './hop-forms.ts';
import { type Destination, type OpenTerms, openSession } from './open.ts';
import type { ConnectionPool } from './pool.ts';
import type { Trace } from './trace.ts';
import { type TransactionEnd, transact } from './transaction.ts';

/**
 * A message may begin behind another where the hop answers the end of one within so long, in ms: what begins early has been marked
 * as begun, and is not sent yet.
 */
const QUICK_REPLY_MS = 50;
/** A hop answers the envelope behind a message within so long of that, in ms, or does not do well with it. */
const QUICK_ENVELOPE_MS = 20;
/** After that, and after an answer that was not yes, none begins behind another for so long, in ms: the session has to end with both. */
const PAUSE_MS = 10_000;
/** The same of a hop that never answered the envelope behind a message, which cost that one the time-out of MAIL. */
const LONG_PAUSE_MS = 24 * 3_600_000;

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
  /** A message may begin behind another: connections are as many as attempts, and all lead to one hop. */
  readonly lends: boolean;
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
  /** How long the hop last took to answer the end of a message. */
  #replyMs = Number.POSITIVE_INFINITY;
  /** From when on (monotonic ms) a message may begin behind another. */
  #lendsFrom = Number.NEGATIVE_INFINITY;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    this.#forms = new HopForms(parts.resign);
  }

  /** Sends a message over an idle connection, or a new one. Throws `HopFailure` when there is none to be had. */
  async send(way: Way, job: TransportJob, trace: Trace, signal: StopSignal): Promise<TransactionEnd> {
    const { relay, pool, log } = this.#parts;
    const idle = pool.takeIdle(way.key);
    const lent = idle === null ? pool.takeLent(way.key) : null;
    const connection = idle ?? lent?.[0] ?? (await this.#takeFresh(way, job, trace, signal));
    const reused = connection.transactions > 0;
    const end = await this.#transact(connection, lent?.[1] ?? null, job, trace, signal);
    this.#heard(end, trace, lent?.[1] ?? null);
    if (!end.stillborn || !reused) return end;
    // The server closed it while it was idle, or has had as many messages by it as it takes, as servers do; that says
    // nothing about the hop or the message.
    log.debug('smtp.connection_stale', { relay, code: end.outcomes[0]?.reply.cause });
    const fresh = await this.#takeFresh(way, job, trace, signal);
    return await this.#transact(fresh, null, job, trace, signal);
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
    behind: Behind | null,
    job: TransportJob,
    trace: Trace,
    signal: StopSignal,
  ): Promise<TransactionEnd> {
    const { pool, clock } = this.#parts;
    trace.over(connection);
    const giveBack = (session: TransactionEnd['session']) => {
      if (behind === null || behind.isOwn) pool.giveBack(connection, session);
      else behind.leave();
    };
    const lend = (sent: () => void) => {
      if (!this.#parts.lends) return;
      const isQuick = this.#replyMs <= QUICK_REPLY_MS && clock.mono() >= this.#lendsFrom;
      if (isQuick && connection.capabilities.pipelining) pool.lend(connection, sent);
    };
    const settings = { clock, forms: this.#forms, behind, giveBack, lend };
    return transact(connection, job, trace, settings, signal);
  }

  /** Takes note of how quickly the hop answers the end of a message, whether with yes, and how it does with what is behind. */
  #heard(end: TransactionEnd, { mailMs, replyMs }: Trace, behind: Behind | null): void {
    const wasOwn = behind?.isOwn === true;
    if (replyMs !== null) this.#replyMs = replyMs;
    // It took the one in front, and then this one's connection was of no use: it may have thrown away what was behind.
    const isUnheard = wasOwn && end.stillborn;
    const isIgnored = isUnheard && end.outcomes[0]?.reply.cause === 'timeout_mail';
    // It was all there before the answer to the message in front: a hop that takes its time is better off without.
    const isHeldBack = wasOwn && mailMs !== null && mailMs > QUICK_ENVELOPE_MS;
    const isRefused = replyMs !== null && end.session !== 'clean';
    if (isIgnored) this.#pause(LONG_PAUSE_MS);
    else if (isUnheard || isHeldBack || isRefused) this.#pause(PAUSE_MS);
  }

  #pause(ms: number): void {
    this.#lendsFrom = Math.max(this.#lendsFrom, this.#parts.clock.mono() + ms);
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
