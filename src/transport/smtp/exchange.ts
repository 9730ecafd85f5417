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
 * A message may be pipelined behind another if the hop acknowledges messages within this time, in ms: one that begins
 * early has been marked as begun, but is not sent yet.
 */
const QUICK_REPLY_MS = 50;
/** A hop that takes longer than this to answer a pipelined envelope, in ms, does not profit from it. */
const QUICK_ENVELOPE_MS = 20;
/** After such a delay, or a negative answer, nothing is pipelined for this long, in ms: both end the session. */
const PAUSE_MS = 10_000;
/** The same for a hop that never answered a pipelined envelope, which cost that message the time-out of MAIL. */
const LONG_PAUSE_MS = 24 * 3_600_000;

/** One way to a server. */
export interface Way {
  /** Connections with the same key are interchangeable. */
  readonly key: string;
  readonly destination: Destination;
  readonly terms: OpenTerms;
  /** Stops opening or waiting for a connection; a running transaction continues. */
  readonly giveUp?: AbortSignal;
}

/** What messages are sent with, one for each transport. */
export interface ExchangeParts {
  /** Messages may be pipelined behind others: there are as many connections as attempts, all to one hop. */
  readonly lends: boolean;
  readonly relay: string;
  readonly pool: ConnectionPool;
  readonly clock: Clock;
  readonly log: Log;
  readonly resign?: Resign | undefined;
}

/** Sends messages over pooled connections. */
export class Exchange {
  readonly #parts: ExchangeParts;
  readonly #forms: HopForms;
  /** How long the hop last took to acknowledge a message. */
  #replyMs = Number.POSITIVE_INFINITY;
  /** From when (monotonic ms) a message may be pipelined behind another. */
  #lendsFrom = Number.NEGATIVE_INFINITY;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    this.#forms = new HopForms(parts.resign);
  }

  /** Sends a message over an idle connection, or a new one. Throws `HopFailure` when none can be opened. */
  async send(way: Way, job: TransportJob, trace: Trace, signal: StopSignal): Promise<TransactionEnd> {
    const { relay, pool, log } = this.#parts;
    const idle = pool.takeIdle(way.key);
    const lent = idle === null ? pool.takeLent(way.key) : null;
    const connection = idle ?? lent?.[0] ?? (await this.#takeFresh(way, job, trace, signal));
    const reused = connection.transactions > 0;
    const end = await this.#transact(connection, lent?.[1] ?? null, job, trace, signal);
    this.#heard(end, trace, lent?.[1] ?? null);
    if (!end.stillborn || !reused) return end;
    // The server closed it while idle or after its maximum of messages, which says nothing about hop or message.
    log.debug('smtp.connection_stale', { relay, code: end.outcomes[0]?.reply.cause });
    const fresh = await this.#takeFresh(way, job, trace, signal);
    return await this.#transact(fresh, null, job, trace, signal);
  }

  /** Opens a session for the next message. Throws `HopFailure` when that fails. */
  async open({ key, destination, terms }: Way, trace: Trace, signal: AbortSignal): Promise<void> {
    const { pool } = this.#parts;
    const open = () => openSession(destination, terms, trace, signal);
    pool.giveBack(await pool.takeFresh(key, open, signal), 'clean');
  }

  /** Opening a connection, or waiting for one, ends when the caller gives up. */
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

  /** Records how quickly the hop acknowledges a message, whether positively, and how it handles pipelined envelopes. */
  #heard(end: TransactionEnd, { mailMs, replyMs }: Trace, behind: Behind | null): void {
    const wasOwn = behind?.isOwn === true;
    if (replyMs !== null) this.#replyMs = replyMs;
    // It accepted the one in front, then the connection failed for this one: the hop may discard pipelined commands.
    const isUnheard = wasOwn && end.stillborn;
    const isIgnored = isUnheard && end.outcomes[0]?.reply.cause === 'timeout_mail';
    // All was there before the message in front was acknowledged: a hop so slow is better off without pipelining.
    const isHeldBack = wasOwn && mailMs !== null && mailMs > QUICK_ENVELOPE_MS;
    const isRefused = replyMs !== null && end.session !== 'clean';
    if (isIgnored) this.#pause(LONG_PAUSE_MS);
    else if (isUnheard || isHeldBack || isRefused) this.#pause(PAUSE_MS);
  }

  #pause(ms: number): void {
    this.#lendsFrom = Math.max(this.#lendsFrom, this.#parts.clock.mono() + ms);
  }
}

/** The end of a transaction as a transport's result. */
export function resultOf(
  { outcomes, hopFailed }: Pick<TransactionEnd, 'outcomes' | 'hopFailed'>,
  trace: Trace,
): TransportResult {
  return { outcomes, evidence: trace.evidence(), hopFailed, restMs: null };
}

/** The result when no session was opened: every recipient waits. */
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
