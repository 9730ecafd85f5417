import type { Clock } from '../lib/clock.ts';
import { formatTimestamp } from '../lib/clock.ts';
import type { KeyView } from '../operations/keys.ts';
import { Exit } from './exit.ts';
import { counted, table } from './terminal.ts';

/** Most requests a minute that a key may be given. */
export const MAX_RATE = 10_000_000;
/** Most days that a key's contents may be kept. */
export const MAX_CONTENT_DAYS = 3650;
const DAYS = /^([1-9]\d{0,4})d$/;
/** What a time begins with; whether it is one is told by whoever reads it. */
const DATE = /^\d{4}-/;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A number of days from now as a time; what may be a time as it is. Throws `Exit` for anything else. */
export function expiryOf(when: string, clock: Clock): string {
  const [, days] = DAYS.exec(when) ?? [];
  if (days !== undefined) return formatTimestamp(clock.wall() + Number(days) * DAY_MS);
  if (DATE.test(when)) return when;
  throw new Exit(
    2,
    `--expires: '${when}' is neither a time (RFC 3339) such as 2027-01-31T12:00:00Z nor a number of days such as 90d.`,
  );
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
    key.contentDays === null ? 'default' : counted(key.contentDays, 'day'),
    key.createdAt,
    key.lastUsedAt ?? 'never',
    key.expiresAt ?? 'never',
    key.cidrs.length === 0 ? 'anywhere' : key.cidrs.join(' '),
    key.senderDomains.length === 0 ? 'any' : key.senderDomains.join(' '),
  ]);
  return table(
    [
      'NAME',
      'KEY',
      'STATE',
      'SCOPES',
      'RATE',
      'KEEPS',
      'CREATED',
      'LAST USED',
      'EXPIRES',
      'USED FROM',
      'SENDS AS',
    ],
    rows,
  );
}
