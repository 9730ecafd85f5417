import { type ApiKey, maySendFrom, type NamedSource, ownerOf } from '../../domain/key.ts';
import type { SigningRights } from '../../domain/message.ts';

/** Where a connection comes from. */
export interface Client {
  /** The client's address: the peer's, or the one that a trusted proxy reports. */
  readonly address: string;
  /**
   * A trusted proxy connects for a client that it does not report. The address is the proxy's: it counts for limits and
   * in the log, but the client does not get the proxy's own rights.
   */
  readonly isHidden: boolean;
}

/** What is known of a session's client. */
export interface Origin extends Client {
  /** The row of `listener.sources` with this address; only if the address is allowed. */
  readonly source: NamedSource | null;
  /** In `listener.allowed_cidrs`, and not hidden. */
  readonly allowed: boolean;
  /** The key that the client has proven; null before, and for clients that need none. */
  readonly key: ApiKey | null;
  /** The box that the client named by its user name; null: none. */
  readonly box: string | null;
}

/** The owner of its messages: the key, the named source, or nobody. */
export function ownerIdOf({ key, source }: Origin): string | null {
  if (key !== null) return key.id;
  return source === null ? null : ownerOf(source);
}

/** Whether it may send as an address on `domain` (lower case). */
export function maySendAs({ key, source }: Origin, domain: string): boolean {
  if (key !== null) return maySendFrom(key, domain);
  return source === null || maySendFrom(source, domain);
}

/** Whether it is limited to some sender domains. */
export function isBoundToDomains({ key, source }: Origin): boolean {
  return ((key ?? source)?.senderDomains.length ?? 0) > 0;
}

/** Whether it may use that domain (lower case) by name, not only because any domain is allowed. */
export function isBoundTo(origin: Origin, domain: string): boolean {
  return isBoundToDomains(origin) && maySendAs(origin, domain);
}

/** Whether it has neither a key nor an address that may relay: anything it says may be forged. */
export function isStranger({ key, source, allowed }: Origin): boolean {
  return key === null && source === null && !allowed;
}

/** The domains that may sign its mail: those it may send from, and none for a stranger, whose From may be forged. */
export function signingRightsOf(origin: Origin): SigningRights {
  const owner = origin.key ?? origin.source;
  if (isStranger(origin)) return [];
  return owner === null || owner.senderDomains.length === 0 ? 'any' : owner.senderDomains;
}
