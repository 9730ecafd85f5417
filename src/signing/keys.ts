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
  /** Throws if it does not match its algorithm, or is no key at all. */
  privateKey(): KeyObject;
  /** Throws like the other. */
  publicKey(): KeyObject;
}

/** The keys of all domains. */
export interface SigningKeys {
  /** The keys that sign now, by domain; domains without any are absent. */
  readonly active: ReadonlyMap<string, readonly SigningKey[]>;
  /** A key that signs or has signed; null if it is not ours, or cannot be read. In lower case. */
  held(domain: string, selector: string): SigningKey | null;
}

/**
 * Opens the domains' keys. Each is read at its first use and never again while it stays: there may be thousands, and a
 * reload of the configuration must cost nothing. Call the result with the current domains.
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

/** Reuses keys that did not change. */
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

/** The DNS name of its record. */
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

/** Weaker keys should not be used any more (RFC 8301 §3.2 accepts them from 1024 on). */
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
 * The keys to sign a message with: those of its author's domain, or of the nearest parent domain, which DMARC accepts
 * as well (RFC 7489 §3.1.1). None if the message may not be signed: its submitter may not send as each of its authors,
 * or the authors cannot be parsed reliably; a signature would vouch for them.
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

/** An empty list allows no domain, and not all of them. */
function isAmong(senderDomains: readonly string[], domain: string): boolean {
  return senderDomains.length > 0 && maySendFrom({ senderDomains }, domain);
}

/** A domain and its parents. */
function* withParents(domain: string): Generator<string, void> {
  for (let name = domain; ; ) {
    yield name;
    const dot = name.indexOf('.');
    if (dot < 0) return;
    name = name.slice(dot + 1);
  }
}
