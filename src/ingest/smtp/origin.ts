import { type ApiKey, maySendFrom, type NamedSource, ownerOf } from '../../domain/key.ts';
import type { SigningRights } from '../../domain/message.ts';

/** Where a connection comes from. */
export interface Client {
  /** The client's address: the peer's, or the one that a trusted proxy tells. */
  readonly address: string;
  /**
   * A trusted proxy connects for a client that it does not tell. The address is the proxy's: it counts for limits and
   * in the log, but what the proxy itself may do is not open to all its clients.
   */
  readonly isHidden: boolean;
}

/** Who is at the other end of a session, as far as it is known. */
export interface Origin extends Client {
  /** The row of `listener.sources` that has this address; only of one that is allowed. */
  readonly source: NamedSource | null;
  /** In `listener.allowed_cidrs`, and not hidden. */
  readonly allowed: boolean;
  /** The key that the client has proved to have; null before, and for those who need none. */
  readonly key: ApiKey | null;
}

/** Whose messages these are: the key's, the named source's, or nobody's. */
export function ownerIdOf({ key, source }: Origin): string | null {
  if (key !== null) return key.id;
  return source === null ? null : ownerOf(source);
}

/** Whether it may send as an address on `domain` (lower case). */
export function maySendAs({ key, source }: Origin, domain: string): boolean {
  if (key !== null) return maySendFrom(key, domain);
  return source === null || maySendFrom(source, domain);
}

/** Whether only some sender domains are open to it. */
export function isBoundToDomains({ key, source }: Origin): boolean {
  return ((key ?? source)?.senderDomains.length ?? 0) > 0;
}

/** Whether that domain (lower case) is open to it by name, not just as any domain is. */
export function isBoundTo(origin: Origin, domain: string): boolean {
  return isBoundToDomains(origin) && maySendAs(origin, domain);
}

/** Neither a key's holder, nor at an address that may relay: whatever it says of itself may be forged. */
export function isStranger({ key, source, allowed }: Origin): boolean {
  return key === null && source === null && !allowed;
}

/** What mail of its may be signed for: what it may send from, and nothing for a stranger, whose From anybody can write. */
export function signingRightsOf(origin: Origin): SigningRights {
  const owner = origin.key ?? origin.source;
  if (isStranger(origin)) return [];
  return owner === null || owner.senderDomains.length === 0 ? 'any' : owner.senderDomains;
}
