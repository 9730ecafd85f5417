import { type DnsRefusal, deferred, type Resolver } from '../../dns/resolver.ts';
import type { TlsDemand } from '../../domain/message.ts';
import type { Outcome, Reply } from '../../domain/outcome.ts';
import type { TlsSession } from '../../domain/tls-report.ts';
import type { Log } from '../../lib/log.ts';
import { abortSignalOf, type StopSignal } from '../../lib/stop.ts';
import { Deadline } from '../smtp/deadline.ts';
import { Exchange, type Way } from '../smtp/exchange.ts';
import { ABORTED, HopFailure, refusalForLackOfTls } from '../smtp/failure.ts';
import type { Resign } from '../smtp/hop-forms.ts';
import { ConnectionPool, type PoolLimits } from '../smtp/pool.ts';
import { MAX_TRANSACTIONS } from '../smtp/smtp.ts';
import { Trace } from '../smtp/trace.ts';
import type { TransactionEnd } from '../smtp/transaction.ts';
import type { Transport, TransportJob, TransportResult } from '../transport.ts';
import { type DomainHosts, MAX_HOSTS, MAX_LOOKED_UP, recording } from './hosts.ts';
import { type MxMeans, type MxParts, mxMeans, waysTo } from './means.ts';
import { describeSts, stsMode } from './security.ts';
import { faultyPolicy, refusedSession, tlsSessionsOf } from './sessions.ts';

/** The `mx` relay: hands messages to the recipients' own servers (RFC 5321 §5). */

/** What the transport is made from. */
export interface MxTransportOptions extends MxParts {
  readonly resolver: Resolver;
  readonly log: Log;
  /** Signs a converted message again; without it, the converted message has signatures that fail. */
  readonly resign?: Resign;
  /** Override the relay's concurrency and 500 transactions a connection. */
  readonly poolLimits?: Partial<PoolLimits>;
}

/** Makes the transport of an `mx` relay. It resolves and connects only when there is mail to deliver. */
export function createMxTransport(options: MxTransportOptions): Transport {
  const { relay, clock, log, resign } = options;
  const pool = new ConnectionPool({
    maxConnections: relay.limits.maxConcurrency,
    maxTransactions: MAX_TRANSACTIONS,
    ...options.poolLimits,
  });
  const exchange = new Exchange({ relay: relay.name, pool, clock, log, resign, lends: false });
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

  deliver(job: TransportJob, stop: StopSignal): Promise<TransportResult> {
    const trace = new Trace(null, this.#means.terms.clock);
    const resolver = recording(this.#resolver, trace);
    return new MxAttempt(this.#means, this.#exchange, resolver, trace, job, abortSignalOf(stop)).run();
  }

  connections(): number {
    return this.#pool.size;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** One message to one domain: tries host after host, until one accepts it or none is left. */
class MxAttempt {
  readonly #means: MxMeans;
  readonly #exchange: Exchange;
  readonly #resolver: Resolver;
  readonly #trace: Trace;
  readonly #job: TransportJob;
  readonly #signal: AbortSignal;
  readonly #pending: Pending;
  /** Why no host accepted it: the last temporary refusal, otherwise the last permanent one. */
  #why: DnsRefusal | null = null;
  /** Stops opening connections when the time for that is over. */
  readonly #giveUp = new AbortController();
  readonly #opening: Deadline;
  /** How many hosts were connected to, or are about to be. */
  #connected = 0;
  /** Hosts that lack a required extension: their other addresses lack it too. */
  readonly #lacking = new Set<string>();
  /** Recently unreachable ways come after all others. */
  readonly #putOff: { readonly way: Way; readonly dane: string | null }[] = [];
  /**
   * We are an MX ourselves: the following hosts are no nearer to the recipient, and mail would loop (RFC 5321 §5.1).
   */
  #cameToUs = false;
  /** What the domain publishes; null where it does not apply, or before it is known. */
  #sts: DomainHosts['sts'] = null;
  /** A host was passed over because it was not as safe as it must be. */
  #keptBack = false;

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
    this.#opening = new Deadline(means.terms.clock, () => this.#giveUp.abort());
  }

  async run(): Promise<TransportResult> {
    this.#opening.set(MAX_OPENING_MS);
    try {
      return await this.#overHosts();
    } finally {
      this.#opening.stop();
    }
  }

  async #overHosts(): Promise<TransportResult> {
    // A report on TLS goes whatever is wrong with TLS.
    const isReport = this.#means.watch.isReport(this.#job.messageId);
    for (const demand of isReport ? ROUNDS.report : ROUNDS[this.#job.tls ?? 'none']) {
      const end = await this.#round(demand);
      if (end !== null) return end;
      if (!this.#keptBack) break;
    }
    return this.#end(this.#why);
  }

  /** Null: no host accepted it, and none is left. */
  async #round(demand: TlsDemand | null): Promise<TransportResult | null> {
    const domain = await this.#timed(() =>
      this.#means.finder.hostsOf(domainOf(this.#job), this.#resolver, this.#signal, demand),
    );
    if (domain.kind !== 'domain') return this.#end(domain);
    this.#why = null;
    this.#connected = 0;
    this.#cameToUs = false;
    this.#noteSts(domain);
    for (const { name } of domain.hosts.slice(0, MAX_LOOKED_UP)) {
      if (this.#stopped) return this.#end(STOPPED);
      if (this.#isOver) return this.#end(TIME_OVER);
      if (this.#cameToUs || this.#connected === MAX_HOSTS) break;
      const end = await this.#tryHost(name, domain);
      if (end !== null) return end;
    }
    for (const { way, dane } of this.#putOff.splice(0)) {
      const end = await this.#tryWay(way, dane);
      if (end !== null) return end;
    }
    return null;
  }

  /** The decision by the domain's policy, before any host is examined. */
  #noteSts({ sts, hosts, excluded }: DomainHosts): void {
    this.#sts = sts;
    this.#trace.mtaSts = sts === null ? null : stsMode(sts);
    if (sts?.kind === 'none' && sts.why !== null) this.#trace.happened('MTA-STS', describeSts(sts));
    this.#tell(faultyPolicy(sts));
    if (excluded === null) return;
    this.#skip(excluded);
    if (hosts.length === 0) this.#tell(refusedSession(null, excluded.reply.cause, sts));
  }

  #skip(refusal: DnsRefusal): void {
    this.#note(refusal);
    this.#trace.happened('SKIP', refusal.reply.text);
  }

  /** Null: nothing was accepted, and the next host may be tried. */
  async #tryHost(name: string, domain: DomainHosts): Promise<TransportResult | null> {
    const host = await this.#timed(() =>
      this.#means.finder.ready(name, domain, this.#resolver, this.#signal),
    );
    if (host.kind !== 'ready') {
      this.#skip(host);
      this.#tell(refusedSession(name, host.reply.cause, this.#sts));
      this.#cameToUs = host.reply.cause === 'mx_loop';
      return null;
    }
    this.#connected += 1;
    const { dane } = host.security;
    for (const way of waysTo(host, this.#means, this.#giveUp.signal)) {
      if (this.#means.unreachable.has(way.destination.address ?? '')) {
        this.#putOff.push({ way, dane });
        continue;
      }
      const end = await this.#tryWay(way, dane);
      if (end !== null) return end;
    }
    return null;
  }

  /** Null: nothing was accepted, and the next way may be tried. */
  async #tryWay(way: Way, dane: string | null): Promise<TransportResult | null> {
    const { host } = way.destination;
    if (this.#lacking.has(host)) return null;
    this.#trace.turnTo(host);
    this.#trace.dane = dane;
    try {
      const end = await this.#exchange.send(way, this.#pending.job, this.#trace, this.#signal);
      this.#tellOf(way, null);
      // The rest are recipients for whom the host lacks an extension and, after a failure (421, or a connection lost
      // before the message was mentioned), those that wait.
      if (!this.#pending.take(end.outcomes, end.hopFailed)) return this.#result(null, end.hopFailed);
      return this.#goOnAfter(end, host);
    } catch (error) {
      if (!(error instanceof HopFailure)) throw error;
      this.#tellOf(way, error);
      if (this.#isOver && !this.#stopped) return this.#end(TIME_OVER);
      const refusal = this.#job.tls === 'required' ? refusalForLackOfTls(error) : null;
      if (refusal !== null) return this.#skipUnsafe(refusal, host);
      if (NOT_CONNECTED.has(error.reply.cause)) this.#means.unreachable.note(way.destination.address ?? '');
      return this.#goOn(error.reply);
    }
  }

  /** The host is not safe enough for the message. Null to continue. */
  #skipUnsafe(refusal: Outcome, host: string): TransportResult | null {
    const outcomes = this.#pending.job.envelope.recipients.map(() => refusal);
    this.#pending.take(outcomes, false);
    return this.#goOnAfter({ outcomes, hopFailed: false }, host);
  }

  /** Tells of a session that was opened for this message, or could not be. */
  #tellOf({ destination }: Way, failure: HopFailure | null): void {
    // It was told of when it was opened; and nobody asks for a policy where none is held to, as for a report on TLS.
    if (this.#trace.reused || this.#sts === null || !this.#means.watch.isOn()) return;
    for (const session of tlsSessionsOf(destination, this.#sts, this.#trace, failure)) this.#tell(session);
  }

  #tell(session: TlsSession | null): void {
    const { watch } = this.#means;
    if (session !== null && watch.isOn()) watch.note(domainOf(this.#job), session);
  }

  /** Null to continue. */
  #goOnAfter(
    { outcomes, hopFailed }: Pick<TransactionEnd, 'outcomes' | 'hopFailed'>,
    host: string,
  ): TransportResult | null {
    const lacking = outcomes.find(isHopBound);
    if (lacking !== undefined) {
      this.#lacking.add(host);
      this.#trace.happened('SKIP', lacking.reply.text);
    }
    const waiting = hopFailed ? outcomes.find(({ kind }) => kind === 'deferred') : undefined;
    if (waiting !== undefined) return this.#goOn(waiting.reply);
    return this.#stopped ? this.#end(STOPPED) : null;
  }

  /** Null to continue. */
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

  get #isOver(): boolean {
    return this.#giveUp.signal.aborted;
  }

  #note(refusal: DnsRefusal): void {
    this.#keptBack ||= KEPT_BACK.has(refusal.reply.cause);
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

  /** No host accepted it. Null: each host asked lacks something. */
  #end(refusal: DnsRefusal | null): TransportResult {
    const hopFailed = refusal?.kind === 'deferred' && !this.#stopped;
    return this.#result(refusal, hopFailed);
  }

  #result(rest: DnsRefusal | null, hopFailed: boolean): TransportResult {
    return {
      outcomes: this.#pending.settled(rest),
      evidence: this.#trace.evidence(),
      hopFailed,
      restMs: null,
    };
  }
}

/** How long one attempt may open connections: each of 20 addresses may be slow at every answer. */
const MAX_OPENING_MS = 15 * 60_000;
const TIME_OVER = deferred(
  'timeout_opening',
  '4.4.1',
  `No server was ready for the message within ${MAX_OPENING_MS / 60_000} minutes`,
);

/**
 * How the hosts are chosen, one round after the other. With TLS optional, what the domain publishes is followed if that is
 * possible (RFC 8689 §4.2.2).
 */
const ROUNDS: Readonly<Record<TlsDemand | 'none' | 'report', readonly (TlsDemand | null)[]>> = {
  none: [null],
  required: ['required'],
  optional: [null, 'optional'],
  report: ['optional'],
};
/** Causes that mean a host that is not safe enough. */
const KEPT_BACK: ReadonlySet<string> = new Set([
  'tls_failed',
  'timeout_tls',
  'mta_sts_host',
  'dane_lookup_failed',
]);

/** Causes that mean an unreachable address. */
const NOT_CONNECTED: ReadonlySet<string> = new Set(['connect_refused', 'connect_failed', 'timeout_connect']);

/** All recipients of an attempt share a lane, and so a domain. */
function domainOf({ envelope }: TransportJob): string {
  const address = envelope.recipients[0]?.address ?? '';
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

/** The result when stopped before anything else was known. */
const STOPPED: Outcome & { readonly kind: 'deferred' } = { kind: 'deferred', reply: ABORTED };

/** Whether another host may accept what this one refused. */
function isHopBound(outcome: Outcome): boolean {
  return outcome.kind === 'rejected' && outcome.hopBound === true;
}

/** The recipients of a job over several hosts: which are settled, and which can still be tried. */
export class Pending {
  readonly #job: TransportJob;
  readonly #outcomes: (Outcome | null)[];
  /** The refusals of the last host that lacked something, for recipients that no other host accepts. */
  readonly #lacking: (Outcome | null)[];

  constructor(job: TransportJob) {
    this.#job = job;
    this.#outcomes = job.envelope.recipients.map(() => null);
    this.#lacking = job.envelope.recipients.map(() => null);
  }

  /** The job, reduced to the recipients that can still be tried. */
  get job(): TransportJob {
    if (this.#outcomes.every((outcome) => outcome === null)) return this.#job;
    const { envelope } = this.#job;
    const recipients = envelope.recipients.filter((_, index) => this.#outcomes[index] === null);
    return { ...this.#job, envelope: { ...envelope, recipients } };
  }

  /**
   * Takes the outcomes of a transaction. Recipients whom this host refused for lack of an extension, and with `more`
   * those that wait, stay unsettled for another host. True when some are left.
   */
  take(outcomes: readonly Outcome[], more: boolean): boolean {
    let next = 0;
    for (const [index, known] of this.#outcomes.entries()) {
      if (known !== null) continue;
      const outcome = outcomes[next++] ?? null;
      if (outcome !== null && isHopBound(outcome)) this.#lacking[index] = outcome;
      else if (outcome !== null && !(more && outcome.kind === 'deferred')) this.#outcomes[index] = outcome;
    }
    return this.#outcomes.includes(null);
  }

  /**
   * One outcome per recipient; `rest` applies to those left, unless some host lacked something for one of them and no
   * other may accept it later. Null: nothing else is known of any.
   */
  settled(rest: Outcome | null): Outcome[] {
    return this.#outcomes.map((outcome, index) => {
      const lacking = rest?.kind === 'deferred' ? null : (this.#lacking[index] ?? null);
      return outcome ?? lacking ?? rest ?? STOPPED;
    });
  }
}
