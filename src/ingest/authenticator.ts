import { type ApiKey, keyRefusal } from '../domain/key.ts';
import type { Clock } from '../lib/clock.ts';
import { hashSecret, inspectSecret } from '../lib/id.ts';
import type { Log } from '../lib/log.ts';
import { type CidrSet, parseCidrs } from '../lib/network.ts';
import { NewestMap } from '../lib/newest-map.ts';
import type { Keyring } from '../store/accounts.ts';

/** An authenticated client and its valid key. */
export interface Caller {
  readonly key: ApiKey;
  /** Source addresses from which the key may be used; null allows all. */
  readonly sources: CidrSet | null;
}

/** Why a secret is refused. For the log only: the client learns nothing that helps it to guess keys. */
export type AuthRefusal = 'malformed' | 'checksum_wrong' | 'unknown' | 'expired' | 'revoked';

/** The caller, or the reason for refusal and, where known, the key. */
export type AuthResult =
  | { readonly ok: true; readonly caller: Caller }
  | { readonly ok: false; readonly reason: AuthRefusal; readonly keyId?: string };

/** What authentication needs. */
export interface AuthDeps {
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly log: Log;
}

/** Lifetime of a cached look-up. With the read itself, a revocation takes effect within one second (contract §9). */
const CACHE_MS = 500;
const TOUCH_EVERY_MS = 5000;

interface CacheEntry {
  readonly lookup: Promise<Caller | null>;
  /** Monotonic ms before the look-up began. */
  readonly since: number;
}

/**
 * Finds the API key for a secret, whichever protocol carried it. Look-ups are cached by the secret for less than a
 * second, at most `maxCached` of them. Concurrent look-ups of one key share a read, and checksum and hash are computed
 * once.
 */
export class Authenticator {
  readonly #deps: AuthDeps;
  readonly #cache: NewestMap<string, CacheEntry>;
  #uses = new Map<string, number>();

  constructor(deps: AuthDeps, options: { readonly maxCached: number }) {
    this.#deps = deps;
    this.#cache = new NewestMap(options.maxCached);
  }

  /** Finds the caller with this secret. Rejects with `StoreError` when the keyring cannot be read. */
  async authenticate(secret: string): Promise<AuthResult> {
    const known = this.#cached(secret);
    const form = known !== null ? 'well_formed' : inspectSecret(secret);
    if (form !== 'well_formed') return { ok: false, reason: form };
    const caller = await (known ?? this.#lookUp(secret));
    if (caller === null) return { ok: false, reason: 'unknown' };
    const now = this.#deps.clock.wall();
    const refusal = keyRefusal(caller.key, now);
    if (refusal !== null) return { ok: false, reason: refusal, keyId: caller.key.id };
    this.#uses.set(caller.key.id, now);
    return { ok: true, caller };
  }

  /** Records every few seconds which keys were used, until `signal` aborts, and then once more. */
  async recordUses(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#deps.clock.sleep(TOUCH_EVERY_MS, signal);
      await this.#flushUses();
    }
  }

  async #flushUses(): Promise<void> {
    if (this.#uses.size === 0) return;
    const uses = this.#uses;
    this.#uses = new Map();
    try {
      await this.#deps.keyring.touch(uses);
    } catch (error) {
      // The time of last use is a courtesy: failing to record it must not fail a request.
      this.#deps.log.warn('api.key_use_not_recorded', {
        code: error instanceof Error ? error.name : 'unknown',
      });
    }
  }

  #cached(secret: string): Promise<Caller | null> | null {
    const entry = this.#cache.get(secret);
    return entry !== undefined && this.#deps.clock.mono() - entry.since < CACHE_MS ? entry.lookup : null;
  }

  #lookUp(secret: string): Promise<Caller | null> {
    const { clock, keyring } = this.#deps;
    const lookup = keyring.findByHash(hashSecret(secret), clock.wall()).then(toCaller);
    const entry = { lookup, since: clock.mono() };
    this.#cache.set(secret, entry);
    lookup.catch(() => this.#cache.get(secret) === entry && this.#cache.delete(secret));
    return lookup;
  }
}

function toCaller(key: ApiKey | null): Caller | null {
  if (key === null) return null;
  if (key.cidrs.length === 0) return { key, sources: null };
  const parsed = parseCidrs(key.cidrs);
  // Unreadable ranges allow nobody: a refusal is safer than a key that reaches too far.
  return { key, sources: parsed.ok ? parsed.cidrs : { contains: () => false } };
}
