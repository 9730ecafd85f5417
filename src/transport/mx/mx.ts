/** The `mx` relay: hands messages to the recipients' own servers (RFC 5321 §5). */
import type { DnsRefusal } from '../../dns/refusal.ts';
import type { Resolver } from '../../dns/resolver.ts';
import type { Reply } from '../../domain/outcome.ts';
import type { Log } from '../../lib/log.ts';
import { Exchange, type Way } from '../smtp/exchange.ts';
import { ABORTED, HopFailure } from '../smtp/failure.ts';
import { ConnectionPool, type PoolLimits } from '../smtp/pool.ts';
import { MAX_TRANSACTIONS } from '../smtp/smtp.ts';
import { Trace } from '../smtp/trace.ts';
import type { Transport, TransportJob, TransportResult } from '../transport.ts';
import type { DomainHosts } from './hosts.ts';
import { type MxMeans, type MxParts, mxMeans } from './means.ts';
import { Pending } from './pending.ts';
import { recording } from './recording-resolver.ts';
import { stsMode } from './security.ts';
import { waysTo } from './ways.ts';

/** What a transport is made of. */
export interface MxTransportOptions extends MxParts {
  readonly resolver: Resolver;
  readonly log: Log;
  /** Instead of the relay's concurrency and 500 transactions a connection, those given. */
  readonly poolLimits?: Partial<PoolLimits>;
}

/** Makes the transport of an `mx` relay. Asks and connects when there is something to deliver. */
export function createMxTransport(options: MxTransportOptions): Transport {
  const { relay, clock, log } = options;
  const pool = new ConnectionPool({
    maxConnections: relay.limits.maxConcurrency,
    maxTransactions: MAX_TRANSACTIONS,
    ...options.poolLimits,
  });
  const exchange = new Exchange({ relay: relay.name, pool, clock, log });
  return new MxTransport(mxMeans(options), options.resolver, pool, exchange);
}

class MxTransport implements Transport {
  readonly #means: MxMeans;
  readonly #resolver: Resolver;
  readonly #pool: ConnectionPool;
  readonly #exchange: Exchange;

  constructor(means: MxMeans, resolver: Resolver, pool: ConnectionPool, exchange: Exchange) {
    this.#means = means;
    this.#resolver = resolver;
    this.#pool = pool;
    this.#exchange = exchange;
  }

  deliver(job: TransportJob, signal: AbortSignal): Promise<TransportResult> {
    const trace = new Trace(null, this.#means.terms.clock);
    const resolver = recording(this.#resolver, trace);
    return new MxAttempt(this.#means, this.#exchange, resolver, trace, job, signal).run();
  }

  connections(): number {
    return this.#pool.size;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** One message to one domain: host after host, until one has it or none is left. */
class MxAttempt {
  readonly #means: MxMeans;
  readonly #exchange: Exchange;
  readonly #resolver: Resolver;
  readonly #trace: Trace;
  readonly #job: TransportJob;
  readonly #signal: AbortSignal;
  readonly #pending: Pending;
  /** Why no host has it: the last that may have it later, else the last that never will. */
  #why: DnsRefusal | null = null;
  /** What could not be connected to of late comes after all others. */
  readonly #putOff: { readonly way: Way; readonly dane: string | null }[] = [];
  /** The hosts that follow are as far from the recipient as we are, or farther: mail would come back. */
  #cameToUs = false;

  constructor(
    means: MxMeans,
    exchange: Exchange,
    resolver: Resolver,
    trace: Trace,
    job: TransportJob,
    signal: AbortSignal,
  ) {
    this.#means = means;
    this.#exchange = exchange;
    this.#resolver = resolver;
    this.#trace = trace;
    this.#job = job;
    this.#signal = signal;
    this.#pending = new Pending(job);
  }

  async run(): Promise<TransportResult> {
    const domain = await this.#timed(() =>
      this.#means.finder.hostsOf(domainOf(this.#job), this.#resolver, this.#signal),
    );
    if (domain.kind !== 'domain') return this.#end(domain);
    this.#trace.mtaSts = domain.sts === null ? null : stsMode(domain.sts);
    for (const { name } of domain.hosts) {
      if (this.#stopped) return this.#end(STOPPED);
      const end = await this.#tryHost(name, domain);
      if (end !== null) return end;
      if (this.#cameToUs) break;
    }
    for (const { way, dane } of this.#putOff) {
      const end = await this.#tryWay(way, dane);
      if (end !== null) return end;
    }
    return this.#end(this.#why ?? STOPPED);
  }

  /** Null: nothing was taken, and the next host may be tried. */
  async #tryHost(name: string, domain: DomainHosts): Promise<TransportResult | null> {
    const host = await this.#timed(() =>
      this.#means.finder.ready(name, domain, this.#resolver, this.#signal),
    );
    if (host.kind !== 'ready') {
      this.#note(host);
      this.#cameToUs = host.reply.cause === 'mx_loop';
      this.#trace.happened('SKIP', host.reply.text);
      return null;
    }
    const { dane } = host.security;
    for (const way of waysTo(host, this.#means)) {
      if (this.#means.unreachable.has(way.destination.address ?? '')) {
        this.#putOff.push({ way, dane });
        continue;
      }
      const end = await this.#tryWay(way, dane);
      if (end !== null) return end;
    }
    return null;
  }

  async #tryWay(way: Way, dane: string | null): Promise<TransportResult | null> {
    this.#trace.turnTo(way.destination.host);
    this.#trace.dane = dane;
    try {
      const end = await this.#exchange.send(way, this.#pending.job, this.#trace, this.#signal);
      // Only a hop that failed leaves someone: it said 421, or was gone before it heard of the message.
      if (!this.#pending.take(end.outcomes, end.hopFailed)) return this.#result(STOPPED, end.hopFailed);
      const waiting = end.outcomes.find(({ kind }) => kind === 'deferred');
      return this.#goOn(waiting?.reply ?? ABORTED);
    } catch (error) {
      if (!(error instanceof HopFailure)) throw error;
      if (NOT_CONNECTED.has(error.reply.cause)) this.#means.unreachable.note(way.destination.address ?? '');
      return this.#goOn(error.reply);
    }
  }

  /** Null, unless it is to stop. */
  #goOn(reply: Reply): TransportResult | null {
    const refusal: DnsRefusal = { kind: 'deferred', reply };
    if (this.#stopped) return this.#end(refusal);
    this.#note(refusal);
    this.#trace.happened('FAILED', reply.text);
    return null;
  }

  get #stopped(): boolean {
    return this.#signal.aborted || this.#job.refused.aborted;
  }

  #note(refusal: DnsRefusal): void {
    if (refusal.kind === 'deferred' || this.#why?.kind !== 'deferred') this.#why = refusal;
  }

  async #timed<T>(look: () => Promise<T>): Promise<T> {
    const { clock } = this.#means.terms;
    const startedAt = clock.mono();
    try {
      return await look();
    } finally {
      this.#trace.dnsMs = (this.#trace.dnsMs ?? 0) + Math.round(clock.mono() - startedAt);
    }
  }

  /** No host has it. */
  #end(refusal: DnsRefusal): TransportResult {
    const hopFailed = refusal.kind === 'deferred' && !this.#stopped;
    return this.#result(refusal, hopFailed);
  }

  #result(rest: DnsRefusal, hopFailed: boolean): TransportResult {
    return { outcomes: this.#pending.settled(rest), evidence: this.#trace.evidence(), hopFailed };
  }
}

/** Causes that say that an address leads nowhere now. */
const NOT_CONNECTED: ReadonlySet<string> = new Set(['connect_refused', 'connect_failed', 'timeout_connect']);

/** Told to stop before anything else was known. */
const STOPPED: DnsRefusal = { kind: 'deferred', reply: ABORTED };

/** All recipients of an attempt are of one lane, so of one domain. */
function domainOf({ envelope }: TransportJob): string {
  const address = envelope.recipients[0]?.address ?? '';
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}
