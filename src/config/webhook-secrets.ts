import type { Random } from '../lib/random.ts';
import type { Vault } from './secrets.ts';

/** The secrets that sign what an endpoint of a webhook is told (contract-2 §B2): `whsec_` and base64. */

/** One of them. */
interface WebhookSecret {
  readonly secret: string;
  /** Wall ms until which it signs, too; null: it is the present one. */
  readonly until: number | null;
}

const SECRET_BYTES = 32;
/** How long a former secret signs besides the present one. */
const FORMER_MS = 24 * 3_600_000;

/** A new secret. */
export function newWebhookSecret(random: Random): string {
  return `whsec_${Buffer.from(random.fill(new Uint8Array(SECRET_BYTES))).toString('base64')}`;
}

/** The secrets of an endpoint, sealed, with a first one. */
export function sealedSecrets(secret: string, id: string, vault: Vault): string {
  return seal([{ secret, until: null }], id, vault);
}

/** The same after a rotation at `now`: the former one signs for a day. */
export function rotatedSecrets(
  sealed: string,
  secret: string,
  id: string,
  vault: Vault,
  now: number,
): string {
  const former = (read(sealed, id, vault) ?? [])
    .map(({ secret, until }) => ({ secret, until: until ?? now + FORMER_MS }))
    .filter(({ until }) => until > now);
  return seal([{ secret, until: null }, ...former], id, vault);
}

/** The secrets that sign at `now`, the present one first; null: they were sealed with another key. */
export function signingSecrets(
  sealed: string,
  id: string,
  vault: Vault | null,
  now: number,
): string[] | null {
  const all = vault === null ? null : read(sealed, id, vault);
  return all?.filter(({ until }) => until === null || until > now).map(({ secret }) => secret) ?? null;
}

function seal(secrets: readonly WebhookSecret[], id: string, vault: Vault): string {
  return vault.seal(JSON.stringify(secrets), ownerOf(id));
}

function read(sealed: string, id: string, vault: Vault): WebhookSecret[] | null {
  const opened = vault.open(sealed, ownerOf(id));
  // Only this file writes it.
  return opened === null ? null : (JSON.parse(opened) as WebhookSecret[]);
}

function ownerOf(id: string): string {
  return `webhook ${id}`;
}
