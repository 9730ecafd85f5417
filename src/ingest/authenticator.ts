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

/** A client that signs its requests: what it signs with, and whose key that belongs to. */
export interface Signer {
  readonly secret: string;
  readonly caller: Caller;
}

/** What is kept of clients that sign their requests. */
export interface SigningKeys {
  /** What is signed with an access key id, and the key that it belongs to, in any state; null: neither is known. */
  find(accessKeyId: string, now: number): Promise<{ readonly secret: string; readonly key: ApiKey } | null>;
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
  readonly signing: SigningKeys;
  readonly clock: Clock;
  readonly log: Log;
}

/** Lifetime of a cached look-up. With the read itself, a revocation takes effect within one second (contract §9). */
const CACHE_MS = 500;
const TOUCH_EVERY_MS = 5000;

interface CacheEntry<T> {
  readonly lookup: Promise<T | null>;
  /** Monotonic ms before the look-up began. */
  readonly since: number;
}

/** Look-ups by a text, each kept for less than a second; those at once share one read. */
class LookUps<T> {
  readonly #cache: NewestMap<string, CacheEntry<T>>;
  readonly #clock: Clock;

  constructor(max: number, clock: Clock) {
    this.#cache = new NewestMap(max);
    this.#clock = clock;
  }

  /** What is known of it; null: nothing that is new enough. */
  get(text: string): Promise<T | null> | null {
    const entry = this.#cache.get(text);
    return entry !== undefined && this.#clock.mono() - entry.since < CACHE_MS ? entry.lookup : null;
  }

  /** Looks it up. */
  begin(text: string, look: (now: number) => Promise<T | null>): Promise<T | null> {
    const entry = { lookup: look(this.#clock.wall()), since: this.#clock.mono() };
    this.#cache.set(text, entry);
    entry.lookup.catch(() => this.#cache.get(text) === entry && this.#cache.delete(text));
    return entry.lookup;
  }
}

/**
 * Finds the API key for a secret, whichever protocol carried it. Look-ups are cached by the secret for less than a
 * second, at most `maxCached` of them. Concurrent look-ups of one key share a read, and checksum and hash are computed
 * once.
 */
export class Authenticator {
  readonly #deps: AuthDeps;
  readonly #callers: LookUps<Caller>;
  readonly #signers: LookUps<Signer>;
  #uses = new Map<string, number>();

  constructor(deps: AuthDeps, options: { readonly maxCached: number }) {
    this.#deps = deps;
    this.#callers = new LookUps(options.maxCached, deps.clock);
    this.#signers = new LookUps(options.maxCached, deps.clock);
  }

  /** Finds the caller with this secret. Rejects with `StoreError` when the keyring cannot be read. */
  async authenticate(secret: string): Promise<AuthResult> {
    const known = this.#callers.get(secret);
    const form = known !== null ? 'well_formed' : inspectSecret(secret);
    if (form !== 'well_formed') return { ok: false, reason: form };
    const caller = await (known ?? this.#lookUp(secret));
    if (caller === null) return { ok: false, reason: 'unknown' };
    return this.#judged(caller);
  }

  /** Finds the signer with an access key id; null: unknown, or its key is not valid now. Rejects as above. */
  async findSigner(accessKeyId: string): Promise<Signer | null> {
    const signer = await this.#lookUpSigner(accessKeyId);
    return signer !== null && this.#judged(signer.caller).ok ? signer : null;
  }

  /**
   * The id of the key that a request named, in any state; null: it is unknown. No use of it, and no proof: whoever signs
   * names a key without showing that they have it. Rejects as above.
   */
  async ownerOf(
    named: { readonly secret: string } | { readonly accessKeyId: string },
  ): Promise<string | null> {
    if ('accessKeyId' in named) return (await this.#lookUpSigner(named.accessKeyId))?.caller.key.id ?? null;
    const { secret } = named;
    const known = this.#callers.get(secret);
    if (known === null && inspectSecret(secret) !== 'well_formed') return null;
    return (await (known ?? this.#lookUp(secret)))?.key.id ?? null;
  }

  #lookUp(secret: string): Promise<Caller | null> {
    const { keyring } = this.#deps;
    return this.#callers.begin(secret, async (now) =>
      toCaller(await keyring.findByHash(hashSecret(secret), now)),
    );
  }

  async #lookUpSigner(accessKeyId: string): Promise<Signer | null> {
    const find = async (now: number): Promise<Signer | null> => {
      const found = await this.#deps.signing.find(accessKeyId, now);
      const caller = toCaller(found?.key ?? null);
      return found === null || caller === null ? null : { secret: found.secret, caller };
    };
    return await (this.#signers.get(accessKeyId) ?? this.#signers.begin(accessKeyId, find));
  }

  /** The caller, if its key is valid now; this is a use of it then. */
  #judged(caller: Caller): AuthResult {
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
}

function toCaller(key: ApiKey | null): Caller | null {
  if (key === null) return null;
  if (key.cidrs.length === 0) return { key, sources: null };
  const parsed = parseCidrs(key.cidrs);
  // Unreadable ranges allow nobody: a refusal is safer than a key that reaches too far.
  return { key, sources: parsed.ok ? parsed.cidrs : { contains: () => false } };
}
