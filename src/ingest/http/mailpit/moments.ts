/**
 * Times in a search, as people type them, in a time zone where they name none. A file of its own: time zones need more
 * care than the rest of a query.
 */

const MOMENT =
  /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[ T]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?$/i;

/**
 * A day (its beginning) or a time as wall ms; null: it is none. `timeZone` is an IANA name for what says no zone; null,
 * or unknown: UTC.
 */
export function readMoment(text: string, timeZone: string | null): number | null {
  const match = MOMENT.exec(text);
  if (match === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((digits) => Number(digits ?? 0));
  if (hour > 23 || minute > 59 || second > 59) return null;
  const midnight = Date.UTC(year, month - 1, day);
  const date = new Date(midnight);
  // A day that does not exist, such as 30 February, would become another one.
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day)
    return null;
  const local =
    midnight + ((hour * 60 + minute) * 60 + second) * 1000 + Math.floor(Number(`0.${match[7] ?? 0}`) * 1000);
  const zone = match[8];
  if (zone !== undefined) return local - offsetOf(zone);
  return timeZone === null ? local : inZone(local, timeZone);
}

/** Ms that a written zone is ahead of UTC. */
function offsetOf(zone: string): number {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})$/.exec(zone) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** The time at which clocks of a zone show this. Of two, where clocks are set back, either. */
function inZone(local: number, timeZone: string): number {
  const clock = clockOf(timeZone);
  if (clock === null) return local;
  // The difference is looked up at a time that may lie on the other side of a change, so it is looked up twice.
  const first = local - aheadAt(clock, local);
  return local - aheadAt(clock, first);
}

function clockOf(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      era: 'short',
    });
  } catch {
    return null;
  }
}

/** Ms that a clock is ahead of UTC at a time. */
function aheadAt(clock: Intl.DateTimeFormat, at: number): number {
  const parts = new Map(clock.formatToParts(at).map(({ type, value }) => [type, value]));
  const part = (name: Intl.DateTimeFormatPartTypes) => Number(parts.get(name));
  const year = parts.get('era') === 'BC' ? 1 - part('year') : part('year');
  const shown = Date.UTC(year, part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return shown - (at - (((at % 1000) + 1000) % 1000));
}
