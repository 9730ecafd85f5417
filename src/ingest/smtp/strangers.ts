import type { MessageLimits } from './options.ts';
import type { Client, Origin } from './origin.ts';
import { deny, type Refusal } from './refusal.ts';

/**
 * Bytes of a message of a stranger: enough for a report of trouble with the headers of what it is about. With the
 * thirty that reach `<postmaster>` in a minute they fill no more than 8 MiB of disk a minute.
 */
export const MAX_STRANGER_BYTES = 256 * 1024;
/** Who holds the memory of the messages of all strangers: having many addresses must not give them more of it. */
export const STRANGERS_HOLDER = 'strangers';

/** Whether it may send to `<postmaster>` only. */
export function isStranger({ allowed, key }: Origin): boolean {
  return !allowed && key === null;
}

/** What a stranger is called in a refusal. */
export function nameOf({ address, isHidden }: Client): string {
  return isHidden ? `The client of ${address}` : address;
}

/** How a stranger may be let in. */
export function wayIn({ isHidden }: Client): string {
  const way = isHidden ? 'let the proxy tell its address' : 'allow it in listener.allowed_cidrs';
  return `${way}, or authenticate with an API key`;
}

/** Bytes that a message of it may have. */
export function maxMessageBytesOf(origin: Origin, { maxMessageBytes }: MessageLimits): number {
  return isStranger(origin) ? Math.min(maxMessageBytes, MAX_STRANGER_BYTES) : maxMessageBytes;
}

/** Refuses a message of a stranger that is too large for one, and tells how it could be taken. */
export function tooLargeForStranger(origin: Origin): Refusal {
  return deny(
    'relay_not_allowed',
    552,
    '5.3.4',
    `${nameOf(origin)} may send to <postmaster> only, ${MAX_STRANGER_BYTES} bytes at most; ${wayIn(origin)}`,
  );
}
