import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { DkimAlgorithm, DomainKey, SendingDomain } from '../domain/domain-keys.ts';
import { maySendFrom } from '../domain/key.ts';
import type { SigningRights } from '../domain/message.ts';
import { authorsOf } from '../mail/field-values.ts';
import type { FieldSpan } from '../mail/header-block.ts';

/** A key that signs for a domain. */
export interface SigningKey {
  /** In lower case, A-labels. */
  readonly domain: string;
  readonly selector: string;
  readonly algorithm: DkimAlgorithm;
  /** Throws when it is not of its algorithm, or no key at all. */
  privateKey(): KeyObject;
  /** Throws as the other. */
  publicKey(): KeyObject;
}

/** The keys of all domains. */
export interface SigningKeys {
  /** Those that sign now, by domain. Domains without any are not in it. */
  readonly active: ReadonlyMap<string, readonly SigningKey[]>;
  /** One that signs or has signed; null for one that is not ours, or cannot be read. In lower case. */
  held(domain: string, selector: string): SigningKey | null;
}

/**
 * The keys that domains have. Each is read when it is first used and never again while it stays: there may be thousands, and a
 * reload of the configuration must cost nothing. To be called with the domains as they are now.
 */
export function createSigningKeys(): (domains: readonly SendingDomain[]) => SigningKeys {
  let last: readonly SendingDomain[] = [];
  let held = new Map<string, OpenKey>();
  let keys: SigningKeys = keysOf(held);
  return (domains) => {
    if (domains !== last) {
      held = openKeys(domains, held);
      keys = keysOf(held);
      last = domains;
    }
    return keys;
  };
}

function keysOf(held: ReadonlyMap<string, OpenKey>): SigningKeys {
  const active = new Map<string, SigningKey[]>();
  for (const key of held.values()) {
    if (!key.signs) continue;
    const others = active.get(key.domain);
    if (others === undefined) active.set(key.domain, [key]);
    else others.push(key);
  }
  return { active, held: (domain, selector) => held.get(nameOf(domain, selector)) ?? null };
}

/** Keys that did not change are those of before. */
function openKeys(
  domains: readonly SendingDomain[],
  before: ReadonlyMap<string, OpenKey>,
): Map<string, OpenKey> {
  const open = new Map<string, OpenKey>();
  for (const { name: domain, keys } of domains)
    for (const key of keys) {
      if (key.privateKey === null) continue;
      const name = nameOf(domain, key.selector.toLowerCase());
      const known = before.get(name);
      open.set(name, known?.isOf(key) ? known : new OpenKey(domain, key, key.privateKey));
    }
  return open;
}

/** Where its record stands in the DNS. */
function nameOf(domain: string, selector: string): string {
  return `${selector}._domainkey.${domain}`;
}

class OpenKey implements SigningKey {
  readonly domain: string;
  readonly selector: string;
  readonly algorithm: DkimAlgorithm;
  readonly signs: boolean;
  readonly #secret: string;
  #private: KeyObject | null = null;
  #public: KeyObject | null = null;

  constructor(domain: string, key: DomainKey, secret: string) {
    this.domain = domain;
    this.selector = key.selector;
    this.algorithm = key.algorithm;
    this.signs = isActive(key);
    this.#secret = secret;
  }

  isOf(key: DomainKey): boolean {
    return (
      key.privateKey === this.#secret &&
      key.selector === this.selector &&
      key.algorithm === this.algorithm &&
      isActive(key) === this.signs
    );
  }

  privateKey(): KeyObject {
    this.#private ??= readPrivateKey(this.#secret, this.algorithm);
    return this.#private;
  }

  publicKey(): KeyObject {
    this.#public ??= createPublicKey(this.privateKey());
    return this.#public;
  }
}

function isActive({ activeSince, retiredAt }: DomainKey): boolean {
  return activeSince !== null && retiredAt === null;
}

/** Weaker ones are not to be used any more (RFC 8301 §3.2 takes them from 1024 on). */
const MIN_RSA_BITS = 2048;

function readPrivateKey(secret: string, algorithm: DkimAlgorithm): KeyObject {
  const key = createPrivateKey({ key: Buffer.from(secret, 'base64'), format: 'der', type: 'pkcs8' });
  const isRight =
    algorithm === 'ed25519-sha256'
      ? key.asymmetricKeyType === 'ed25519'
      : key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS;
  if (!isRight) throw new Error('the key is not of its algorithm');
  return key;
}

/**
 * The keys to sign a message with: those of its author's domain, or of the nearest domain above it, which DMARC takes as well
 * (RFC 7489 §3.1.1). None where the message may not be signed: its submitter may not send as each of its authors, or the
 * authors cannot be read for certain; a signature would vouch for them.
 */
export function keysForAuthor(
  fields: readonly FieldSpan[],
  rights: SigningRights,
  keys: ReadonlyMap<string, readonly SigningKey[]>,
): readonly SigningKey[] {
  const from = fields.filter(({ lowerName }) => lowerName === 'from');
  // RFC 5322 §3.6: there is one. Of several, each reader shows another.
  if (from.length !== 1) return [];
  const authors = authorsOf(from);
  const first = authors?.[0];
  if (authors === null || first === undefined) return [];
  if (rights !== 'any' && !authors.every(({ domain }) => isAmong(rights, domain))) return [];
  for (const name of withParents(first.domain)) {
    const found = keys.get(name);
    if (found !== undefined) return found;
  }
  return [];
}

/** No domains at all are none here, and not all of them. */
function isAmong(senderDomains: readonly string[], domain: string): boolean {
  return senderDomains.length > 0 && maySendFrom({ senderDomains }, domain);
}

/** A domain, and those above it. */
function* withParents(domain: string): Generator<string, void> {
  for (let name = domain; ; ) {
    yield name;
    const dot = name.indexOf('.');
    if (dot < 0) return;
    name = name.slice(dot + 1);
  }
}
