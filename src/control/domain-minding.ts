/** What is to be done for a domain as time goes by: new keys sign once they can be seen, old ones are forgotten. */
import type { Resolver } from '../dns/resolver.ts';
import { keysIn, switched, withoutOverdue } from '../domain/domain-keys.ts';
import type { SendingDomain } from '../domain/sending-domain.ts';
import type { Clock } from '../lib/clock.ts';
import { type BookDeps, changeDomain } from './domain-book.ts';
import { lookForKey } from './domain-sight.ts';

/** What minding takes. */
export interface MindingDeps extends BookDeps {
  readonly clock: Clock;
}

/** What was done. */
export interface Minded {
  /** Selectors of keys that sign from now on. */
  readonly switchedTo: readonly string[];
  /** Selectors of retired keys that are forgotten. */
  readonly forgotten: readonly string[];
}

const NOTHING: Minded = { switchedTo: [], forgotten: [] };

/**
 * Minds one domain. Keys that wait are switched to together, once the records of all of them can be seen: what signs must
 * be what the operator meant. Rejects as {@link changeDomain} does; the DNS's failures only put things off.
 */
export async function mindDomain(
  domain: SendingDomain,
  resolver: Resolver,
  deps: MindingDeps,
  signal: AbortSignal,
): Promise<Minded> {
  const waiting = keysIn(domain, 'waiting');
  const sights = await Promise.all(waiting.map((key) => lookForKey(domain.name, key, resolver, signal)));
  const areSeen = waiting.length > 0 && sights.every(({ kind }) => kind === 'seen');
  const now = deps.clock.wall();
  if (!areSeen && withoutOverdue(domain, now) === domain) return NOTHING;
  const seen = waiting.map(({ selector }) => selector);
  const { before, after } = await changeDomain(
    domain.name,
    (current) => {
      if (current === null) return null;
      // Others may have come in the meantime, which nobody has looked for.
      const same = keysIn(current, 'waiting').every(({ selector }) => seen.includes(selector));
      return withoutOverdue(areSeen && same ? switched(current, now) : current, now);
    },
    deps,
  );
  return { switchedTo: gained(before, after), forgotten: lost(before, after) };
}

function gained(before: SendingDomain | null, after: SendingDomain | null): readonly string[] {
  const signed = selectors(before === null ? [] : keysIn(before, 'signing'));
  return selectors(after === null ? [] : keysIn(after, 'signing')).filter((one) => !signed.includes(one));
}

function lost(before: SendingDomain | null, after: SendingDomain | null): readonly string[] {
  const left = selectors(after?.keys ?? []);
  return after === null ? [] : selectors(before?.keys ?? []).filter((one) => !left.includes(one));
}

function selectors(keys: SendingDomain['keys']): readonly string[] {
  return keys.map(({ selector }) => selector);
}
