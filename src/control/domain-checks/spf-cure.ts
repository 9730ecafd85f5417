/** The SPF record to publish in the place of one with faults, and what those faults are. */

import type { SpfNode } from '../../dns/spf.ts';
import { parseSpf } from '../../dns/spf.ts';

/** A record that another one leads to, and that counts for nothing. */
export interface DeadEnd {
  /** What leads there, as in the domain's own record: `include` or `redirect`, and a domain. */
  readonly by: { readonly name: 'include' | 'redirect'; readonly domain: string };
  /** Whose record it is: that domain's, or one it leads to in turn. */
  readonly domain: string;
  /** A clause such as `it has no SPF record`. */
  readonly why: string;
}

/** Deeper than any record may lead (RFC 7208 §4.6.4). */
const MAX_DEPTH = 10;

/** What a record leads to that makes it count for nothing (RFC 7208 §5.2, §6.1); each of its own terms is told once. */
export function deadEnds(root: SpfNode): readonly DeadEnd[] {
  const { domain, redirect } = root;
  const included = reached(root).flatMap(({ mechanism, node }) =>
    mechanism.name === 'include' && node !== null ? [{ name: 'include' as const, node }] : [],
  );
  const all = redirect === null ? included : [...included, { name: 'redirect' as const, node: redirect }];
  return all.flatMap(({ name, node }) => {
    const dead = deadEnd(node, [domain]);
    return dead === null ? [] : [{ by: { name, domain: node.domain }, ...dead }];
  });
}

/** The first record with a fault, from this one on. */
function deadEnd(node: SpfNode, way: readonly string[]): Pick<DeadEnd, 'domain' | 'why'> | null {
  const { domain } = node;
  if (way.includes(domain) || way.length > MAX_DEPTH) return { domain, why: 'that leads in a circle' };
  switch (node.flaw?.kind) {
    case 'none':
      return { domain, why: 'it has no SPF record' };
    case 'many':
      return { domain, why: `it has ${node.flaw.detail} SPF records` };
    case 'malformed':
      return { domain, why: `its record has a term that is none, ${node.flaw.detail}` };
    case 'unknown':
      return null;
    case undefined: {
      const next = [...reached(node).map((term) => term.node), node.redirect];
      for (const one of next) {
        const dead = one === null ? null : deadEnd(one, [...way, domain]);
        if (dead !== null) return dead;
      }
      return null;
    }
  }
}

/** The terms up to `all`: what follows is never looked at (RFC 7208 §5.1). */
function reached({ terms }: SpfNode): SpfNode['terms'] {
  const end = terms.findIndex(({ mechanism }) => mechanism.name === 'all');
  return end < 0 ? terms : terms.slice(0, end);
}

/** Names in a record's own terms that were asked for, and have no answer. */
export function emptyNames({ domain, terms }: SpfNode): readonly string[] {
  return terms.flatMap(({ mechanism: { name, value }, addresses, unknown }) =>
    (name === 'a' || name === 'mx') && !unknown && addresses.length === 0
      ? [`${name}:${value === '' ? domain : value}`]
      : [],
  );
}

/**
 * A record without faults: what is there, each term once, with `additions` before all others, where nothing can end it
 * earlier; without what is no term and what leads to `dead` ends; and with a doubt about all others where it let
 * everybody through.
 */
export function mended(text: string, additions: readonly string[], dead: readonly DeadEnd[]): string {
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

/** Each term once, and one `redirect` and one `exp` at most, which is all that there may be (RFC 7208 §6). */
function onlyOnce(terms: readonly string[]): readonly string[] {
  const key = (term: string) =>
    /^(?:redirect|exp)(?==)/i.exec(term)?.[0].toLowerCase() ?? term.toLowerCase().replace(/^\+/, '');
  const keys = terms.map(key);
  return terms.filter((_, at) => keys.indexOf(key(terms[at] ?? '')) === at);
}
