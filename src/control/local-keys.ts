import { parseDomain } from '../domain/domain-name.ts';
import type { ApiKey } from '../domain/key.ts';
import { parseCidrs } from '../lib/cidr.ts';
import { generateSecret, hashSecret, secretPrefix } from '../lib/key-secret.ts';
import type { Random } from '../lib/random.ts';
import { formatTimestamp, parseTimestamp } from '../lib/timestamp.ts';
import type { LocalDeps } from './local-deps.ts';
import {
  type CreatedKey,
  type CreateKeyRequest,
  type KeyRequest,
  type KeyView,
  OperationError,
  type Operations,
} from './operations.ts';

/** How long the old secret works after a rotation (contract §9). */
const OVERLAP_MS = 24 * 60 * 60 * 1000;
const ID_BYTES = 10;

type KeyOperation = 'createKey' | 'listKeys' | 'revokeKey' | 'rotateKey';

/** The operations on API keys. */
export function keyOperations(deps: LocalDeps): Pick<Operations, KeyOperation> {
  return {
    createKey: (request) => createKey(request, deps),
    listKeys: async () => (await deps.keyring.list()).map(keyView),
    revokeKey: (request) => revokeKey(request, deps),
    rotateKey: (request) => rotateKey(request, deps),
  };
}

async function createKey(request: CreateKeyRequest, deps: LocalDeps): Promise<CreatedKey> {
  const { keyring, clock, random } = deps;
  const mode = request.test ? 'test' : 'live';
  const now = clock.wall();
  const secret = generateSecret(random, mode);
  const key: ApiKey = {
    id: newKeyId(random),
    name: request.name,
    mode,
    prefix: secretPrefix(secret),
    scopes: request.scopes,
    createdAt: now,
    lastUsedAt: null,
    expiresAt: request.expiresAt === null ? null : readExpiry(request.expiresAt, now),
    revokedAt: null,
    rateLimit: request.rateLimit,
    cidrs: checkCidrs(request.cidrs),
    senderDomains: request.senderDomains.map(readSenderDomain),
  };
  if (await keyring.create(key, hashSecret(secret))) return { key: keyView(key), secret };
  throw new OperationError(
    'refused',
    `There is a key named ${request.name} already. Choose another name, revoke that key, or give it a new secret with: waybill keys rotate ${request.name}`,
  );
}

function readExpiry(text: string, now: number): number {
  const expiresAt = parseTimestamp(text);
  if (expiresAt === null)
    throw new OperationError('invalid', `${text} is no time in RFC 3339, such as 2027-01-31T12:00:00Z.`);
  if (expiresAt <= now) throw new OperationError('invalid', `The key would have expired already: ${text}.`);
  return expiresAt;
}

function checkCidrs(ranges: readonly string[]): readonly string[] {
  const result = parseCidrs(ranges);
  if (result.ok) return ranges;
  throw new OperationError('invalid', `${result.entry}: ${result.reason}.`);
}

function readSenderDomain(text: string): string {
  const domain = parseDomain(text);
  if (domain === null) throw new OperationError('invalid', `${text} is no domain name.`);
  return domain;
}

async function revokeKey(request: KeyRequest, deps: LocalDeps): Promise<KeyView> {
  const key = await findKey(request.key, deps);
  const now = deps.clock.wall();
  if (await deps.keyring.revoke(key.id, now)) return keyView({ ...key, revokedAt: now });
  throw new OperationError('refused', `The key ${key.name} is revoked already.`);
}

async function rotateKey(request: KeyRequest, deps: LocalDeps): Promise<CreatedKey> {
  const key = await findKey(request.key, deps);
  const secret = generateSecret(deps.random, key.mode);
  const prefix = secretPrefix(secret);
  const overlapUntil = deps.clock.wall() + OVERLAP_MS;
  if (await deps.keyring.rotate(key.id, hashSecret(secret), prefix, overlapUntil))
    return { key: keyView({ ...key, prefix }), secret };
  throw new OperationError(
    'refused',
    `The key ${key.name} is revoked. Make a new one with: waybill keys create`,
  );
}

/** A key by its id or name; of several with one name, the one that is not revoked, else the newest. */
async function findKey(idOrName: string, deps: LocalDeps): Promise<ApiKey> {
  const keys = await deps.keyring.list();
  const named = keys.filter(({ name }) => name === idOrName);
  const found =
    keys.find(({ id }) => id === idOrName) ?? named.find(({ revokedAt }) => revokedAt === null) ?? named[0];
  if (found !== undefined) return found;
  throw new OperationError('not_found', `There is no key ${idOrName}. See: waybill keys list`);
}

function keyView(key: ApiKey): KeyView {
  return {
    ...key,
    createdAt: formatTimestamp(key.createdAt),
    lastUsedAt: timeOrNull(key.lastUsedAt),
    expiresAt: timeOrNull(key.expiresAt),
    revokedAt: timeOrNull(key.revokedAt),
  };
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : formatTimestamp(ms);
}

function newKeyId(random: Random): string {
  return `key_${Buffer.from(random.fill(new Uint8Array(ID_BYTES))).toString('hex')}`;
}
