/**
 * The life of a domain's keys: a new one waits until its record is visible, then signs, is retired when another
 * replaces it, and is removed when no mail that it signed can be under way any more.
 */

/** The state of a key. */
export type KeyState = 'waiting' | 'signing' | 'retired';

/** Most sending domains. */
export const MAX_DOMAINS = 1000;

/** Most keys of a domain, including waiting and retired ones. */
export const MAX_DOMAIN_KEYS = 20;

/** The state of a key. */
export function keyState({ activeSince, retiredAt }: DomainKey): KeyState {
  if (retiredAt !== null) return 'retired';
  return activeSince === null ? 'waiting' : 'signing';
}

/** The keys of a domain in a state. */
export function keysIn(domain: SendingDomain, state: KeyState): readonly DomainKey[] {
  return domain.keys.filter((key) => keyState(key) === state);
}

/** The domain whose keys sign mail from a name: the name itself, or a parent of it; null if none signs. */
export function signerOf(name: string, domains: readonly SendingDomain[]): SendingDomain | null {
  const lower = name.toLowerCase();
  const isAbove = (domain: SendingDomain) => lower === domain.name || lower.endsWith(`.${domain.name}`);
  const signs = (domain: SendingDomain) =>
    keysIn(domain, 'signing').some(({ privateKey }) => privateKey !== null);
  return domains.find((domain) => isAbove(domain) && signs(domain)) ?? null;
}

/** Until when the record of a retired key must stay in the DNS (wall ms); null if it is not retired. */
export function recordUntil({ retiredAt }: DomainKey): number | null {
  return retiredAt === null ? null : retiredAt + OVERLAP_MS;
}

/** The algorithms that a domain signs with, or will: new keys are made for these. */
export function algorithmsOf(domain: SendingDomain): readonly DkimAlgorithm[] {
  const signing = keysIn(domain, 'signing');
  const from = signing.length > 0 ? signing : domain.keys;
  return [...new Set(from.map(({ algorithm }) => algorithm))];
}

/**
 * The domain with new keys, which wait. They replace earlier waiting keys, which have signed nothing. If no other key
 * can sign, there is nothing to lose, and the new ones sign at once.
 */
export function withNewKeys(
  domain: SendingDomain,
  keys: readonly DomainKey[],
  now: number,
  atOnce: boolean,
): SendingDomain {
  const others = domain.keys.filter((key) => keyState(key) !== 'waiting');
  const next = { ...domain, keys: [...others, ...keys] };
  const canSign = keysIn(domain, 'signing').some(({ privateKey }) => privateKey !== null);
  return atOnce || !canSign ? switched(next, now) : next;
}

/**
 * The domain once all waiting keys sign, and those that signed are retired. The private keys of these stay until they
 * are removed: queued mail that they signed may have to be converted for a hop, and is then signed again with the same
 * key.
 */
export function switched(domain: SendingDomain, now: number): SendingDomain {
  if (keysIn(domain, 'waiting').length === 0) return domain;
  const keys = domain.keys.map((key): DomainKey => {
    const state = keyState(key);
    if (state === 'waiting') return { ...key, activeSince: now };
    return state === 'signing' ? { ...key, retiredAt: now } : key;
  });
  return { ...domain, keys };
}

/** The domain without retired keys whose records are no longer needed; the same object if there are none. */
export function withoutOverdue(domain: SendingDomain, now: number): SendingDomain {
  const keys = domain.keys.filter((key) => (recordUntil(key) ?? Number.POSITIVE_INFINITY) > now);
  return keys.length === domain.keys.length ? domain : { ...domain, keys };
}

/** When there will be room for more keys: when the first retired one is removed (wall ms). */
export function nextForgotten(domain: SendingDomain): number | null {
  const times = domain.keys.flatMap((key) => recordUntil(key) ?? []);
  return times.length === 0 ? null : Math.min(...times);
}

/** A selector: one label of a domain name, in lower case (RFC 6376 §3.1). */
export const SELECTOR = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * An unused selector of the domain, made of the day and the algorithm, such as `wb20261122r`; the second of a day is
 * `wb20261122r2`.
 */
export function newSelector(domain: SendingDomain | null, algorithm: DkimAlgorithm, now: number): string {
  const day = new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
  const first = `wb${day}${selectorLetter(algorithm)}`;
  const taken = new Set(domain?.keys.map(({ selector }) => selector));
  for (let number = 2; ; number++) {
    const selector = number === 2 && !taken.has(first) ? first : `${first}${number}`;
    if (!taken.has(selector)) return selector;
  }
}

/** The last letter of our selectors. */
export function selectorLetter(algorithm: DkimAlgorithm): string {
  return algorithm === 'rsa-sha256' ? 'r' : 'e';
}

// Sending domains, and the keys that sign for them (RFC 6376).

/** The algorithm of a key: `rsa-sha256` with 2048 bits or more, or `ed25519-sha256` (RFC 8463). */
export type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256';

/** A domain that mail is sent from. */
export interface SendingDomain {
  /** In lower case, A-labels. */
  readonly name: string;
  /** Wall ms. */
  readonly since: number;
  readonly keys: readonly DomainKey[];
  /** Null: its mail uses the return paths of all. */
  readonly returnPath: OwnReturnPath | null;
}

/** A sending domain's own domain for return paths, so that SPF aligns with it (contract-2 §A2). */
export interface OwnReturnPath {
  /** In lower case, A-labels. */
  readonly domain: string;
  /**
   * When a check first saw that its mail comes here, and that its SPF record allows this server (wall ms); null: not
   * yet. From then on its mail is taken.
   */
  readonly seenAt: number | null;
  /** The last check saw that, too: mail goes out with it. */
  readonly isGood: boolean;
}

/** A key of a domain. Its public key is in the DNS under `<selector>._domainkey.<domain>`. */
export interface DomainKey {
  readonly selector: string;
  readonly algorithm: DkimAlgorithm;
  /** Base64, as in the `p=` of its record. */
  readonly publicKey: string;
  /** Base64 of the PKCS #8 DER. In clear only in memory; null if it cannot be read, or was destroyed. */
  readonly privateKey: string | null;
  /** Wall ms. */
  readonly createdAt: number;
  /** Since when it signs (wall ms); null while it waits for its record to be visible. */
  readonly activeSince: number | null;
  /** When another key replaced it (wall ms); null if it signs, or waits. */
  readonly retiredAt: number | null;
}

/** How long the record of a retired key must stay, for signed mail that is still under way, in ms. */
export const OVERLAP_MS = 35 * 86_400_000;
