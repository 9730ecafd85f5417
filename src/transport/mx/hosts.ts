/** Finds the hosts that accept a domain's mail, one after another. */
import { isIPv6 } from 'node:net';
import {
  FAMILY_NAMES,
  type HostAddresses,
  lookUpAddresses,
  type MxHosts,
  selectHosts,
} from '../../dns/hosts.ts';
import type { MtaStsPolicies, MtaStsVerdict } from '../../dns/mta-sts.ts';
import {
  type DnsAnswer,
  type DnsRefusal,
  deferred,
  type RecordData,
  type RecordType,
  type Resolver,
  rejected,
} from '../../dns/resolver.ts';
import type { TlsDemand } from '../../domain/message.ts';
import type { MxSettings } from '../../domain/relay.ts';
import { isPublicAddress } from '../../lib/network.ts';
import type { Random } from '../../lib/random.ts';
import type { SourceAddresses } from '../smtp/dial.ts';
import type { Trace } from '../smtp/trace.ts';
import { byName, decideSecurity, type HostSecurity, VERIFIED } from './security.ts';

interface HostFinderParts {
  readonly settings: MxSettings;
  readonly policies: MtaStsPolicies;
  readonly random: Random;
  readonly sources: SourceAddresses;
  /** Names of this server, lower case. */
  readonly ownNames: readonly string[];
  /** Whether connecting there would reach this very server. */
  readonly isOwn: (address: string, port: number) => boolean;
}

/** What is known of a domain before any of its hosts is examined. */
export interface DomainHosts {
  readonly kind: 'domain';
  readonly domain: string;
  /** In the order in which they are tried. None where all are `excluded`. */
  readonly hosts: MxHosts['hosts'];
  /** Why other hosts were excluded. */
  readonly excluded: DnsRefusal | null;
  /** Set for an address literal, which needs no DNS. */
  readonly literal: string | null;
  readonly mxAuthenticated: boolean;
  /** Null where it does not apply. */
  readonly sts: MtaStsVerdict | null;
  /** The message demands TLS all the way (RFC 8689). */
  readonly requireTls: boolean;
}

/** A host that may be connected to, and how. */
export interface ReadyHost {
  readonly kind: 'ready';
  readonly name: string;
  /** At least one, in the order in which they are tried. */
  readonly addresses: readonly string[];
  readonly security: HostSecurity;
}

/** The most hosts of a domain to connect to in one attempt. */
export const MAX_HOSTS = 5;
/** The most hosts to look up, if some turn out to be unusable. */
export const MAX_LOOKED_UP = 20;
/** The most addresses of one host to try in one attempt. */
const MAX_ADDRESSES = 4;
const LITERAL = /^\[(?:IPv6:)?(.+)\]$/i;

/** Finds hosts. Caches nothing: resolver and policies do. */
export class HostFinder {
  readonly #parts: HostFinderParts;

  constructor(parts: HostFinderParts) {
    this.#parts = parts;
  }

  /** The hosts of a domain for a message that demands this, or why there are none. `optional`: whatever the domain says. */
  async hostsOf(
    domain: string,
    resolver: Resolver,
    signal: AbortSignal,
    demand: TlsDemand | null = null,
  ): Promise<DomainHosts | DnsRefusal> {
    const { policies, random, ownNames } = this.#parts;
    const literal = LITERAL.exec(domain)?.[1] ?? null;
    const requireTls = demand === 'required';
    if (literal !== null) {
      const hosts = [{ name: domain, preference: 0 }];
      const none = { excluded: null, sts: null, requireTls };
      return { kind: 'domain', domain, hosts, literal, mxAuthenticated: false, ...none };
    }
    const answer = await resolver.resolve(domain, 'MX', signal);
    const selected = selectHosts(answer, { domain, ownNames, dice: () => random.next() });
    if (selected.kind !== 'hosts') return selected;
    const { hosts, authenticated: mxAuthenticated } = selected;
    const found = { kind: 'domain', domain, hosts, literal, mxAuthenticated, requireTls } as const;
    if (demand === 'optional') return { ...found, excluded: null, sts: null };
    const sts = await policies.policyFor(domain, resolver, signal);
    const named = byName(hosts, { domain, mxAuthenticated, sts });
    return { ...found, ...named, sts };
  }

  /** A host's addresses and required security, or why it may not be used. */
  async ready(
    host: string,
    domain: DomainHosts,
    resolver: Resolver,
    signal: AbortSignal,
  ): Promise<ReadyHost | DnsRefusal> {
    const { settings, sources } = this.#parts;
    const found =
      domain.literal === null
        ? await lookUpAddresses(resolver, host, sources.family, signal)
        : literalAddresses(domain.literal, sources.family);
    if (found.kind !== 'addresses') return found;
    const allowed = this.#allowed(host, found, domain.literal !== null);
    if ('reply' in allowed) return allowed;
    const addresses = allowed.slice(0, MAX_ADDRESSES);
    const { port, tls } = settings;
    if (domain.sts === null) {
      const own = domain.requireTls ? VERIFIED : plain(tls);
      const way = domain.literal === null ? own : { ...own, serverName: domain.literal };
      return { kind: 'ready', name: host, addresses, security: { kind: 'secured', way, dane: null } };
    }
    const { domain: name, mxAuthenticated, sts, requireTls } = domain;
    const question = { domain: name, host, port, addresses: found, mxAuthenticated, sts, tls, requireTls };
    const security = await decideSecurity(question, resolver, signal);
    return security.kind === 'secured' ? { kind: 'ready', name: host, addresses, security } : security;
  }

  /** The addresses that we may connect to: public ones, unless configured otherwise, and not our own. */
  #allowed(host: string, { addresses }: HostAddresses, literal: boolean): readonly string[] | DnsRefusal {
    const { settings, isOwn } = this.#parts;
    if (addresses.some((address) => isOwn(address, settings.port)))
      return rejected('mx_loop', '5.4.6', `${host} is this server itself`);
    const allowed = settings.allowPrivate ? addresses : addresses.filter(isPublicAddress);
    if (allowed.length > 0) return allowed;
    const text = `${host} has no public address (${addresses.join(', ')}); the relay's allow_private would allow others`;
    // The owner may correct a DNS record before the mail expires; nobody corrects what the sender wrote.
    return literal ? rejected('private_address', '5.4.4', text) : deferred('private_address', '4.4.4', text);
  }
}

function plain(tls: 'opportunistic' | 'required'): HostSecurity['way'] {
  return { tls, trust: { kind: 'any' } };
}

/** The sender chose the address, the operator the address family for outgoing mail. */
function literalAddresses(address: string, family: SourceAddresses['family']): HostAddresses | DnsRefusal {
  const own = isIPv6(address) ? 'ipv6' : 'ipv4';
  if (family !== 'any' && family !== own)
    return rejected('dns_no_address', '5.4.4', `${address} is not an ${FAMILY_NAMES[family]} address`);
  return { kind: 'addresses', addresses: [address], canonicalName: address, authenticated: false };
}

/** Records of one answer to keep, and characters of each. */
const MAX_ANSWERS = 8;
const MAX_ANSWER_TEXT = 200;

/** Asks `resolver`, and records questions and answers in `trace`. */
export function recording(resolver: Resolver, trace: Trace): Resolver {
  return {
    async resolve(name, type, signal) {
      const answer = await resolver.resolve(name, type, signal);
      const authenticated = answer.kind !== 'failed' && answer.authenticated;
      trace.asked({ name, type, result: resultOf(answer), answers: answersOf(answer), authenticated });
      return answer;
    },
  };
}

/** One line on an answer, for people. */
export function describeAnswer(answer: DnsAnswer<RecordType>): string {
  return answer.kind === 'found' ? answersOf(answer).join(', ') : resultOf(answer);
}

function resultOf(answer: DnsAnswer<RecordType>): string {
  return answer.kind === 'failed' ? answer.cause : answer.kind;
}

function answersOf(answer: DnsAnswer<RecordType>): string[] {
  if (answer.kind !== 'found') return [];
  const shown = answer.records
    .slice(0, MAX_ANSWERS)
    .map((record) => textOf(record).slice(0, MAX_ANSWER_TEXT));
  const left = answer.records.length - shown.length;
  return left > 0 ? [...shown, `and ${left} more`] : shown;
}

function textOf(record: RecordData[RecordType]): string {
  if (typeof record === 'string') return record;
  if ('exchange' in record) return `${record.preference} ${record.exchange === '' ? '.' : record.exchange}`;
  return `${record.usage} ${record.selector} ${record.matchingType} ${record.data}`;
}
