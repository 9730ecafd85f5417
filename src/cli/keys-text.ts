import type { KeyView } from '../control/operations.ts';
import type { Clock } from '../lib/clock.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { table } from './terminal.ts';

/** Most requests a minute that a key may be given. */
export const MAX_RATE = 10_000_000;
/** Most days that a key's contents may be kept. */
export const MAX_CONTENT_DAYS = 3650;
const DAYS = /^([1-9]\d{0,4})d$/;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A number of days from now as a time; anything else as it is. */
export function expiryOf(when: string, clock: Clock): string {
  const [, days] = DAYS.exec(when) ?? [];
  return days === undefined ? when : formatTimestamp(clock.wall() + Number(days) * DAY_MS);
}

/** Keys as a table, or that there are none. */
export function keyTable(keys: readonly KeyView[]): string {
  if (keys.length === 0) return 'There are no keys. Make one with: waybill keys create NAME';
  const rows = keys.map((key) => [
    key.name,
    `${key.prefix}…`,
    key.revokedAt === null ? key.mode : 'revoked',
    key.scopes.join(' '),
    key.rateLimit === null ? 'default' : String(key.rateLimit),
    key.createdAt,
    key.lastUsedAt ?? 'never',
    key.expiresAt ?? 'never',
    key.cidrs.length === 0 ? 'anywhere' : key.cidrs.join(' '),
    key.senderDomains.length === 0 ? 'any' : key.senderDomains.join(' '),
  ]);
  return table(
    ['NAME', 'KEY', 'STATE', 'SCOPES', 'RATE', 'CREATED', 'LAST USED', 'EXPIRES', 'USED FROM', 'SENDS AS'],
    rows,
  );
}
