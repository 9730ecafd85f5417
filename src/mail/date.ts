const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
/** RFC 5322 §3.3, with the names of UTC that programs still write, and a comment after the zone. */
const DATE =
  /^(?:(\w{3}), ?)?(\d{1,2}) (\w{3}) (\d{4}) (\d\d):(\d\d)(?::(\d\d))? (?:[+-](\d\d)(\d\d)|GMT|UTC?)(?: \([\w :+/-]*\))?$/;

/** A wall time in ms as a date-time of RFC 5322 §3.3, in UTC. */
export function formatDate(wallMs: number): string {
  const second = Math.floor(wallMs / 1000);
  if (second !== lastSecond) {
    // toUTCString is fixed by ECMA-262 and differs only in the name of the zone.
    lastText = new Date(wallMs).toUTCString().replace('GMT', '+0000');
    lastSecond = second;
  }
  return lastText;
}

/** The text is the same for a whole second, and thousands of messages ask for it. */
let lastSecond = Number.NaN;
let lastText = '';

/** Whether text is a date-time of RFC 5322 and names a day that exists. */
export function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (match === null) return false;
  const [, weekday, day = '', monthName = '', year = '', hour, minute, second = '0', , zoneMinute = '0'] =
    match;
  const month = MONTHS.indexOf(monthName);
  const date = new Date(Date.UTC(Number(year), month, Number(day)));
  const exists = month >= 0 && Number(year) >= 1900 && date.getUTCDate() === Number(day);
  const isRightWeekday = weekday === undefined || WEEKDAYS[date.getUTCDay()] === weekday;
  const isTime = Number(hour) < 24 && Number(minute) < 60 && Number(second) <= 60 && Number(zoneMinute) < 60;
  return exists && isRightWeekday && isTime;
}
