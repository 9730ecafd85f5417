import type { ApiKey } from '../../domain/key.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Credentials } from '../../smtp/receiver/auth-exchange.ts';
import { StoreError } from '../../store/store.ts';
import type { Authenticator, AuthResult, Caller } from '../authenticator.ts';
import { AuthFailures } from './auth-failures.ts';
import { decline, deny, type Refusal } from './refusal.ts';

const NEEDS_KEY = 'The password must be a valid API key; create one with: waybill keys create';

/**
 * AUTH (RFC 4954, contract §9): the password is an API key, the user name may be anything. Whoever names another
 * identity to act as (RFC 4616 §2) than the user name or the key's own name asks for what is not there, and is refused.
 *
 * What was wrong with a key is told to the log by the code of the refusal, never to the client, who could search keys
 * with it; user names go nowhere (contract §16).
 */
export class Authentication {
  readonly #authenticator: Authenticator;
  readonly #failures: AuthFailures;

  constructor(authenticator: Authenticator, clock: Clock) {
    this.#authenticator = authenticator;
    this.#failures = new AuthFailures(clock);
  }

  /** The key, at once; or why there is none, which a client that errs often has to wait for. Never rejects for `StoreError`. */
  async authenticate(address: string, credentials: Credentials): Promise<ApiKey | Refusal> {
    const found = await this.#find(credentials.password);
    if (found === null) return decline(454, '4.7.0', 'Keys cannot be looked up now; try again soon');
    const refusal = found.ok
      ? callerRefusal(found.caller, address, credentials)
      : deny(`auth_${found.reason}`, 535, '5.7.8', NEEDS_KEY);
    if (found.ok && refusal === null) return found.caller.key;
    const hasWaited = await this.#failures.wait(address);
    if (hasWaited && refusal !== null) return refusal;
    return deny(
      'auth_too_many_failures',
      421,
      '4.7.0',
      `Too many failed authentications from ${address}; the password must be an API key`,
    );
  }

  /** Null when the keyring cannot be read. */
  async #find(secret: string): Promise<AuthResult | null> {
    try {
      return await this.#authenticator.authenticate(secret);
    } catch (error) {
      if (error instanceof StoreError && error.code !== 'store_bug') return null;
      throw error;
    }
  }
}

/** Why a good key is not taken from here, or not for this. */
function callerRefusal({ key, sources }: Caller, address: string, credentials: Credentials): Refusal | null {
  const { authorizationId, username } = credentials;
  if (sources !== null && !sources.contains(address))
    return deny(
      'key_source_not_allowed',
      535,
      '5.7.8',
      `This key may not be used from ${address}; create one that may: waybill keys create --cidr`,
    );
  if (!key.scopes.includes('messages:send'))
    return deny(
      'scope_missing',
      535,
      '5.7.8',
      'This key may not send; create one with the scope messages:send',
    );
  if (authorizationId === '' || authorizationId === username || authorizationId === key.name) return null;
  return deny(
    'auth_identity',
    535,
    '5.7.8',
    'A key acts for itself only; leave the authorization identity empty',
  );
}
