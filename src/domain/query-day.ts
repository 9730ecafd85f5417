const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?[Zz]$/;

/** The beginning of a UTC day (`2026-11-20`), or a time in UTC (RFC 3339, seconds may be left out), as wall ms; else null. */
export function parseDay(text: string): number | null {
  const day = dayStart(text);
  if (day !== null) return day;
  const [, date = '', hour, minute, second = '0', fraction = ''] = TIME.exec(text) ?? [];
  const start = dayStart(date);
  if (start === null || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const ms = Math.floor(Number(`0.${fraction || '0'}`) * 1000);
  return start + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 + ms;
}

function dayStart(text: string): number | null {
  const [, year, month, day] = DAY.exec(text) ?? [];
  if (year === undefined) return null;
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day));
  // What is no day, such as the 30th of February, would become another one.
  return new Date(ms).toISOString().startsWith(text) ? ms : null;
}
