import { parseDomain } from '../domain/domain-name.ts';
import type { FeedbackToken } from '../domain/feedback.ts';
import { type BounceDomains, bounceDomainFor, type ReturnPathOf } from '../domain/return-path.ts';
import type { Clock } from '../lib/clock.ts';
import { createIdSource } from '../lib/id.ts';
import type { Random } from '../lib/random.ts';
import {
  createRecipientTokens,
  probeOf,
  type RecipientTokens,
  type TokenPurpose,
} from '../lib/recipient-token.ts';
import type { Config } from './schema.ts';

/** The return paths of mail that goes out, and the tokens in them, as configured now. */

type Keys = NonNullable<Config['tokenKeys']>;
/** What return paths are made from. */
type ReturnConfig = Pick<Config, 'bounces' | 'domains' | 'tokenKeys'>;

/** What is known of a configuration's domains. */
interface Known {
  readonly outgoing: BounceDomains;
  readonly incoming: ReadonlySet<string>;
}

const known = new WeakMap<object, Known>();
const tokens = new WeakMap<Keys, Readonly<Record<TokenPurpose, RecipientTokens>>>();

/** The domains of return paths of mail that goes out. */
export function bounceDomainsOf(config: Pick<Config, 'bounces' | 'domains'>): BounceDomains {
  return knownOf(config).outgoing;
}

/** What a dry run is judged by. */
export function sendingOf(config: Pick<Config, 'bounces' | 'domains' | 'relays'>) {
  return { relays: config.relays, domains: config.domains, bounceDomains: bounceDomainsOf(config) };
}

/** The domains whose mail we take: bounces may still come to one that mail went out with before. */
export function incomingDomainsOf(config: Pick<Config, 'bounces' | 'domains'>): ReadonlySet<string> {
  return knownOf(config).incoming;
}

/** Collected once for each configuration: every message asks. */
function knownOf(config: Pick<Config, 'bounces' | 'domains'>): Known {
  const found = known.get(config) ?? collect(config);
  known.set(config, found);
  return found;
}

function collect({ bounces, domains }: Pick<Config, 'bounces' | 'domains'>): Known {
  const usual = bounces.domain === null ? null : parseDomain(bounces.domain);
  const own = new Map<string, string>();
  const incoming = new Set(usual === null ? [] : [usual]);
  for (const { name, returnPath } of domains) {
    if (returnPath?.isGood) own.set(name, returnPath.domain);
    if (returnPath !== null && returnPath.seenAt !== null) incoming.add(returnPath.domain);
  }
  return { outgoing: { usual, own }, incoming };
}

/** The tokens of a purpose; null if `secret.key` cannot be read: then none is made, and none counts. */
export function tokensOf(
  { tokenKeys }: Pick<Config, 'tokenKeys'>,
  purpose: TokenPurpose,
): RecipientTokens | null {
  if (tokenKeys === null) return null;
  const there = tokens.get(tokenKeys);
  if (there !== undefined) return there[purpose];
  const made = {
    return_path: createRecipientTokens('return_path', () => tokenKeys.return_path),
    unsubscribe: createRecipientTokens('unsubscribe', () => tokenKeys.unsubscribe),
    probe: createRecipientTokens('probe', () => tokenKeys.probe),
  };
  tokens.set(tokenKeys, made);
  return made[purpose];
}

/** The reverse-paths of transactions. One for a single recipient names it. */
export function returnPathsOf(config: () => ReturnConfig): ReturnPathOf {
  return (unit, relay) => {
    const now = config();
    const domain = bounceDomainFor(unit, relay, bounceDomainsOf(now));
    const names = domain === null ? null : tokensOf(now, 'return_path');
    if (names === null) return unit.reversePath;
    const [only, ...others] = unit.deliveries;
    const recipient = others.length > 0 ? null : (only?.index ?? null);
    return `${names.localPart({ id: unit.messageId, recipient })}@${domain}`;
  };
}

/** What links to unsubscribe are made of. */
export function unsubscribeTermsOf(config: ReturnConfig & Pick<Config, 'server'>) {
  return {
    publicUrl: config.server.publicUrl,
    tokens: tokensOf(config, 'unsubscribe'),
    bounceDomains: bounceDomainsOf(config),
    domains: config.domains,
  };
}

/** How we ask ourselves whether mail to a bounce domain comes here; null if `secret.key` cannot be read. */
export function newProbe(
  config: Pick<Config, 'tokenKeys'>,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): ReturnType<typeof probeOf> | null {
  const probes = tokensOf(config, 'probe');
  return probes === null ? null : probeOf(probes, createIdSource(clock, random)());
}

/** What may be a token: in a local part, or in the link to unsubscribe. */
const TOKENS = /(?:(?<![0-9a-z])([bu])-|\/(u)\/)([0-9a-hjkmnp-tv-z]{40})(?![0-9a-z])/gi;

/** Recognises tokens of ours, of both purposes, in an address or a URI. */
export function recogniseTokens(config: Pick<Config, 'tokenKeys'>): (text: string) => FeedbackToken | null {
  return (text) => {
    for (const [, letter = 'u', , token = ''] of text.matchAll(TOKENS)) {
      const found = tokensOf(config, letter.toLowerCase() === 'b' ? 'return_path' : 'unsubscribe')?.read(
        token,
      );
      if (found) return found;
    }
    return null;
  };
}
