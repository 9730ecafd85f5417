/** The `smtp` relay: hands messages to a smarthost over SMTP (RFC 5321). */
import type { Relay, SmarthostSettings } from '../../domain/relay.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Transport, TransportJob, TransportResult } from '../transport.ts';
import type { SmtpConnection } from './connection.ts';
import { ABORTED, HopFailure } from './failure.ts';
import type { OpenTarget } from './open.ts';
import { ConnectionPool, type PoolLimits } from './pool.ts';
import { TIMEOUTS, type Timeouts } from './timeouts.ts';
import { Trace } from './trace.ts';
import { type TransactionEnd, transact } from './transaction.ts';

/** What a transport is made of. */
export interface SmtpTransportOptions {
  /** Of type `smtp`. */
  readonly relay: Relay;
  /** What we call ourselves in EHLO, unless the relay says otherwise. */
  readonly hostname: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Instead of {@link TIMEOUTS}, those given. */
  readonly timeouts?: Partial<Timeouts>;
  /** Instead of the relay's concurrency and 500 transactions a connection, those given. */
  readonly poolLimits?: Partial<PoolLimits>;
}

const MAX_TRANSACTIONS = 500;

/** Makes the transport of an `smtp` relay. Connects when there is something to deliver. */
export function createSmtpTransport(options: SmtpTransportOptions): Transport {
  const { relay, hostname, clock, log } = options;
  if (!relay.smtp) throw new Error(`relay ${relay.name} has no smarthost`);
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  return new SmtpTransport(
    relay.name,
    { settings: relay.smtp, hostname, clock, timeouts },
    { maxConnections: relay.limits.maxConcurrency, maxTransactions: MAX_TRANSACTIONS, ...options.poolLimits },
    log,
  );
}

class SmtpTransport implements Transport {
  readonly #relay: string;
  readonly #settings: SmarthostSettings;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #pool: ConnectionPool;

  constructor(relay: string, target: OpenTarget, limits: PoolLimits, log: Log) {
    this.#relay = relay;
    this.#settings = target.settings;
    this.#clock = target.clock;
    this.#log = log;
    this.#pool = new ConnectionPool(target, limits);
  }

  async deliver(job: TransportJob, signal: AbortSignal): Promise<TransportResult> {
    const trace = new Trace(this.#settings.host, this.#clock);
    try {
      const connection = this.#pool.takeIdle() ?? (await this.#takeFresh(job, trace, signal));
      const reused = connection.transactions > 0;
      const end = await this.#transact(connection, job, trace, signal);
      if (!end.stillborn || !reused) return resultOf(end, trace);
      // The server closed it while it was idle, as servers do; that says nothing about the hop or the message.
      this.#log.debug('smtp.connection_stale', { relay: this.#relay, code: end.outcomes[0]?.reply.cause });
      const fresh = await this.#takeFresh(job, trace, signal);
      return resultOf(await this.#transact(fresh, job, trace, signal), trace);
    } catch (error) {
      if (!(error instanceof HopFailure)) throw error;
      const outcome = { kind: 'deferred', reply: error.reply } as const;
      const outcomes = job.envelope.recipients.map(() => outcome);
      return { outcomes, evidence: trace.evidence(), hopFailed: !signal.aborted && !job.refused.aborted };
    }
  }

  connections(): number {
    return this.#pool.size;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  /** Opening a connection, or waiting for one, ends with the wish for it. */
  async #takeFresh(job: TransportJob, trace: Trace, signal: AbortSignal): Promise<SmtpConnection> {
    const stop = new AbortController();
    const abort = () => stop.abort();
    const causes = [signal, job.refused];
    for (const cause of causes) cause.addEventListener('abort', abort);
    try {
      if (causes.some(({ aborted }) => aborted)) throw new HopFailure(ABORTED);
      return await this.#pool.takeFresh(trace, stop.signal);
    } finally {
      for (const cause of causes) cause.removeEventListener('abort', abort);
    }
  }

  async #transact(
    connection: SmtpConnection,
    job: TransportJob,
    trace: Trace,
    signal: AbortSignal,
  ): Promise<TransactionEnd> {
    trace.reused = connection.transactions > 0;
    trace.address = connection.address;
    trace.tls = connection.tls;
    let session: TransactionEnd['session'] = 'close';
    try {
      const end = await transact(connection, job, trace, this.#clock, signal);
      session = end.session;
      return end;
    } finally {
      this.#pool.giveBack(connection, session);
    }
  }
}

function resultOf(end: TransactionEnd, trace: Trace): TransportResult {
  return { outcomes: end.outcomes, evidence: trace.evidence(), hopFailed: end.hopFailed };
}
