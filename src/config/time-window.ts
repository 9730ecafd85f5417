import type { TimeWindow } from '../domain/route-match.ts';

/** Times of the week as rules of routing write them: `mon-fri 08:00-18:00`, `22:00-06:00`, `sat,sun`; always UTC. */

/** In the order of `TimeWindow.days`. */
const DAYS: readonly string[] = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const ALL_DAYS = DAYS.length;
const WINDOW =
  /^(?:([a-z]{3}(?:-[a-z]{3})?(?:,[a-z]{3}(?:-[a-z]{3})?){0,6}))?(?:^| |$)(?:(\d\d):(\d\d)-(\d\d):(\d\d))?$/;
const HOUR = 60;
const DAY = 24 * HOUR;

/** Reads a time of the week; null when it is none. */
export function parseTimeWindow(text: string): TimeWindow | null {
  const match = WINDOW.exec(text.trim().toLowerCase().replace(/ +/g, ' '));
  if (match === null || text.trim() === '') return null;
  const [, days, ...clock] = match;
  const weekdays = days === undefined ? [] : parseDays(days);
  if (weekdays === null) return null;
  if (clock[0] === undefined) return { days: weekdays, from: 0, to: DAY };
  const from = minuteOf(clock[0], clock[1]);
  const to = minuteOf(clock[2], clock[3]);
  return from === null || to === null || from === DAY || from === to ? null : { days: weekdays, from, to };
}

/** A time of the week as it would be written. */
export function formatTimeWindow({ days, from, to }: TimeWindow): string {
  const hours = `${clockOf(from)}-${clockOf(to)}`;
  return days.length === 0 ? hours : `${days.map((day) => DAYS[day] ?? '').join(',')} ${hours}`;
}

/** The days of a list of days and ranges of them, in the week's order; a range may go beyond Saturday. */
function parseDays(text: string): number[] | null {
  const chosen = new Set<number>();
  for (const part of text.split(',')) {
    const [first = '', last = first] = part.split('-');
    const start = DAYS.indexOf(first);
    const end = DAYS.indexOf(last);
    if (start < 0 || end < 0) return null;
    const length = ((end - start + ALL_DAYS) % ALL_DAYS) + 1;
    for (let day = start; day < start + length; day++) chosen.add(day % ALL_DAYS);
  }
  return [...chosen].sort((a, b) => a - b);
}

/** Minutes since midnight, up to 24:00; null when there is no such time. */
function minuteOf(hours = '', minutes = ''): number | null {
  const minute = Number(hours) * HOUR + Number(minutes);
  return Number(minutes) < HOUR && minute <= DAY ? minute : null;
}

function clockOf(minute: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(Math.floor(minute / HOUR))}:${two(minute % HOUR)}`;
}
