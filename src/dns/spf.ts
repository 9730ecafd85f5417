import { familyOf, sameNetwork } from '../lib/network.ts';
import { lookUpAddresses } from './hosts.ts';
import { isHostName, parseQueryName, type Resolver } from './resolver.ts';

/**
 * Evaluates a domain's SPF record for addresses (RFC 7208), as far as that is possible without a message: macros,
 * `exists` and `ptr` are unknown. The whole record is walked, so that its cost is known whatever matches first.
 */

/** RFC 7208 §4.6.4: a record with more look-ups is invalid. */
export const MAX_SPF_LOOKUPS = 10;
/** The same section: this many look-ups may have no result. */
export const MAX_SPF_VOIDS = 2;

/** After this many look-ups the walk stops: far more than any receiver would make. */
const GIVE_UP_AFTER = 30;
/** Hosts of an `mx` mechanism: with more, the record is invalid (RFC 7208 §4.6.4). */
export const MAX_SPF_HOSTS = 10;

/** A record and everything it refers to. */
export interface SpfWalk {
  readonly root: SpfNode;
  /** Look-ups of the whole record; counted up to a bound. */
  readonly lookups: number;
  /** Look-ups without a result. */
  readonly voids: number;
  /** Domains that are included, at any depth, in lower case. */
  readonly includes: ReadonlySet<string>;
  /** Domains of `mx` mechanisms with too many hosts. */
  readonly crowded: ReadonlySet<string>;
}

/** A domain's record. */
export interface SpfNode {
  readonly domain: string;
  /** What makes it unusable; null if nothing does. */
  readonly flaw: SpfFlaw | null;
  /** As in the DNS; empty without one. */
  readonly text: string;
  readonly terms: readonly SpfTerm[];
  readonly redirect: SpfNode | null;
  /** It redirects to a domain that depends on the message, or was no longer looked up. */
  readonly redirectUnknown: boolean;
}

/** `none`: there is no record. `many`: more than one. `malformed`: `detail` is the term. `unknown`: the DNS failed. */
export interface SpfFlaw {
  readonly kind: 'none' | 'many' | 'malformed' | 'unknown';
  readonly detail: string;
}

interface SpfTerm {
  readonly mechanism: SpfMechanism;
  /** For `include`. */
  readonly node: SpfNode | null;
  /** For `a` and `mx`. */
  readonly addresses: readonly string[];
  /** Its matches depend on the message, or are unknown. */
  readonly unknown: boolean;
  /** It invalidates the record when reached. */
  readonly isFlaw: boolean;
}

/** A record's verdict on an address; `unknown`: it depends on the message, or on missing DNS answers. */
export type SpfResult = 'pass' | 'fail' | 'softfail' | 'neutral' | 'none' | 'permerror' | 'unknown';

/** Looks up a domain's record and everything it refers to. Never rejects. */
export async function walkSpf(domain: string, resolver: Resolver, signal: AbortSignal): Promise<SpfWalk> {
  const walker = new Walker(resolver, signal);
  const root = await walker.node(domain);
  const { lookups, voids, includes, crowded } = walker;
  return { root, lookups, voids, includes, crowded };
}

/** A record's verdict on an address (RFC 7208 §4.6.2), ignoring the limits on look-ups. */
export function evaluateSpf(node: SpfNode, address: string): SpfResult {
  const { domain, flaw, terms, redirect, redirectUnknown } = node;
  if (flaw !== null) {
    if (flaw.kind === 'none') return 'none';
    return flaw.kind === 'unknown' ? 'unknown' : 'permerror';
  }
  let doubt = false;
  for (const term of terms) {
    const matches = matchOf(term, domain, address);
    if (matches === 'permerror') return doubt ? 'unknown' : 'permerror';
    if (matches === 'unknown') doubt = true;
    // A skipped term might have matched before.
    else if (matches)
      return doubt && term.mechanism.qualifier !== 'pass' ? 'unknown' : term.mechanism.qualifier;
  }
  if (doubt || redirectUnknown) return 'unknown';
  if (redirect === null) return 'neutral';
  const result = evaluateSpf(redirect, address);
  return result === 'none' ? 'permerror' : result;
}

function matchOf(term: SpfTerm, domain: string, address: string): boolean | 'unknown' | 'permerror' {
  const { mechanism, node, addresses, unknown, isFlaw } = term;
  if (isFlaw) return 'permerror';
  if (unknown) return 'unknown';
  const { ipv4, ipv6 } = mechanism.bits;
  switch (mechanism.name) {
    case 'all':
      return true;
    case 'ip4':
    case 'ip6': {
      const [network = '', bits] = mechanism.value.split('/');
      const width = network.includes(':') ? 128 : 32;
      return sameNetwork(network, address, bits === undefined ? width : Number(bits));
    }
    case 'include': {
      // A loop would lead back here; the walk has cut it.
      const result = node === null || node.domain === domain ? 'permerror' : evaluateSpf(node, address);
      if (result === 'none' || result === 'permerror') return 'permerror';
      return result === 'unknown' ? 'unknown' : result === 'pass';
    }
    default:
      return addresses.some((own) => sameNetwork(own, address, own.includes(':') ? ipv6 : ipv4));
  }
}

class Walker {
  lookups = 0;
  voids = 0;
  readonly includes = new Set<string>();
  readonly crowded = new Set<string>();
  readonly #resolver: Resolver;
  readonly #signal: AbortSignal;

  constructor(resolver: Resolver, signal: AbortSignal) {
    this.#resolver = resolver;
    this.#signal = signal;
  }

  async node(domain: string): Promise<SpfNode> {
    const flawed = (kind: SpfFlaw['kind'], detail: string, text = ''): SpfNode => ({
      domain,
      flaw: { kind, detail },
      text,
      terms: [],
      redirect: null,
      redirectUnknown: false,
    });
    const answer = await this.#resolver.resolve(domain, 'TXT', this.#signal);
    if (answer.kind === 'failed') return flawed('unknown', answer.text);
    const [text, ...others] = answer.kind === 'found' ? spfRecords(answer.records) : [];
    if (text === undefined) return flawed('none', '');
    if (others.length > 0) return flawed('many', String(others.length + 1), text);
    const read = parseSpf(text);
    if (!read.ok) return flawed('malformed', read.term, text);
    const terms: SpfTerm[] = [];
    for (const mechanism of read.record.mechanisms) terms.push(await this.#term(mechanism, domain));
    const { redirect } = read.record;
    // After `all` it is never reached (RFC 7208 §6.1).
    const goesOn = redirect !== null && !terms.some(({ mechanism }) => mechanism.name === 'all');
    const next = goesOn ? await this.#follow(redirect) : null;
    return { domain, flaw: null, text, terms, redirect: next, redirectUnknown: goesOn && next === null };
  }

  async #term(mechanism: SpfMechanism, domain: string): Promise<SpfTerm> {
    const plain: SpfTerm = { mechanism, node: null, addresses: [], unknown: false, isFlaw: false };
    const { name, value } = mechanism;
    if (name === 'all' || name === 'ip4' || name === 'ip6') return plain;
    if (name === 'include') {
      const node = await this.#follow(value);
      return { ...plain, node, unknown: node === null };
    }
    this.lookups += 1;
    const target = parseQueryName(value === '' ? domain : value);
    if (name === 'ptr' || name === 'exists' || hasMacro(value) || target === null || this.#tooMany())
      return { ...plain, unknown: true };
    const found = name === 'a' ? await this.#addressesOf([target]) : await this.#mxOf(target);
    if (name === 'mx' && this.crowded.has(target)) return { ...plain, isFlaw: true };
    if (found?.length === 0) this.voids += 1;
    return { ...plain, addresses: found ?? [], unknown: found === null };
  }

  /** The record of `include` or `redirect`; null if its domain is unknown. */
  async #follow(value: string): Promise<SpfNode | null> {
    this.lookups += 1;
    const domain = hasMacro(value) ? null : parseQueryName(value);
    if (domain === null || this.#tooMany()) return null;
    this.includes.add(domain);
    const node = await this.node(domain);
    if (node.flaw?.kind === 'none') this.voids += 1;
    return node;
  }

  async #mxOf(domain: string): Promise<readonly string[] | null> {
    const answer = await this.#resolver.resolve(domain, 'MX', this.#signal);
    if (answer.kind === 'failed') return null;
    const hosts = answer.kind === 'found' ? answer.records.map(({ exchange }) => exchange) : [];
    if (hosts.length > MAX_SPF_HOSTS) {
      this.crowded.add(domain);
      return null;
    }
    return await this.#addressesOf(hosts.filter((host) => host !== ''));
  }

  async #addressesOf(hosts: readonly string[]): Promise<readonly string[] | null> {
    const found = await Promise.all(
      hosts.map((host) => lookUpAddresses(this.#resolver, host, 'any', this.#signal)),
    );
    if (found.some(({ kind }) => kind === 'deferred')) return null;
    return found.flatMap((one) => (one.kind === 'addresses' ? one.addresses : []));
  }

  #tooMany(): boolean {
    return this.lookups > GIVE_UP_AFTER;
  }
}

// The grammar of SPF records (RFC 7208 §4.6, §5, §7): one invalid term anywhere invalidates the record.

/** The result of a matching mechanism. */
export type SpfQualifier = 'pass' | 'fail' | 'softfail' | 'neutral';

/** A mechanism, in the order of the record. */
export interface SpfMechanism {
  readonly qualifier: SpfQualifier;
  readonly name: 'all' | 'include' | 'a' | 'mx' | 'ptr' | 'ip4' | 'ip6' | 'exists';
  /** The domain or range after the colon; empty means the domain itself. May contain macros. */
  readonly value: string;
  /** Significant bits of an IPv4 and an IPv6 address, for `a` and `mx`; a range has its own in its value. */
  readonly bits: { readonly ipv4: number; readonly ipv6: number };
}

/** A record. */
export interface SpfRecord {
  readonly mechanisms: readonly SpfMechanism[];
  /** The domain to continue with if nothing matches; null if there is none. */
  readonly redirect: string | null;
}

/** A record, or its first invalid term. */
export type SpfReading =
  | { readonly ok: true; readonly record: SpfRecord }
  | { readonly ok: false; readonly term: string };

const MAX_TERMS = 200;
const QUALIFIERS: Readonly<Record<string, SpfQualifier>> = {
  '+': 'pass',
  '-': 'fail',
  '~': 'softfail',
  '?': 'neutral',
};
const MECHANISM =
  /^([-+~?]?)(all|include|a|mx|ptr|ip4|ip6|exists)(?::([!-~]+?))?((?:\/[0-9]{1,3})?(?:\/\/[0-9]{1,3})?)$/i;
const MODIFIER = /^([a-z][a-z0-9_.-]*)=([!-~]*)$/i;
/** Known modifiers, each allowed once (RFC 7208 §6). */
const KNOWN_MODIFIERS = ['redirect', 'exp'];
/** A number of bits has no leading zero (RFC 7208 §5.6). */
const BITS = /^(?:0|[1-9][0-9]{0,2})$/;
/** A macro (RFC 7208 §7.1); `c`, `r` and `t` are only for explanations, and a count is not 0. */
const DOMAIN_MACRO = /%(?:[%_-]|\{[slodiphv](?!0+[r.+,/_=}-])[0-9]*r?[.+,/_=-]*\})/gi;
const ANY_MACRO = /%(?:[%_-]|\{[slodiphcrtv](?!0+[r.+,/_=}-])[0-9]*r?[.+,/_=-]*\})/gi;
/** The last label of a name is not a number (RFC 7208 §7.1). */
const TOP_LABEL = /\.(?![0-9]+\.?$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.?$/i;
const ALL_BITS = { ipv4: 32, ipv6: 128 };
const NEEDS_VALUE = ['include', 'ip4', 'ip6', 'exists'];
const TAKES_BITS = ['a', 'mx', 'ip4', 'ip6'];

/** The TXT records that claim to be SPF records (RFC 7208 §4.5): of several none counts. */
export function spfRecords(records: readonly string[]): readonly string[] {
  return records.filter((text) => /^v=spf1(?: |$)/i.test(text));
}

/** Parses a record from {@link spfRecords}. Ignores unknown modifiers. */
export function parseSpf(text: string): SpfReading {
  const terms = text
    .split(' ')
    .filter((term) => term !== '')
    .slice(1);
  if (terms.length > MAX_TERMS) return { ok: false, term: `(more than ${MAX_TERMS} terms)` };
  const mechanisms: SpfMechanism[] = [];
  const modifiers = new Map<string, string>();
  for (const term of terms) {
    const mechanism = parseMechanism(term);
    if (mechanism !== null) mechanisms.push(mechanism);
    else if (!addModifier(term, modifiers)) return { ok: false, term };
  }
  return { ok: true, record: { mechanisms, redirect: modifiers.get('redirect') ?? null } };
}

/** Records a known modifier; false if the term is invalid, or repeats one. */
function addModifier(term: string, modifiers: Map<string, string>): boolean {
  const [, written = '', value = ''] = MODIFIER.exec(term) ?? [];
  const name = written.toLowerCase();
  if (!KNOWN_MODIFIERS.includes(name)) return name !== '' && !value.replace(ANY_MACRO, '').includes('%');
  if (modifiers.has(name) || !isDomainSpec(value)) return false;
  modifiers.set(name, value);
  return true;
}

/** A name of two labels or more, or one that results from macros (RFC 7208 §7.1). */
function isDomainSpec(text: string): boolean {
  if (!hasMacro(text)) {
    const name = parseQueryName(text);
    return name !== null && isHostName(name) && TOP_LABEL.test(text);
  }
  const rest = text.replace(DOMAIN_MACRO, '%');
  if (rest.replaceAll('%', '').length !== rest.length - (text.match(DOMAIN_MACRO) ?? []).length) return false;
  return rest.endsWith('%') || TOP_LABEL.test(rest);
}

/** Whether a term has macros, which depend on the message (RFC 7208 §7). */
function hasMacro(value: string): boolean {
  return value.includes('%');
}

function parseMechanism(term: string): SpfMechanism | null {
  const [, sign = '', written = '', rest = '', length = ''] = MECHANISM.exec(term) ?? [];
  const name = NAMES.find((known) => known === written.toLowerCase());
  if (name === undefined) return null;
  const [, four, six] = /^(?:\/([0-9]+))?(?:\/\/([0-9]+))?$/.exec(length) ?? [];
  if (rest === '' ? NEEDS_VALUE.includes(name) : name === 'all') return null;
  if (length !== '' && !TAKES_BITS.includes(name)) return null;
  if (![four, six].every((digits) => digits === undefined || BITS.test(digits))) return null;
  const qualifier = QUALIFIERS[sign] ?? 'pass';
  const bits = { ipv4: Number(four ?? ALL_BITS.ipv4), ipv6: Number(six ?? ALL_BITS.ipv6) };
  if (name === 'ip4' || name === 'ip6') {
    const isOfFamily = familyOf(rest) === (name === 'ip4' ? 4 : 6) && !rest.includes('%');
    const isLength = six === undefined && Number(four ?? 0) <= (name === 'ip4' ? 32 : 128);
    return isOfFamily && isLength ? { qualifier, name, value: rest + length, bits: ALL_BITS } : null;
  }
  if (bits.ipv4 > 32 || bits.ipv6 > 128 || (rest !== '' && !isDomainSpec(rest))) return null;
  return { qualifier, name, value: rest, bits };
}

const NAMES = ['all', 'include', 'a', 'mx', 'ptr', 'ip4', 'ip6', 'exists'] as const;
