import { z } from 'zod';
import type { DomainKey, SendingDomain } from '../domain/domain-keys.ts';
import { decodeJson } from '../lib/decode.ts';
import type { StoredDomain } from '../store/registry.ts';
import type { Fault } from './fault.ts';
import { sealedUnder, type Vault } from './secrets.ts';

/** The stored domains, with their keys decrypted. */
export interface OpenedDomains {
  readonly domains: readonly SendingDomain[];
  /** Names of domains with an active or waiting key that the present `secret.key` does not open. */
  readonly unreadable: readonly string[];
  /** Faults of rows that cannot be read at all. */
  readonly faults: readonly Fault[];
}

const TIME = z.int().min(0);

/** A domain's row, without its name and its private keys. */
const DEFINITION = z.object({
  since: TIME,
  returnPath: z.object({ domain: z.string(), seenAt: TIME.nullable(), isGood: z.boolean() }).nullish(),
  keys: z.array(
    z.object({
      selector: z.string(),
      algorithm: z.enum(['rsa-sha256', 'ed25519-sha256']),
      publicKey: z.string(),
      createdAt: TIME,
      activeSince: TIME.nullable(),
      retiredAt: TIME.nullable(),
    }),
  ),
});

const SECRETS = z.record(z.string(), z.string());

/** Opens stored domains. A key that cannot be opened stays, without its private half. */
export function openDomains(stored: readonly StoredDomain[], vault: Vault | null): OpenedDomains {
  const domains: SendingDomain[] = [];
  const unreadable: string[] = [];
  const faults: Fault[] = [];
  for (const row of stored) {
    const read = readRow(row);
    if (read === null) {
      const key = `domains.${row.name}`;
      faults.push({ key, value: null, rule: 'is not as this version stores it', source: 'stored domain' });
      continue;
    }
    const keys = read.definition.keys.map((key): DomainKey => {
      const sealed = read.secrets[key.selector];
      const privateKey =
        sealed === undefined ? null : (vault?.open(sealed, keyOwner(row.name, key.selector)) ?? null);
      return { ...key, privateKey };
    });
    const { since, returnPath = null } = read.definition;
    domains.push({ name: row.name, since, keys, returnPath });
    if (keys.some(({ privateKey, retiredAt }) => privateKey === null && retiredAt === null))
      unreadable.push(row.name);
  }
  return { domains, unreadable, faults };
}

/**
 * A domain in its stored form. Keys that cannot be opened now stay as sealed in `before`, the row being replaced: the
 * right key may come back.
 */
export function sealDomain(domain: SendingDomain, vault: Vault, before: StoredDomain | null): StoredDomain {
  const { name, since, keys, returnPath } = domain;
  const kept = before === null ? {} : (readRow(before)?.secrets ?? {});
  const secrets = keys.flatMap(({ selector, privateKey }): [string, string][] => {
    const sealed = privateKey === null ? kept[selector] : vault.seal(privateKey, keyOwner(name, selector));
    return sealed === undefined ? [] : [[selector, sealed]];
  });
  const own = returnPath === null ? {} : { returnPath };
  const definition = { since, ...own, keys: keys.map(({ privateKey: _secret, ...key }) => key) };
  return {
    name,
    definition: JSON.stringify(definition),
    secrets: JSON.stringify(Object.fromEntries(secrets)),
  };
}

/** Names of domains with an active or waiting key that was sealed under another key than the vault's. */
export function foreignDomains(stored: readonly StoredDomain[], vault: Vault): readonly string[] {
  return stored.filter((row) => isForeign(row, vault)).map(({ name }) => name);
}

function isForeign(row: StoredDomain, vault: Vault): boolean {
  const read = readRow(row);
  return (read?.definition.keys ?? []).some(({ selector, retiredAt }) => {
    const sealed = read?.secrets[selector];
    return retiredAt === null && sealed !== undefined && sealedUnder(sealed) !== vault.keyId;
  });
}

/** The owner of a sealed key. No relay's name contains a colon. */
function keyOwner(domain: string, selector: string): string {
  return `dkim:${domain}:${selector}`;
}

function readRow({ definition, secrets }: StoredDomain) {
  const read = {
    definition: DEFINITION.safeParse(decodeJson(definition)),
    secrets: SECRETS.safeParse(decodeJson(secrets)),
  };
  if (!read.definition.success || !read.secrets.success) return null;
  return { definition: read.definition.data, secrets: read.secrets.data };
}
