// A file of its own: its test reads no page.

import type { ResultOf } from '../../../../src/operations/table.ts';

type Certificate = ResultOf<'certificate'>;

/** Under so many days left, it is time to do something. */
const SOON_DAYS = 14;
/** A certificate with a shorter life is always near its end: as in `domain/certificate.ts`. */
const SHORT_LIFE_DAYS = 28;
const DAY_MS = 86_400_000;

/** Whether to warn that a certificate ends soon: not where it is meant to be that short, and its renewal goes well. */
export function warnsOfEnd({ origin, acme, validFrom, validUntil, daysLeft }: Certificate): boolean {
  const lifeDays = (Date.parse(validUntil) - Date.parse(validFrom)) / DAY_MS;
  const isShortAndWell = origin === 'acme' && acme?.failures === 0 && lifeDays < SHORT_LIFE_DAYS;
  return daysLeft < 0 || (daysLeft < SOON_DAYS && !isShortAndWell);
}
