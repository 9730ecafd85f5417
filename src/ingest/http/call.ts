import type { Scope } from '../../domain/key.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Caller } from '../authenticator.ts';
import type { RateWindow } from '../sliding-window.ts';
import type { AuthScheme } from './auth.ts';

/** One authenticated request, with everything that was found out on the way to its endpoint. */
export interface Call {
  readonly exchange: Exchange;
  readonly caller: Caller;
  /** The client's address: the peer's, or the one a trusted proxy names. */
  readonly sourceAddress: string;
  /** Named segments of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** Throws the problem 401 when the key is good no longer: a body may have taken minutes (contract §9). */
  readonly checkKey: () => Promise<void>;
}

/** What lies at a route: what it asks of a key, and what it does. */
export interface Endpoint {
  /** Any of these scopes will do. */
  readonly scopes: readonly Scope[];
  readonly window: RateWindow;
  readonly scheme: AuthScheme;
  /** Answers, or throws a `Problem`. */
  readonly handle: (call: Call) => Promise<void>;
}
