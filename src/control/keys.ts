import type { Vault } from '../config/secrets.ts';
import type { MessageStatus } from '../domain/delivery.ts';
import { parseDomain } from '../domain/domain-name.ts';
import type { ApiKey } from '../domain/key.ts';
import { formatTimestamp, parseTimestamp } from '../lib/clock.ts';
import { generateSecret, hashSecret, secretPrefix, withoutKeys } from '../lib/id.ts';
import { parseCidrs } from '../lib/network.ts';
import type { Random } from '../lib/random.ts';
import { OperationError } from '../operations/call.ts';
import type { CreatedKey, KeyOperations, KeyView, RevokedKey, RotatedKey } from '../operations/keys.ts';
import type { RequestOf } from '../operations/table.ts';
import type { ListPage, ListQuery } from '../store/views.ts';
import type { LocalDeps } from './deps.ts';
import { newSigning } from './signing-keys.ts';

/** How long the old secret works after a rotation (contract §9). */
const OVERLAP_MS = 24 * 60 * 60 * 1000;
const ID_BYTES = 10;

/** The operations on API keys. */
export function keyOperations(deps: LocalDeps): KeyOperations {
  return {
    createKey: (request) => createKey(request, deps),
    listKeys: async () => {
      const [keys, signing] = [await deps.keyring.list(), await deps.keyring.signingIds()];
      return keys.map((key) => keyView(key, signing.get(key.id)));
    },
    updateKey: (request) => updateKey(request, deps),
    revokeKey: (request) => revokeKey(request, deps),
    rotateKey: (request) => rotateKey(request, deps),
  };
}

async function createKey(request: RequestOf<'createKey'>, deps: LocalDeps): Promise<CreatedKey> {
  const { key, secret, signing } = newKey(request, deps);
  if (await deps.keyring.create(key, hashSecret(secret), signing?.stored))
    return { key: keyView(key, signing?.access.accessKeyId), secret, signing: signing?.access ?? null };
  throw new OperationError(
    'refused',
    `There is already a key named ${request.name}. Choose another name, revoke that key, or give it a new secret with: waybill keys rotate ${request.name}`,
  );
}

/** A key with its secret, and with what its client signs with; null: it does not sign. */
interface NewKey {
  readonly key: ApiKey;
  readonly secret: string;
  readonly signing: ReturnType<typeof newSigning> | null;
}

/** Whether a time that is past may be when a key expires. */
type PastExpiry = 'refused' | 'taken';

/** A key that is not stored yet. Throws `OperationError`. */
export function newKey(
  request: RequestOf<'createKey'>,
  deps: KeyMaking,
  past: PastExpiry = 'refused',
): NewKey {
  const { clock, random } = deps;
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
    expiresAt: request.expiresAt === null ? null : readExpiry(request.expiresAt, now, past),
    revokedAt: null,
    rateLimit: request.rateLimit,
    cidrs: checkCidrs(request.cidrs),
    senderDomains: request.senderDomains.map(readSenderDomain),
    contentDays: request.contentDays ?? null,
    recordDays: request.recordDays ?? null,
  };
  return { key, secret, signing: request.ses === true ? newSigning(key.id, vaultOf(deps), random) : null };
}

/** What making a key takes. */
type KeyMaking = Pick<LocalDeps, 'clock' | 'random' | 'resolution'>;

/** What seals the secrets that clients sign with. */
function vaultOf({ resolution }: Pick<LocalDeps, 'resolution'>): Vault {
  const { vault } = resolution();
  if (vault !== null) return vault;
  throw new OperationError('unavailable', 'The key that seals secrets cannot be read. See: waybill config');
}

function readExpiry(text: string, now: number, past: PastExpiry): number {
  const expiresAt = parseTimestamp(text);
  if (expiresAt === null)
    throw new OperationError('invalid', `${text} is not a time in RFC 3339, such as 2027-01-31T12:00:00Z.`);
  if (expiresAt <= now && past === 'refused')
    throw new OperationError('invalid', `The key would already have expired: ${text}.`);
  return expiresAt;
}

function checkCidrs(ranges: readonly string[]): readonly string[] {
  const result = parseCidrs(ranges);
  if (result.ok) return ranges;
  throw new OperationError('invalid', `${result.entry}: ${result.reason}.`);
}

function readSenderDomain(text: string): string {
  const domain = parseDomain(text);
  if (domain === null) throw new OperationError('invalid', `${text} is not a domain name.`);
  return domain;
}

async function updateKey(
  { key: named, ...changes }: RequestOf<'updateKey'>,
  deps: LocalDeps,
): Promise<KeyView> {
  const key = await findKey(named, deps);
  if (changes.name !== undefined && changes.name !== key.name) refuseRouted(key.name, deps);
  const changed = changedKey(key, changes, deps);
  switch (await deps.keyring.update(changed)) {
    case 'updated':
      return keyView(changed, await signingIdOf(key, deps));
    case 'taken':
      throw new OperationError(
        'refused',
        `There is already a key named ${changed.name}. Choose another name.`,
      );
    default:
      throw new OperationError(
        'refused',
        `The key ${key.name} is revoked. Make a new one with: waybill keys create`,
      );
  }
}

/** A key with changes. Throws `OperationError`. */
export function changedKey(
  key: ApiKey,
  changes: Omit<RequestOf<'updateKey'>, 'key'>,
  deps: Pick<LocalDeps, 'clock'>,
  past: PastExpiry = 'refused',
): ApiKey {
  const { name, scopes, rateLimit, expiresAt, cidrs, senderDomains, contentDays, recordDays } = changes;
  return {
    ...key,
    name: name ?? key.name,
    scopes: scopes ?? key.scopes,
    rateLimit: rateLimit === undefined ? key.rateLimit : rateLimit,
    expiresAt: changedExpiry(expiresAt, key, deps, past),
    cidrs: cidrs === undefined ? key.cidrs : checkCidrs(cidrs),
    senderDomains: senderDomains?.map(readSenderDomain) ?? key.senderDomains,
    contentDays: contentDays === undefined ? key.contentDays : contentDays,
    recordDays: recordDays === undefined ? key.recordDays : recordDays,
  };
}

/** Undefined leaves it unchanged; the key's present expiry is accepted even if it is past. */
function changedExpiry(
  text: string | null | undefined,
  { expiresAt }: ApiKey,
  deps: Pick<LocalDeps, 'clock'>,
  past: PastExpiry,
): number | null {
  if (text === undefined || text === timeOrNull(expiresAt)) return expiresAt;
  return text === null ? null : readExpiry(text, deps.clock.wall(), past);
}

/** A rule with a key's former name would route its mail elsewhere. */
function refuseRouted(name: string, deps: LocalDeps): void {
  const { routes } = deps.resolution().config;
  const rules = routes.filter(({ match }) => match.key?.has(name)).map((rule) => rule.name);
  if (rules.length > 0)
    throw new OperationError(
      'refused',
      `Routing rules name the key ${name}: ${rules.join(', ')}. Change them first. See: waybill routes show`,
    );
}

async function revokeKey(request: RequestOf<'revokeKey'>, deps: LocalDeps): Promise<RevokedKey> {
  const key = await findKey(request.key, deps);
  const now = deps.clock.wall();
  const cancelQueued = request.cancelQueued ?? false;
  const revoked = await deps.keyring.revoke(key.id, now);
  // A key that is already revoked may be named again to cancel its mail.
  if (!revoked && !cancelQueued)
    throw new OperationError('refused', `The key ${key.name} is already revoked.`);
  const cancelled = cancelQueued ? await cancelMailOf(key, revoked, deps) : 0;
  const changed = { ...key, revokedAt: revoked ? now : key.revokedAt };
  return { ...keyView(changed, await signingIdOf(key, deps)), cancelled };
}

/** How long a revoked key may still be accepted (contract §9). */
const REVOCATION_MS = 1000;
/** Messages cancelled at a time. */
const CANCEL_BATCH = 200;
const NOT_FINAL: readonly MessageStatus[] = ['queued', 'retrying', 'processing'];

/** Cancels a key's queued mail in bounded parts; returns the number of messages. */
async function cancelMailOf(key: ApiKey, justRevoked: boolean, deps: LocalDeps): Promise<number> {
  const { clock, views, acts, running } = deps;
  if (running && justRevoked) await clock.sleep(REVOCATION_MS);
  let cancelled = 0;
  let before: string | null = null;
  do {
    const query: ListQuery = {
      owner: { keyId: key.id },
      statuses: NOT_FINAL,
      before,
      limit: CANCEL_BATCH,
    };
    const page: ListPage = await views.list(query);
    const answers = await Promise.all(page.messages.map(({ id }) => acts.cancel(id)));
    cancelled += answers.filter((answer) => answer === 'cancelled').length;
    before = page.next;
  } while (before !== null);
  return cancelled;
}

async function rotateKey(request: RequestOf<'rotateKey'>, deps: LocalDeps): Promise<RotatedKey> {
  const key = await findKey(request.key, deps);
  const secret = generateSecret(deps.random, key.mode);
  const prefix = secretPrefix(secret);
  const overlapUntil = deps.clock.wall() + OVERLAP_MS;
  const signs = (await signingIdOf(key, deps)) !== undefined;
  const signing = signs ? newSigning(key.id, vaultOf(deps), deps.random) : null;
  if (await deps.keyring.rotate(key.id, hashSecret(secret), prefix, overlapUntil, signing?.stored))
    return {
      key: keyView({ ...key, prefix }, signing?.access.accessKeyId),
      secret,
      signing: signing?.access ?? null,
      oldSecretUntil: formatTimestamp(Math.min(overlapUntil, key.expiresAt ?? overlapUntil)),
    };
  throw new OperationError(
    'refused',
    `The key ${key.name} is revoked. Make a new one with: waybill keys create`,
  );
}

/** A key by its id or name; of several with one name, the one that is not revoked, otherwise the newest. Throws `OperationError`. */
export async function findKey(idOrName: string, deps: Pick<LocalDeps, 'keyring'>): Promise<ApiKey> {
  const keys = await deps.keyring.list();
  const named = keys.filter(({ name }) => name === idOrName);
  const found =
    keys.find(({ id }) => id === idOrName) ?? named.find(({ revokedAt }) => revokedAt === null) ?? named[0];
  if (found !== undefined) return found;
  throw new OperationError('not_found', `There is no key ${withoutKeys(idOrName)}. See: waybill keys list`);
}

async function signingIdOf(
  { id }: ApiKey,
  { keyring }: Pick<LocalDeps, 'keyring'>,
): Promise<string | undefined> {
  return (await keyring.signingIds()).get(id);
}

function keyView(key: ApiKey, accessKeyId: string | null = null): KeyView {
  return {
    ...key,
    accessKeyId,
    createdAt: formatTimestamp(key.createdAt),
    lastUsedAt: timeOrNull(key.lastUsedAt),
    expiresAt: timeOrNull(key.expiresAt),
    revokedAt: timeOrNull(key.revokedAt),
  };
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : formatTimestamp(ms);
}

/** An id for a new key. */
export function newKeyId(random: Random): string {
  return `key_${Buffer.from(random.fill(new Uint8Array(ID_BYTES))).toString('hex')}`;
}
