import { MtaStsPolicies } from '../../src/dns/mta-sts.ts';
import type { DnsAnswer, RecordType, Resolver } from '../../src/dns/resolver.ts';
import type { Outcome, Reply } from '../../src/domain/outcome.ts';
import type { Relay } from '../../src/domain/relay.ts';
import type { Random } from '../../src/lib/random.ts';
import { abortSignalOf } from '../../src/lib/stop.ts';
import { HostFinder } from '../../src/transport/mx/hosts.ts';
import { Pending } from '../../src/transport/mx/mx.ts';
import { SourceAddresses } from '../../src/transport/smtp/dial.ts';
import { ABORTED, HopFailure } from '../../src/transport/smtp/failure.ts';
import type { Transport, TransportJob, TransportResult } from '../../src/transport/transport.ts';
import type { DnsScript } from '../support/scripted-resolver.ts';
import { found, nothing } from '../support/scripted-resolver.ts';
import { type NextHop, resultOf } from './next-hop.ts';
import type { Kind } from './seen.ts';
import type { NodeLife } from './virtual-clock.ts';

/** How ill the DNS is: chances in [0, 1], of every question. */
export interface DnsFaults {
  readonly servfail: number;
  readonly nxdomain: number;
  readonly timeout: number;
}

/** A DNS without trouble. */
export const DNS_HEALTHY: DnsFaults = { servfail: 0, nxdomain: 0, timeout: 0 };

const ANSWER_MS = 40;
const TIMEOUT_MS = 15_000;

/** The domains that are in the DNS of simulated worlds, and the hosts that take their mail: two, one, and itself. */
export const MAIL_HOSTS = {
  'two.example': ['mx1.two.example', 'mx2.two.example'],
  'one.example': ['mx.one.example'],
  'self.example': ['self.example'],
} as const;
/** Their names. */
export const DIRECT_DOMAINS: readonly string[] = Object.keys(MAIL_HOSTS);
/** Another one, which takes no mail (RFC 7505). */
export const NO_MAIL_DOMAIN = 'nomail.example';

const ZONE: DnsScript = {
  'MX two.example': mailTo('two.example'),
  'A mx1.two.example': found<'A'>(['10.0.0.1']),
  'A mx2.two.example': found<'A'>(['10.0.0.2', '10.0.0.3']),
  'MX one.example': mailTo('one.example'),
  'A mx.one.example': found<'A'>(['10.0.1.1']),
  'MX self.example': nothing('nodata'),
  'A self.example': found<'A'>(['10.0.2.1']),
  'MX nomail.example': found<'MX'>([{ preference: 0, exchange: '' }]),
};

function mailTo(domain: keyof typeof MAIL_HOSTS) {
  return found<'MX'>(
    MAIL_HOSTS[domain].map((exchange, place) => ({ preference: 10 * (place + 1), exchange })),
  );
}

/** The DNS as one node sees it: answers take time, and some do not come. */
class SimulatedDns implements Resolver {
  readonly #faults: () => DnsFaults;
  readonly #life: NodeLife;
  readonly #dice: Random;
  readonly #note: (kind: Kind) => void;
  readonly #nowhere: (name: string) => void;
  readonly #unsigned: (name: string) => void;

  constructor(parts: DomainsParts) {
    this.#faults = parts.dnsFaults;
    this.#life = parts.life;
    this.#dice = parts.random;
    this.#note = parts.note;
    this.#nowhere = (name) => parts.hop.books.nowhere(name);
    this.#unsigned = (name) => parts.hop.books.unsigned(name);
  }

  async resolve<T extends RecordType>(name: string, type: T, signal: AbortSignal): Promise<DnsAnswer<T>> {
    const { servfail, nxdomain, timeout } = this.#faults();
    const roll = this.#dice.next();
    const isLost = roll < timeout;
    await this.#life.sleep(isLost ? TIMEOUT_MS : 1 + this.#dice.next() * ANSWER_MS, signal);
    if (isLost || signal.aborted) {
      if (isLost) this.#note('DNS time-out');
      return { kind: 'failed', cause: 'dns_timeout', text: 'no answer in time' };
    }
    if (roll < timeout + servfail) {
      this.#note('DNS SERVFAIL');
      return { kind: 'failed', cause: 'dns_servfail', text: 'could not find out (SERVFAIL)' };
    }
    if (roll < timeout + servfail + nxdomain) {
      this.#note('DNS NXDOMAIN');
      this.#nowhere(name);
      return nothing('nxdomain');
    }
    const answer = ZONE[`${type} ${name}`] ?? nothing('nodata');
    if (name === NO_MAIL_DOMAIN) this.#nowhere(name);
    // Nothing in this DNS is signed: it vouches for no host, as RFC 8689 §4.2.1 demands of it.
    if (type === 'MX') this.#unsigned(name);
    // The zone's author wrote the type beside the data.
    return answer as DnsAnswer<T>;
  }
}

/** What delivering to domains needs. */
export interface DomainsParts {
  readonly hop: NextHop;
  readonly life: NodeLife;
  readonly random: Random;
  /** Of type `mx`. */
  readonly relay: Relay;
  readonly dnsFaults: () => DnsFaults;
  readonly note: (kind: Kind) => void;
}

/**
 * The world behind an `mx` relay, as one node sees it. Hosts are found and chosen by the real code from what the DNS says;
 * they are tried in turn as the real transport does, each in a simulated session.
 */
export function domainsTransport(parts: DomainsParts): Transport {
  const { hop, life, random, relay } = parts;
  if (relay.mx === null) throw new Error(`relay ${relay.name} is not of type mx`);
  const policies = new MtaStsPolicies({
    clock: life,
    fetch: async () => ({ kind: 'failed', text: 'there are none' }),
  });
  const finder = new HostFinder({
    settings: relay.mx,
    policies,
    random,
    sources: new SourceAddresses(relay.mx),
    ownNames: ['relay.example'],
    isOwn: () => false,
  });
  const resolver = new SimulatedDns(parts);
  return {
    deliver: (job, stop) =>
      hop.conversing(relay.name, life, job, () =>
        overHosts(parts, finder, resolver, job, abortSignalOf(stop)),
      ),
    connections: () => 0,
    close: async () => {},
  };
}

async function overHosts(
  { hop, life, relay }: DomainsParts,
  finder: HostFinder,
  resolver: Resolver,
  job: TransportJob,
  signal: AbortSignal,
): Promise<TransportResult> {
  const isStopped = () => signal.aborted || job.refused.aborted;
  const pending = new Pending(job);
  const end = (why: Outcome | null): TransportResult =>
    resultOf({ outcomes: pending.settled(why), hopFailed: why?.kind === 'deferred' && !isStopped() });
  const domain = job.envelope.recipients[0]?.address.replace(/^.*@/, '') ?? '';
  const hosts = await finder.hostsOf(domain, resolver, signal, job.tls);
  if (hosts.kind !== 'domain') return end(hosts);
  let why: Outcome | null = hosts.excluded;
  const note = (refusal: Outcome) => {
    if (refusal.kind === 'deferred' || why?.kind !== 'deferred') why = refusal;
  };
  for (const { name } of hosts.hosts) {
    if (isStopped()) return end({ kind: 'deferred', reply: ABORTED });
    const host = await finder.ready(name, hosts, resolver, signal);
    if (host.kind !== 'ready') {
      note(host);
      continue;
    }
    for (const _address of host.addresses) {
      const reply = await tryAddress(hop, life, relay.name, pending, signal);
      if (typeof reply === 'boolean') return resultOf({ outcomes: pending.settled(null), hopFailed: reply });
      note({ kind: 'deferred', reply });
      if (isStopped()) return end(why);
    }
  }
  return end(why);
}

/** Why the next one may be tried; or, when all is decided, whether the hop failed. */
async function tryAddress(
  hop: NextHop,
  life: NodeLife,
  relay: string,
  pending: Pending,
  signal: AbortSignal,
): Promise<Reply | boolean> {
  try {
    const { outcomes, hopFailed } = await hop.session(life, relay, pending.job, signal);
    if (!pending.take(outcomes, hopFailed)) return hopFailed;
    return outcomes.find(({ kind }) => kind === 'deferred')?.reply ?? hopFailed;
  } catch (error) {
    if (!(error instanceof HopFailure)) throw error;
    return error.reply;
  }
}
