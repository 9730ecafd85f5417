/** Points in time as text: RFC 3339, always UTC with milliseconds when we write it. */

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** Milliseconds since the epoch as `2026-11-20T11:15:00.123Z`. */
export function formatTimestamp(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * Reads an RFC 3339 date-time with its offset; null when it is none, or no such day or time exists. Finer
 * fractions than milliseconds are cut off; a leap second counts as the second after it.
 */
export function parseTimestamp(text: string): number | null {
  const match = RFC3339.exec(text);
  if (match === null) return null;
  const number = (group: number) => Number(match[group] ?? '0');
  const [year, month, day] = [number(1), number(2), number(3)];
  const [hour, minute, second] = [number(4), number(5), number(6)];
  const [offsetHours, offsetMinutes] = [number(9), number(10)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHours > 23 || offsetMinutes > 59) return null;
  const midnight = new Date(0).setUTCFullYear(year, month - 1, day);
  if (!formatTimestamp(midnight).startsWith(text.slice(0, 10))) return null;
  const offset = (offsetHours * 60 + offsetMinutes) * (match[8] === '-' ? -60_000 : 60_000);
  const milliseconds = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  return midnight + ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds - offset;
}
