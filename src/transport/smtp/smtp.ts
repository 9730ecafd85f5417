/** The `smtp` relay: hands messages to a smarthost over SMTP (RFC 5321). */
import type { Relay, SmarthostSettings } from '../../domain/relay.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { StopSignal } from '../../lib/stop.ts';
import type { ProbeResult, TokenDesk, Transport, TransportJob, TransportResult } from '../transport.ts';
import { TIMEOUTS, type Timeouts } from './deadline.ts';
import { SourceAddresses } from './dial.ts';
import { Exchange, failedResult, resultOf, type Way } from './exchange.ts';
import { HopFailure, refusalForLackOfTls } from './failure.ts';
import type { Resign } from './hop-forms.ts';
import type { Destination } from './open.ts';
import { ConnectionPool, type PoolLimits } from './pool.ts';
import { Trace } from './trace.ts';

/** What the transport is made from. */
export interface SmtpTransportOptions {
  /** Of type `smtp`. */
  readonly relay: Relay;
  /** Our EHLO name, unless the relay sets its own. */
  readonly hostname: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Signs a converted message again; without it, the converted message has signatures that fail. */
  readonly resign?: Resign;
  /** The source of access tokens, if the relay uses them. The transport closes it. */
  readonly tokens?: TokenDesk;
  /** Override {@link TIMEOUTS}. */
  readonly timeouts?: Partial<Timeouts>;
  /** Override the relay's concurrency and 500 transactions a connection. */
  readonly poolLimits?: Partial<PoolLimits>;
}

/** Transactions over one connection before it is closed. */
export const MAX_TRANSACTIONS = 500;

/** Makes the transport of an `smtp` relay. It connects only when there is mail to deliver. */
export function createSmtpTransport(options: SmtpTransportOptions): Transport {
  const { relay, hostname, clock, log, resign, tokens } = options;
  if (!relay.smtp) throw new Error(`relay ${relay.name} has no smarthost`);
  const { smtp, limits } = relay;
  const pool = new ConnectionPool({
    maxConnections: limits.maxConcurrency,
    maxTransactions: MAX_TRANSACTIONS,
    ...options.poolLimits,
  });
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const terms = { helo: smtp.helo ?? hostname, sources: new SourceAddresses(smtp), clock, timeouts };
  const way = { key: '', destination: smarthostDestination(smtp, tokens), terms };
  const exchange = new Exchange({ relay: relay.name, pool, clock, log, resign, lends: true });
  return new SmtpTransport({ way, pool, exchange, clock, tokens });
}

/**
 * A smarthost as a destination. Opportunistic TLS accepts any certificate, but a password or token is sent to a
 * verified server only. `tokens` is required if the settings have OAuth.
 */
export function smarthostDestination(settings: SmarthostSettings, tokens?: TokenDesk): Destination {
  const { host, port, tls, verify, username, password, auth, noLinkLocal } = settings;
  const checked = verify && (tls !== 'opportunistic' || username !== null);
  const secret = { secret: password ?? '', ...(auth !== undefined && { auth }) };
  const isByToken = auth === 'xoauth2';
  if (isByToken && (tokens === undefined || username === null))
    throw new Error(`${host}: no tokens to sign in with`);
  return {
    host,
    address: null,
    port,
    tls,
    trust: { kind: checked ? 'name' : 'any' },
    credentials: username === null || isByToken ? null : { username, ...secret },
    ...(isByToken && tokens !== undefined && { signIn: { username: username ?? '', tokens } }),
    noLinkLocal,
  };
}

interface SmtpTransportParts {
  readonly way: Way;
  readonly pool: ConnectionPool;
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly tokens: TokenDesk | undefined;
}

/**
 * The same way for a message that demands TLS: encrypted, and with a certificate that is verified (RFC 8689 §4.2.1),
 * whatever the settings say. Where they say the same, connections are shared.
 */
function strictly(way: Way): Way {
  const { tls, trust } = way.destination;
  const strict = tls === 'implicit' ? tls : 'required';
  if (strict === tls && trust.kind === 'name') return way;
  const destination: Destination = { ...way.destination, tls: strict, trust: { kind: 'name' } };
  return { ...way, key: 'strict', destination };
}

class SmtpTransport implements Transport {
  readonly #way: Way;
  /** For messages that demand TLS. */
  readonly #strictWay: Way;
  readonly #pool: ConnectionPool;
  readonly #exchange: Exchange;
  readonly #clock: Clock;
  readonly #tokens: TokenDesk | undefined;

  constructor({ way, pool, exchange, clock, tokens }: SmtpTransportParts) {
    this.#way = way;
    this.#strictWay = strictly(way);
    this.#pool = pool;
    this.#exchange = exchange;
    this.#clock = clock;
    this.#tokens = tokens;
  }

  async deliver(job: TransportJob, signal: StopSignal): Promise<TransportResult> {
    const trace = new Trace(this.#way.destination.host, this.#clock);
    const demands = job.tls === 'required';
    try {
      const way = demands ? this.#strictWay : this.#way;
      return resultOf(await this.#exchange.send(way, job, trace, signal), trace);
    } catch (error) {
      if (!(error instanceof HopFailure)) throw error;
      const refusal = demands ? refusalForLackOfTls(error) : null;
      if (refusal === null) return failedResult(error, job, trace, signal);
      return resultOf({ outcomes: job.envelope.recipients.map(() => refusal), hopFailed: false }, trace);
    }
  }

  async probe(signal: AbortSignal): Promise<ProbeResult> {
    const { host } = this.#way.destination;
    try {
      await this.#exchange.open(this.#way, new Trace(host, this.#clock), signal);
      return { host, trouble: null };
    } catch (error) {
      if (!(error instanceof HopFailure)) throw error;
      return { host, trouble: error.reply };
    }
  }

  connections(): number {
    return this.#pool.size;
  }

  async close(): Promise<void> {
    await this.#pool.close();
    await this.#tokens?.close();
  }
}
