import { createHmac } from 'node:crypto';
import { HOOK_TYPES, type HookType, type Relay } from '../domain/relay.ts';
import type { RelayHook } from '../domain/relay-hook.ts';
import { NOTE_PREFIX } from '../store/registry.ts';
import { isRecord } from './kinds.ts';
import type { Vault } from './secrets.ts';

/**
 * The tokens in the paths of hooks (contract-2 §A4). They are derived from the secret key, the relay's name and the
 * number of its rotations, so that every node knows them, relays of the file have them too, and only numbers are stored.
 */

/** The tokens that the hook of a relay has now. */
export interface HookTokens extends Pick<RelayHook, 'current' | 'former'> {
  readonly relay: string;
}

/** How often a token was replaced, as a note of the program keeps it. */
interface Rotations {
  readonly count: number;
  /** Wall ms of the last of them, the newest first. */
  readonly at: readonly number[];
}

/** How long a token counts after it was replaced, in ms. */
const FORMER_MS = 86_400_000;
/** Former tokens of a relay; more rotations within a day end the oldest early. */
const MAX_FORMER = 20;
const TOKEN_DIGITS = 32;
const INFO = 'waybill hook tokens';
const NEVER: Rotations = { count: 0, at: [] };

/** The type of a relay whose provider has webhooks; null for others. */
export function hookTypeOf({ type }: Pick<Relay, 'type'>): HookType | null {
  return HOOK_TYPES.find((known) => known === type) ?? null;
}

/** The tokens of all relays that have hooks. `settings` are the stored ones, values as JSON. */
export function hookTokens(
  relays: readonly Relay[],
  settings: ReadonlyMap<string, string>,
  vault: Pick<Vault, 'derive'>,
): HookTokens[] {
  const key = vault.derive(INFO);
  return relays
    .filter((relay) => hookTypeOf(relay) !== null)
    .map(({ name }) => {
      const { count, at } = rotationsIn(settings.get(hookNote(name)));
      const token = (number: number) =>
        createHmac('sha256', key).update(`${name} ${number}`).digest('hex').slice(0, TOKEN_DIGITS);
      const former = at.map((time, index) => ({ token: token(count - 1 - index), until: time + FORMER_MS }));
      return { relay: name, current: token(count), former };
    });
}

/** The key of the note that keeps a relay's rotations. It outlives the relay: no token comes back. */
export function hookNote(relay: string): string {
  return `${NOTE_PREFIX}hook.${relay}`;
}

/** The key of the note that keeps when a relay's hook was last proven. It goes with the relay, and with its type. */
export function provenNote(relay: string): string {
  return `${NOTE_PREFIX}hook_proven.${relay}`;
}

/** The time in such a note, in wall ms; null without one. */
export function timeInNote(note: string | undefined): number | null {
  const value: unknown = note === undefined ? null : JSON.parse(note);
  return typeof value === 'number' ? value : null;
}

/** The note, as JSON, after one more rotation. */
export function rotatedNote(note: string | undefined, now: number): string {
  const { count, at } = rotationsIn(note);
  const recent = [now, ...at].filter((time) => time + FORMER_MS > now).slice(0, MAX_FORMER);
  return JSON.stringify({ count: count + 1, at: recent } satisfies Rotations);
}

function rotationsIn(note: string | undefined): Rotations {
  const value: unknown = note === undefined ? null : JSON.parse(note);
  if (!isRecord(value)) return NEVER;
  const { count, at } = value;
  if (typeof count !== 'number' || !Array.isArray(at)) return NEVER;
  return { count, at: at.filter((time): time is number => typeof time === 'number').slice(0, count) };
}

/** Where the provider posts to. */
export function hookUrl(publicUrl: string | null, relay: string, token: string): string {
  return `${publicUrl ?? 'https://<your-server>'}/hooks/${relay}/${token}`;
}

/** The hook of a relay in force; null for one that has none, or is none. */
export function relayHook(
  {
    relays,
    hookTokens: all,
  }: { readonly relays: readonly Relay[]; readonly hookTokens: readonly HookTokens[] },
  name: string,
): RelayHook | null {
  const relay = relays.find((one) => one.name === name);
  const tokens = all.find((one) => one.relay === name);
  const type = relay === undefined ? null : hookTypeOf(relay);
  if (relay === undefined || tokens === undefined || type === null) return null;
  const { provider } = relay;
  const settings = {
    topicArn: provider?.webhookTopicArn ?? null,
    publicKey: provider?.webhookPublicKey ?? null,
    username: provider?.webhookUsername ?? null,
    secret: provider?.webhookSecret ?? null,
  };
  return { type, settings, current: tokens.current, former: tokens.former };
}
