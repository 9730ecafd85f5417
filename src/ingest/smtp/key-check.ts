import type { ApiKey } from '../../domain/key.ts';
import type { Clock } from '../../lib/clock.ts';
import { sourceGroup } from '../../lib/network.ts';
import { NewestMap } from '../../lib/newest-map.ts';
import type { Credentials } from '../../smtp/receiver/auth-exchange.ts';
import { StoreError } from '../../store/store.ts';
import type { Authenticator, AuthResult, Caller } from '../authenticator.ts';
import type { Client } from './origin.ts';
import { decline, deny, type Refusal } from './refusal.ts';

/**
 * How long a proven key is trusted before it is looked up again, in ms. The look-up may be half a second old itself:
 * together, a revocation takes effect within one second (contract §9).
 */
const BELIEVE_MS = 250;
const NEEDS_KEY = 'The password must be a valid API key; create one with: waybill keys create';
const STORE_AWAY = 'Keys cannot be looked up now; try again soon';

interface Proof {
  readonly secret: string;
  /** Monotonic ms before the last look-up began. */
  checkedAt: number;
}

/**
 * AUTH (RFC 4954, contract §9): the password is an API key, the user name may be anything. An authorization identity
 * (RFC 4616 §2) other than the user name or the key's own name does not exist, and is refused.
 *
 * The log learns by the refusal's code what was wrong with a key. The client does not, for it could use that to guess
 * keys; user names go nowhere (contract §16).
 */
export class KeyCheck {
  readonly #authenticator: Authenticator;
  readonly #clock: Clock;
  readonly #failures: AuthFailures;
  /** By the key object found; dropped with its session. Kept here, so that nobody logs a secret by mistake. */
  readonly #proofs = new WeakMap<ApiKey, Proof>();

  constructor(authenticator: Authenticator, clock: Clock) {
    this.#authenticator = authenticator;
    this.#clock = clock;
    this.#failures = new AuthFailures(clock);
  }

  /** The key, at once; or the refusal, for which a client that often fails must wait. */
  async authenticate(client: Client, credentials: Credentials): Promise<ApiKey | Refusal> {
    const found = await this.#find(credentials.password);
    if (found === null) return decline('store_unavailable', 454, '4.7.0', STORE_AWAY);
    const refusal = found.ok
      ? (callerRefusal(found.caller, client) ?? identityRefusal(found.caller, credentials))
      : deny(`auth_${found.reason}`, 535, '5.7.8', NEEDS_KEY);
    if (found.ok && refusal === null) return found.caller.key;
    const keyId = found.ok ? found.caller.key.id : found.keyId;
    const hasWaited = await this.#failures.wait(client.address);
    const told = hasWaited && refusal !== null ? refusal : tooManyFailures(client.address);
    return keyId === undefined ? told : { ...told, keyId };
  }

  /** The key as it is now; or why it is no longer valid, which ends the session: it cannot authenticate twice. */
  again(key: ApiKey, client: Client): ApiKey | Promise<ApiKey | Refusal> {
    const proof = this.#proofs.get(key);
    const isFresh = proof !== undefined && this.#clock.mono() - proof.checkedAt < BELIEVE_MS;
    return isFresh ? key : this.#findAgain(proof?.secret ?? '', client);
  }

  async #findAgain(secret: string, client: Client): Promise<ApiKey | Refusal> {
    const found = await this.#find(secret);
    if (found === null) return decline('store_unavailable', 421, '4.3.0', STORE_AWAY);
    if (found.ok && callerRefusal(found.caller, client) === null) return found.caller.key;
    const reason = found.ok ? 'key_changed' : `auth_${found.reason}`;
    return deny(reason, 421, '4.7.0', 'This API key is no longer valid; connect again with one that is');
  }

  /** Null when the keyring cannot be read. */
  async #find(secret: string): Promise<AuthResult | null> {
    const checkedAt = this.#clock.mono();
    try {
      const found = await this.#authenticator.authenticate(secret);
      if (found.ok) this.#proofs.set(found.caller.key, { secret, checkedAt });
      return found;
    } catch (error) {
      if (error instanceof StoreError && error.code !== 'store_bug') return null;
      throw error;
    }
  }
}

/** Why a valid key may not be used from here, or not for sending. */
function callerRefusal({ key, sources }: Caller, { address, isHidden }: Client): Refusal | null {
  if (sources !== null && (isHidden || !sources.contains(address))) {
    const text = `This key may not be used from ${address}; create one that may: waybill keys create --cidr`;
    return deny('key_source_not_allowed', 535, '5.7.8', text);
  }
  if (key.scopes.includes('messages:send')) return null;
  const text = 'This key may not send; create one with the scope messages:send';
  return deny('scope_missing', 535, '5.7.8', text);
}

function identityRefusal({ key }: Caller, { authorizationId, username }: Credentials): Refusal | null {
  if (authorizationId === '' || authorizationId === username || authorizationId === key.name) return null;
  const text = 'A key acts only for itself; leave the authorization identity empty';
  return deny('auth_identity', 535, '5.7.8', text);
}

function tooManyFailures(address: string): Refusal {
  const text = `Too many failed authentications from ${address}; the password must be an API key`;
  return deny('auth_too_many_failures', 421, '4.7.0', text);
}

/** The wait after a source's first failure, in ms; each further failure doubles it. */
const FIRST_MS = 250;
/** The longest wait, in ms: clients give up after 30 s and more. */
const LONGEST_MS = 10_000;
/** After this long without a failure, in ms, a source starts afresh. */
const FORGET_MS = 10 * 60_000;
/** Sources remembered, at about 200 bytes each; the one that failed longest ago makes room. */
export const MAX_FAILING_SOURCES = 10_000;
/** Waiting answers of one source at once. Failing clients may leave meanwhile: connections do not bound these. */
export const MAX_WAITING_OF_SOURCE = 100;
/** Waiting answers at once in all. */
export const MAX_WAITING = 2_000;

interface Failing {
  failures: number;
  lastAt: number;
  waiting: number;
}

/**
 * Delays clients that guess keys, by source, IPv6 by /64. Only wrong answers wait, never questions: a valid key is
 * answered at once however much others fail behind the same NAT, so nobody is locked out by neighbours. The wait only
 * spares the store and the log; it is their 256 bits that make keys unguessable.
 *
 * A session asks one question at a time, so more answers need more connections, which
 * `listener.max_connections_per_source` bounds. When too many answers wait, because clients leave and come again, the
 * next connection is closed instead: that costs us nothing to keep, and the client a connection.
 */
export class AuthFailures {
  readonly #clock: Clock;
  /** By group; the oldest failure first. */
  readonly #failing = new NewestMap<string, Failing>(MAX_FAILING_SOURCES);
  #waiting = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** An authentication failed: waits. Returns false at once if too many are waiting and the connection should end. */
  async wait(address: string): Promise<boolean> {
    const source = this.#failed(sourceGroup(address));
    if (source.waiting >= MAX_WAITING_OF_SOURCE || this.#waiting >= MAX_WAITING) return false;
    source.waiting += 1;
    this.#waiting += 1;
    await this.#clock.sleep(Math.min(LONGEST_MS, FIRST_MS * 2 ** (source.failures - 1)));
    source.waiting -= 1;
    this.#waiting -= 1;
    return true;
  }

  #failed(group: string): Failing {
    const now = this.#clock.mono();
    const known = this.#failing.get(group);
    const source = known ?? { failures: 0, lastAt: now, waiting: 0 };
    if (now - source.lastAt >= FORGET_MS) source.failures = 0;
    source.failures += 1;
    source.lastAt = now;
    this.#failing.set(group, source);
    return source;
  }
}
