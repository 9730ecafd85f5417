import { isFullName, serverName } from '../../config/names.ts';
import { lookUpAddresses } from '../../dns/hosts.ts';
import {
  evaluateSpf,
  MAX_SPF_HOSTS,
  MAX_SPF_LOOKUPS,
  MAX_SPF_VOIDS,
  parseSpf,
  type SpfNode,
  type SpfWalk,
  walkSpf,
} from '../../dns/spf.ts';
import type { Finding } from '../../operations/system.ts';
import { fail, ok, skipped, warn } from '../doctor/finding.ts';
import { isInside } from '../doctor/ranges.ts';
import {
  addressMechanism,
  mechanismsOf,
  publish,
  type Senders,
  sendersOf,
  spfSuggestion,
  zoneLine,
} from '../domain-records.ts';
import type { DomainCheck, Inquiry } from './inquiry.ts';

/** A corrected SPF record for one with faults, and what those faults are. */

/** A record that another one refers to, and that has no effect. */
interface DeadEnd {
  /** The term that leads there, in the domain's own record: `include` or `redirect`, and a domain. */
  readonly by: { readonly name: 'include' | 'redirect'; readonly domain: string };
  /** The record's domain: that one, or one it refers to in turn. */
  readonly domain: string;
  /** A clause such as `it has no SPF record`. */
  readonly why: string;
}

/** Deeper than any record may lead (RFC 7208 §4.6.4). */
const MAX_DEPTH = 10;

/** The targets of a record that make it ineffective (RFC 7208 §5.2, §6.1); one per term of its own. */
function deadEnds(root: SpfNode): readonly DeadEnd[] {
  const { domain, redirect } = root;
  const included = reached(root).flatMap(({ mechanism, node }) =>
    mechanism.name === 'include' && node !== null ? [{ name: 'include' as const, node }] : [],
  );
  const all = redirect === null ? included : [...included, { name: 'redirect' as const, node: redirect }];
  return all.flatMap(({ name, node }) => {
    const dead = cureDeadEnd(node, [domain]);
    return dead === null ? [] : [{ by: { name, domain: node.domain }, ...dead }];
  });
}

/** The first faulty record, starting here. */
function cureDeadEnd(node: SpfNode, way: readonly string[]): Pick<DeadEnd, 'domain' | 'why'> | null {
  const { domain } = node;
  if (way.includes(domain) || way.length > MAX_DEPTH) return { domain, why: 'that leads in a circle' };
  switch (node.flaw?.kind) {
    case 'none':
      return { domain, why: 'it has no SPF record' };
    case 'many':
      return { domain, why: `it has ${node.flaw.detail} SPF records` };
    case 'malformed':
      return { domain, why: `its record has an invalid term, ${node.flaw.detail}` };
    case 'unknown':
      return null;
    case undefined: {
      const next = [...reached(node).map((term) => term.node), node.redirect];
      for (const one of next) {
        const dead = one === null ? null : cureDeadEnd(one, [...way, domain]);
        if (dead !== null) return dead;
      }
      return null;
    }
  }
}

/** The terms up to `all`: anything later is ignored (RFC 7208 §5.1). */
function reached({ terms }: SpfNode): SpfNode['terms'] {
  const end = terms.findIndex(({ mechanism }) => mechanism.name === 'all');
  return end < 0 ? terms : terms.slice(0, end);
}

/** Names in a record's own terms that were looked up without a result. */
function emptyNames({ domain, terms }: SpfNode): readonly string[] {
  return terms.flatMap(({ mechanism: { name, value }, addresses, unknown }) =>
    (name === 'a' || name === 'mx') && !unknown && addresses.length === 0
      ? [`${name}:${value === '' ? domain : value}`]
      : [],
  );
}

/**
 * A corrected record: its terms, each once, with `additions` first, where nothing can end evaluation earlier; without
 * invalid terms and those that lead to `dead` ends; and ending in softfail if it allowed everybody.
 */
function mended(text: string, additions: readonly string[], dead: readonly DeadEnd[]): string {
  const [, ...terms] = text.split(' ').filter((term) => term !== '');
  const isDead = (term: string) => dead.some(({ by }) => leadsTo(term, by));
  const kept = terms.filter((term) => parseSpf(`v=spf1 ${term}`).ok && !isDead(term)).map(closed);
  const ends = kept.some((term) => /^(?:[-~?]?all|redirect=.*)$/i.test(term));
  return ['v=spf1', ...onlyOnce([...additions, ...kept]), ...(ends ? [] : ['~all'])].join(' ');
}

function leadsTo(term: string, { name, domain }: DeadEnd['by']): boolean {
  const [, way = '', value = ''] = /^[-+~?]?(include|redirect)[:=](.*?)\.?$/i.exec(term) ?? [];
  return way.toLowerCase() === name && value.toLowerCase() === domain.toLowerCase();
}

function closed(term: string): string {
  return /^\+?all$/i.test(term) ? '~all' : term;
}

/** Each term once, and at most one `redirect` and one `exp` (RFC 7208 §6). */
function onlyOnce(terms: readonly string[]): readonly string[] {
  const key = (term: string) =>
    /^(?:redirect|exp)(?==)/i.exec(term)?.[0].toLowerCase() ?? term.toLowerCase().replace(/^\+/, '');
  const keys = terms.map(key);
  return terms.filter((_, at) => keys.indexOf(key(terms[at] ?? '')) === at);
}

const NAME = 'SPF';

/** Whether the domain's SPF record allows the mail sent for it here (RFC 7208). */
export const spfCheck: DomainCheck = async (inquiry, signal) => {
  const { domain, resolver, config, ownAddresses } = inquiry;
  const senders = await withPublicAddresses(sendersOf(config, ownAddresses), inquiry, signal);
  const walk = await walkSpf(domain.name, resolver, signal);
  const flaw = flawOf(walk.root, inquiry, senders);
  if (flaw !== null) return [flaw];
  const dead = deadEnds(walk.root);
  const { problems, additions } = missing(walk, senders);
  const all = [...dead.map(deadEnd), ...costs(walk, domain.name), ...open(walk.root), ...problems];
  const record = zoneLine(domain.name, mended(walk.root.text, additions, dead));
  return all.length > 0 ? cured(all, record) : [allIsWell(walk, senders)];
};

/** A fault, and its cure; null if the suggested record cures it. */
interface Problem {
  readonly tell: typeof warn;
  readonly found: string;
  readonly cure: string | null;
}

/** One record cures everything that a record can: it is printed once. */
function cured(problems: readonly Problem[], record: string): readonly Finding[] {
  const first = problems.findIndex(({ cure }) => cure === null);
  const whole = publish(record, 'publish, in place of the present record');
  return problems.map(({ tell, found, cure }, at) =>
    tell(NAME, found, cure ?? (at === first ? whole : 'the same record as above')),
  );
}

/** Behind NAT the machine does not know its public address; its name should point there. */
export async function withPublicAddresses(
  senders: Senders,
  { config, resolver }: Pick<Inquiry, 'config' | 'resolver'>,
  signal: AbortSignal,
): Promise<Senders> {
  const host = serverName(config);
  if (!senders.unknownAddresses || !isFullName(host)) return senders;
  const found = await lookUpAddresses(resolver, host, 'any', signal);
  const addresses = found.kind === 'addresses' ? found.addresses.filter((address) => !isInside(address)) : [];
  return { ...senders, addresses, unknownAddresses: addresses.length === 0 };
}

function flawOf({ flaw, domain, text }: SpfNode, { config }: Inquiry, senders: Senders): Finding | null {
  const whole = publish(zoneLine(domain, spfSuggestion(config, senders.addresses)));
  switch (flaw?.kind) {
    case undefined:
      return null;
    case 'unknown':
      return skipped(NAME, `The record is unknown: ${flaw.detail}`);
    case 'none':
      return fail(
        NAME,
        'There is no record: nobody can distinguish your mail from forged mail by its address.',
        whole,
      );
    case 'many':
      return fail(
        NAME,
        `There are ${flaw.detail} records, so none of them counts.`,
        `keep one, with everything from the others; for mail sent from here, ${whole}`,
      );
    case 'malformed':
      return fail(
        NAME,
        `The record has an invalid term, ${flaw.detail}, and so has no effect.`,
        publish(
          zoneLine(domain, mended(text, mechanismsOf(senders), [])),
          `correct ${flaw.detail}; without it, and for mail sent from here, publish`,
        ),
      );
  }
}

function deadEnd({ by, domain, why }: DeadEnd): Problem {
  const place = by.domain === domain ? why : `that leads to ${domain}: ${why}`;
  return {
    tell: fail,
    found: `The record has ${by.name} of ${by.domain}, and ${place}. The result is permerror unless an earlier term matches.`,
    cure: null,
  };
}

function costs({ root, lookups, voids, crowded }: SpfWalk, domain: string): readonly Problem[] {
  const [host] = crowded;
  if (host !== undefined)
    return [
      {
        tell: fail,
        found: `${host} has more than ${MAX_SPF_HOSTS} mail hosts: the mx in the record makes it invalid.`,
        cure: 'write ip4: and ip6: instead of the mx',
      },
    ];
  if (lookups > MAX_SPF_LOOKUPS)
    return [
      {
        tell: fail,
        found: `The record makes receivers query the DNS ${lookups} times or more; beyond ${MAX_SPF_LOOKUPS} it is invalid.`,
        cure: `remove includes of ${domain} that send no mail, or write ip4: and ip6: instead of a, mx and include`,
      },
    ];
  if (voids > MAX_SPF_VOIDS) {
    const names = emptyNames(root);
    const which = names.length > 0 ? ` (${names.join(', ')})` : '';
    return [
      {
        tell: warn,
        found: `${voids} of the names in the record have no answer${which}; beyond ${MAX_SPF_VOIDS} some receivers treat it as invalid.`,
        cure: `remove names that no longer exist from the record of ${domain}`,
      },
    ];
  }
  return [];
}

function open({ terms }: SpfNode): readonly Problem[] {
  const all = terms.find(({ mechanism }) => mechanism.name === 'all');
  if (all?.mechanism.qualifier !== 'pass') return [];
  return [{ tell: fail, found: 'The record lets everybody send for the domain (+all).', cure: null }];
}

/** Senders that the record does not allow, and the terms it needs for them. */
function missing({ root, includes }: SpfWalk, senders: Senders) {
  const results = senders.addresses.map((address) => ({ address, result: evaluateSpf(root, address) }));
  const refused = results.filter(({ result }) => result !== 'pass' && result !== 'unknown');
  const absent = senders.includes.filter((one) => !includes.has(one.domain));
  const problems: readonly Problem[] = [
    ...refused.map(({ address, result }) => ({
      tell: fail,
      found: `The record does not allow ${address}, from which mail is sent: the result is ${result}.`,
      cure: null,
    })),
    ...absent.map((one) => ({
      tell: warn,
      found: `The record does not include ${one.domain}, through which the relay ${one.relay} sends: if the provider uses an address of this domain as envelope sender, its mail fails.`,
      cure: null,
    })),
  ];
  const additions = [
    ...refused.map(({ address }) => addressMechanism(address)),
    ...absent.map((one) => `include:${one.domain}`),
  ];
  return { problems, additions };
}

function allIsWell(
  { root, lookups }: SpfWalk,
  { addresses, includes, strangers, unknownAddresses }: Senders,
): Finding {
  const unsure = addresses.filter((address) => evaluateSpf(root, address) === 'unknown');
  const sure = addresses.filter((address) => !unsure.includes(address));
  const allowed = [...sure, ...includes.map(({ domain }) => domain)];
  const sentences = [
    allowed.length > 0
      ? `It allows ${allowed.join(', ')}; ${lookups} of ${MAX_SPF_LOOKUPS} queries.`
      : 'There is one record.',
    ...(unsure.length > 0
      ? [`Whether it allows ${unsure.join(', ')} depends on the message, or is unknown.`]
      : []),
    ...strangers.map(({ host }) => `Ask the operator of ${host} what it must contain for that host.`),
    ...(unknownAddresses ? ['It is unknown which public address mail is sent from.'] : []),
  ];
  return ok(NAME, sentences.join(' '));
}
