import { boxOfUserName } from '../../../domain/box.ts';
import type { Exchange } from '../../../http/exchange.ts';
import { Problem } from '../../../http/problem.ts';
import { isOwnHost, LOOPBACK_ONLY } from '../../../lib/network.ts';
import { type Call, userNameOf } from '../call.ts';

/** Whose mail a client of Mailpit sees: a test key's, and of its box, if the user name is one (contract-2 §G2). */

/** A mailbox, as Mailpit has one. */
export interface Account {
  readonly keyId: string;
  /** Null: all mail of the key, whatever its box. */
  readonly box: string | null;
}

/** The account of a call. Throws the problem 403 for a live key: what is sent here must never leave. */
export function accountOf({ exchange, caller: { key } }: Call): Account {
  if (key.mode !== 'test')
    throw new Problem(403, 'scope_missing', 'This needs a test key: what is sent here must never leave.');
  const userName = userNameOf(exchange.headers);
  return { keyId: key.id, box: userName === null ? null : boxOfUserName(userName, key) };
}

/**
 * Whether a request without a key comes from a program or an address bar: no page of another site may read mail, neither
 * under its own name, which leads here (DNS rebinding), nor under ours.
 */
export function isOfNoPage({ host = '', origin, ...headers }: Exchange['headers']): boolean {
  const isAsked = (headers['sec-fetch-site'] ?? 'none') === 'none';
  return origin === undefined && isAsked && isOwnHost(host.toLowerCase(), LOOPBACK_ONLY);
}
