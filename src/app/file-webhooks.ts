import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { readSecret } from '../config/load.ts';
import type { Vault } from '../config/secrets.ts';
import type { FileWebhook } from '../config/settings-webhooks.ts';
import { sealedSecrets, signingSecrets } from '../config/webhook-secrets.ts';
import type { ApiKey } from '../domain/key.ts';
import { HEALTHY, WEBHOOK_LIMITS, type WebhookEndpoint } from '../domain/webhook.ts';
import type { Clock } from '../lib/clock.ts';
import { readError } from '../lib/error.ts';
import { idOfBytes } from '../lib/id.ts';
import type { Log } from '../lib/log.ts';
import type { Keyring } from '../store/accounts.ts';
import type { StoredEndpoint, Webhooks } from '../store/webhooks.ts';

/**
 * Endpoints of webhooks that stand in the configuration file. They are kept as the others are, so that all else treats
 * them alike; the node that tells events takes them over from its file.
 */

/** What taking them over needs. */
interface FileWebhooksDeps {
  readonly inForce: () => { readonly endpoints: readonly FileWebhook[]; readonly vault: Vault | null };
  readonly webhooks: Webhooks;
  readonly keyring: Pick<Keyring, 'list'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Keys that endpoints name may come and go. */
const AGAIN_MS = 60_000;

/** Takes them over, if the file has been read anew, or a minute has gone by. Rejects with `StoreError`. */
export function fileWebhooks(deps: FileWebhooksDeps): () => Promise<void> {
  let taken: { readonly endpoints: readonly FileWebhook[]; readonly at: number } | null = null;
  const told = new Set<string>();
  return async () => {
    const { inForce, clock, log } = deps;
    const { endpoints } = inForce();
    const at = clock.mono();
    if (taken !== null && taken.endpoints === endpoints && at - taken.at < AGAIN_MS) return;
    if (taken?.endpoints !== endpoints) told.clear();
    for (const [name, message] of await takeOver(endpoints, deps)) {
      if (!told.has(name)) log.error('webhook.not_taken_over', { name, message });
      told.add(name);
    }
    taken = { endpoints, at };
  };
}

/** Why some could not be taken over, by their names. */
async function takeOver(
  endpoints: readonly FileWebhook[],
  deps: FileWebhooksDeps,
): Promise<ReadonlyMap<string, string>> {
  const { webhooks, inForce } = deps;
  const stored = (await webhooks.webhookEndpoints()).filter(({ endpoint }) => endpoint.inFile !== null);
  const faults = new Map<string, string>();
  const wanted = new Set(endpoints.map(({ name }) => idOf(name)));
  for (const { endpoint } of stored)
    if (!wanted.has(endpoint.id)) await webhooks.removeWebhookEndpoint(endpoint.id);
  if (endpoints.length === 0) return faults;
  const [keys, { vault }] = [await deps.keyring.list(), inForce()];
  for (const one of endpoints) {
    const former = stored.find(({ endpoint }) => endpoint.inFile === one.name) ?? null;
    const fault = vault === null ? 'secret.key cannot be read.' : await take(one, former, keys, vault, deps);
    if (fault !== null) faults.set(one.name, fault);
  }
  return faults;
}

/** Takes one over; why not, or null. */
async function take(
  one: FileWebhook,
  former: StoredEndpoint | null,
  keys: readonly ApiKey[],
  vault: Vault,
  { webhooks, clock }: FileWebhooksDeps,
): Promise<string | null> {
  const now = clock.wall();
  const endpoint = endpointOf(one, keys, former?.endpoint ?? null, now);
  const secret = secretIn(one.secretFile);
  if (typeof secret !== 'string') return secret.fault;
  if (former === null) {
    const added = { endpoint, secrets: sealedSecrets(secret, endpoint.id, vault), health: HEALTHY };
    const isAdded = (await webhooks.addWebhookEndpoint(added, WEBHOOK_LIMITS)) === 'added';
    return isAdded ? null : `There are ${WEBHOOK_LIMITS.all} webhooks already.`;
  }
  const [signs] = signingSecrets(former.secrets, endpoint.id, vault, now) ?? [];
  const isSame = signs === secret && isDeepStrictEqual(former.endpoint, endpoint);
  if (isSame) return null;
  const secrets = signs === secret ? former.secrets : sealedSecrets(secret, endpoint.id, vault);
  await webhooks.changeWebhookEndpoint({ ...endpoint, updatedAt: now }, secrets);
  return null;
}

function endpointOf(
  { name, secretFile: _, allowPrivate: __, keys: named, ...told }: FileWebhook,
  keys: readonly ApiKey[],
  former: WebhookEndpoint | null,
  now: number,
): WebhookEndpoint {
  const idOfKey = (one: string) => keys.find((key) => key.name === one && key.revokedAt === null)?.id ?? one;
  return {
    id: idOf(name),
    keyId: null,
    inFile: name,
    ...told,
    // What names no key is the id of none: it is told of nothing instead of everything.
    keys: named.map(idOfKey),
    headers: {},
    createdAt: former?.createdAt ?? now,
    updatedAt: former?.updatedAt ?? now,
  };
}

/** The same for a name, on every node and at every start. */
function idOf(name: string): string {
  return idOfBytes('whe_', createHash('sha256').update(`webhook ${name}`).digest());
}

const SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;

function secretIn(path: string): string | { readonly fault: string } {
  try {
    const secret = readSecret(path);
    if (SECRET.test(secret)) return secret;
    return { fault: `${path} must hold whsec_ and the base64 of 24 to 64 bytes.` };
  } catch (error) {
    return { fault: `${path} cannot be read: ${readError(error)}` };
  }
}
