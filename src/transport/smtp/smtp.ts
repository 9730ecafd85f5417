/** The `smtp` relay: hands messages to a smarthost over SMTP (RFC 5321). */
import type { Relay, SmarthostSettings } from '../../domain/relay.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Transport, TransportJob, TransportResult } from '../transport.ts';
import { Exchange, failedResult, resultOf, type Way } from './exchange.ts';
import { HopFailure } from './failure.ts';
import type { Resign } from './hop-forms.ts';
import type { Destination } from './open.ts';
import { ConnectionPool, type PoolLimits } from './pool.ts';
import { SourceAddresses } from './source-addresses.ts';
import { TIMEOUTS, type Timeouts } from './timeouts.ts';
import { Trace } from './trace.ts';

/** What a transport is made of. */
export interface SmtpTransportOptions {
  /** Of type `smtp`. */
  readonly relay: Relay;
  /** What we call ourselves in EHLO, unless the relay says otherwise. */
  readonly hostname: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Signs again what had to be converted; without it that goes with signatures that do not hold. */
  readonly resign?: Resign;
  /** Instead of {@link TIMEOUTS}, those given. */
  readonly timeouts?: Partial<Timeouts>;
  /** Instead of the relay's concurrency and 500 transactions a connection, those given. */
  readonly poolLimits?: Partial<PoolLimits>;
}

/** Transactions over one connection before it is closed. */
export const MAX_TRANSACTIONS = 500;

/** Makes the transport of an `smtp` relay. Connects when there is something to deliver. */
export function createSmtpTransport(options: SmtpTransportOptions): Transport {
  const { relay, hostname, clock, log, resign } = options;
  if (!relay.smtp) throw new Error(`relay ${relay.name} has no smarthost`);
  const { smtp, limits } = relay;
  const pool = new ConnectionPool({
    maxConnections: limits.maxConcurrency,
    maxTransactions: MAX_TRANSACTIONS,
    ...options.poolLimits,
  });
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const terms = { helo: smtp.helo ?? hostname, sources: new SourceAddresses(smtp), clock, timeouts };
  const way = { key: '', destination: smarthostDestination(smtp), terms };
  return new SmtpTransport(way, pool, new Exchange({ relay: relay.name, pool, clock, log, resign }), clock);
}

/**
 * A smarthost as a destination. Opportunistic TLS takes any certificate, unless a password is sent: that goes to a
 * verified server only.
 */
export function smarthostDestination(settings: SmarthostSettings): Destination {
  const { host, port, tls, verify, username, password, noLinkLocal } = settings;
  const checked = verify && (tls !== 'opportunistic' || username !== null);
  const credentials = username === null ? null : { username, password: password ?? '' };
  return {
    host,
    address: null,
    port,
    tls,
    trust: { kind: checked ? 'name' : 'any' },
    credentials,
    noLinkLocal,
  };
}

class SmtpTransport implements Transport {
  readonly #way: Way;
  readonly #pool: ConnectionPool;
  readonly #exchange: Exchange;
  readonly #clock: Clock;

  constructor(way: Way, pool: ConnectionPool, exchange: Exchange, clock: Clock) {
    this.#way = way;
    this.#pool = pool;
    this.#exchange = exchange;
    this.#clock = clock;
  }

  async deliver(job: TransportJob, signal: AbortSignal): Promise<TransportResult> {
    const trace = new Trace(this.#way.destination.host, this.#clock);
    try {
      return resultOf(await this.#exchange.send(this.#way, job, trace, signal), trace);
    } catch (error) {
      if (!(error instanceof HopFailure)) throw error;
      return failedResult(error, job, trace, signal);
    }
  }

  async probe(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#exchange.open(this.#way, new Trace(this.#way.destination.host, this.#clock), signal);
      return true;
    } catch (error) {
      if (!(error instanceof HopFailure)) throw error;
      return false;
    }
  }

  connections(): number {
    return this.#pool.size;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
