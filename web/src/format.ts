/** Values as people read them. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** Bytes: `812 B`, `4.9 KiB`, `1.2 GiB`. */
export function formatBytes(bytes: number): string {
  const power =
    bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.abs(bytes)) / 10)));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

/** A length of time: `340 ms`, `2.4 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return two(seconds, 60, 'min', 1, 's');
  if (seconds < 86_400) return two(seconds, 3600, 'h', 60, 'min');
  return two(seconds, 86_400, 'd', 3600, 'h');
}

/** What is counted in buckets tells times that are shorter not apart. */
const SHORTEST_MS = 100;

/** The time within which a share of mail was delivered: `< 0.1 s`, `2.4 s`; a dash where there was none. */
export function formatWithin(ms: number | null | undefined): string {
  if (ms == null) return '–';
  return ms <= SHORTEST_MS ? '< 0.1 s' : formatDuration(ms);
}

function two(seconds: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const whole = Math.floor(seconds / large);
  const rest = Math.floor((seconds % large) / small);
  return rest === 0 ? `${whole} ${largeUnit}` : `${whole} ${largeUnit} ${rest} ${smallUnit}`;
}

/** How long after an event another came: `+40 ms`, `+0.3 s`, `+5 min`. */
export function formatOffset(ms: number): string {
  return ms >= 100 && ms < 1000 ? `+${(ms / 1000).toFixed(1)} s` : `+${formatDuration(ms)}`;
}

/** How far a time is from now: `just now`, `3 min ago`, `in 2 h`, `4 d ago`. */
export function formatRelative(time: number, now: number): string {
  const seconds = Math.round((time - now) / 1000);
  const far = Math.abs(seconds);
  if (far < 5) return 'just now';
  const length = roughly(far);
  return seconds < 0 ? `${length} ago` : `in ${length}`;
}

/** How far off a time is that is still to come: `in a moment`, `in 3 min`. It is never over already, however near. */
export function formatAhead(time: number, now: number): string {
  return time - now < 4_500 ? 'in a moment' : formatRelative(time, now);
}

function roughly(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  if (seconds < 86_400 * 61) return `${Math.floor(seconds / 86_400)} d`;
  if (seconds < 86_400 * 730) return `${Math.floor(seconds / (86_400 * 30.44))} months`;
  return `${Math.floor(seconds / (86_400 * 365.25))} years`;
}

/** A moment, exactly, in a time zone: `2026-11-22 03:04:05 UTC`, `2026-11-22 04:04:05 CET`. */
export function formatMoment(time: number, zone = 'UTC'): string {
  if (Number.isNaN(time)) return 'unknown';
  if (zone === 'UTC') return `${new Date(time).toISOString().replace('T', ' ').slice(0, 19)} UTC`;
  const parts = new Map(
    clockOf(zone)
      .formatToParts(time)
      .map(({ type, value }) => [type, value]),
  );
  const [year, month, day, hour, minute, second, name] = MOMENT.map((part) => parts.get(part) ?? '');
  return `${year}-${month}-${day} ${hour}:${minute}:${second} ${name}`;
}

const MOMENT = ['year', 'month', 'day', 'hour', 'minute', 'second', 'timeZoneName'] as const;

/** The time of day in a time zone, as a clock has it: `04:04`. */
export function formatClock(time: number, zone = 'UTC'): string {
  return formatMoment(time, zone).slice(11, 16);
}

/** When a step of counts began, in a time zone: `2026-11-22 04:00 CET`, or `2026-11-22` where steps are days. */
export function formatStep(time: number, stepSeconds: number, zone = 'UTC'): string {
  const moment = formatMoment(time, zone);
  return stepSeconds >= 86_400 ? moment.slice(0, 10) : moment.replace(/:\d\d /, ' ');
}

/** What the list of messages is asked for to find those that were accepted within a time (ms). */
export function timeQuery(from: number, until: number): string {
  const written = (time: number) => new Date(time).toISOString().replace('.000Z', 'Z');
  return `after:${written(from)} before:${written(until)}`;
}

/** Making one takes long; a page needs one or two. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  });
  clocks.set(zone, made);
  return made;
}

/** A count: `12,345`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** A count where room is short: `950`, `12.3k`, `1.2M`. */
export function formatShort(count: number): string {
  return new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })
    .format(count)
    .replace('K', 'k');
}

/** `1 message`, `3 messages`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** A change against an earlier count: `+12 %`, `−3 %`, `±0 %`; null where there was nothing before. */
export function formatChange(now: number, before: number): string | null {
  if (before === 0) return null;
  const percent = Math.round(((now - before) / before) * 100);
  if (percent === 0) return '±0 %';
  return percent > 0 ? `+${formatCount(percent)} %` : `−${formatCount(-percent)} %`;
}

/** A rate: `0.08 %`, `4.2 %`, `37 %`, `99.8 %`; a dash where there is none. */
export function formatRate(rate: number | null): string {
  if (rate === null) return '–';
  // Less than all is never `100 %`.
  if (rate > 0.99 && rate < 1) return `${Math.floor(rate * 1000) / 10} %`;
  const percent = rate * 100;
  const digits = percent === 0 || percent >= 10 ? 0 : percent >= 1 ? 1 : 2;
  return percent > 0 && percent < 0.005 ? '< 0.01 %' : `${percent.toFixed(digits)} %`;
}
