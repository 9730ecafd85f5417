import { writeField } from './field.ts';

/** What a Received field says about how a message came to us (RFC 5321 §4.4). */
export interface Trace {
  /** This server's host name. */
  readonly byHost: string;
  /** The peer's IP address; null when there was no peer, or it is to be hidden. */
  readonly fromAddress: string | null;
  /** The peer's name in EHLO; proves nothing. */
  readonly fromName?: string;
  /** Null for mail submitted on this machine: no protocol has a name for that. */
  readonly protocol: null | 'HTTP' | 'HTTPS' | 'SMTP' | 'ESMTP' | 'ESMTPS' | 'ESMTPA' | 'ESMTPSA';
  /** Our id of the message. */
  readonly id: string;
  /** Wall time of acceptance in ms. */
  readonly date: number;
  /** The recipient, only if there is just one: otherwise each would learn of the others. */
  readonly for?: string;
}

/** A domain or an address literal; any other name from a peer is left out. */
const NAME = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,253}[A-Za-z0-9_])?|\[[0-9A-Za-z:.]{1,64}\])$/;
const ASCII = /^[\0-\x7f]*$/;

/** One Received field, folded, CRLF included, to put on top of an accepted message. Always ASCII. */
export function receivedHeader(trace: Trace): string {
  const { byHost, protocol, id, date, for: recipient } = trace;
  const clauses = [`by ${byHost}`, protocol === null ? `id ${id}` : `with ${protocol} id ${id}`];
  const from = origin(trace);
  if (from !== null) clauses.unshift(`from ${from}`);
  if (recipient !== undefined && ASCII.test(recipient)) clauses.push(`for <${recipient}>`);
  const last = clauses.pop() ?? '';
  return writeField('Received', [...clauses, `${last};`, formatDate(date)]);
}

/** RFC 5321 §4.4 `Extended-Domain`: the given name, otherwise the address; followed by the known address. */
function origin({ fromName, fromAddress }: Trace): string | null {
  const literal = fromAddress === null ? null : addressLiteral(fromAddress);
  if (fromName === undefined) return literal;
  const name = NAME.test(fromName) ? fromName : literal;
  return literal === null ? name : `${name} (${literal})`;
}

/** An IP address in the form that RFC 5321 §4.1.3 requires in place of a name. */
export function addressLiteral(address: string): string {
  return address.includes(':') ? `[IPv6:${address}]` : `[${address}]`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
/** RFC 5322 §3.3, with the names of UTC that some programs still write, and a comment after the zone. */
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

/** The text is the same for a whole second, in which thousands of messages may ask for it. */
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

/** Blanks and comments between two words of a date; comments do not nest there. */
const BETWEEN = /[ \t\r\n]+|\([^()]*\)/g;
/** With obsolete years and zones (RFC 5322 §4.3), dashes between day, month and year, and fractions of a second. */
const LOOSE_DATE =
  /^(?:[a-z]{3,9}\.?,? ?)?(\d{1,2})[ -]([a-z]{3})[a-z]*[ -](\d{2,4}),? (\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)? ?(?:([+-])(\d\d):?(\d\d)|([a-z]{1,5}))?$/i;
/** RFC 5322 §4.3: hours that the named zones are behind UTC. Any other name says nothing about the zone. */
const ZONES_BEHIND: Readonly<Record<string, number>> = {
  EDT: 4,
  EST: 5,
  CDT: 5,
  CST: 6,
  MDT: 6,
  MST: 7,
  PDT: 7,
  PST: 8,
};
/** Characters of a date to read, comments included. */
const MAX_DATE = 200;

/**
 * Reads a date-time that another program wrote, as leniently as it is unambiguous: wall time in ms, or null. An unknown
 * zone counts as UTC; the weekday is not looked at.
 */
export function parseDate(text: string): number | null {
  if (text.length > MAX_DATE) return null;
  const match = LOOSE_DATE.exec(text.replace(BETWEEN, ' ').replace(/ {2,}/g, ' ').trim());
  if (match === null) return null;
  const number = (group: number) => Number(match[group] ?? '0');
  const monthName = (match[2] ?? '').toLowerCase();
  const month = MONTHS.findIndex((name) => name.toLowerCase() === monthName);
  const day = number(1);
  const year = fullYear(match[3] ?? '');
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  const [hour, minute, second, zoneHour, zoneMinute] = [
    number(4),
    number(5),
    number(6),
    number(8),
    number(9),
  ];
  const exists = month >= 0 && year >= 1900 && date.getUTCDate() === day;
  if (!exists || hour > 23 || minute > 59 || second > 60 || zoneHour > 23 || zoneMinute > 59) return null;
  const behind = match[7] === '+' ? -1 : 1;
  const named = (ZONES_BEHIND[(match[10] ?? '').toUpperCase()] ?? 0) * 60;
  const minutes = hour * 60 + minute + named + behind * (zoneHour * 60 + zoneMinute);
  return date.getTime() + (minutes * 60 + second) * 1000;
}

/** RFC 5322 §4.3: years of two or three digits. */
function fullYear(digits: string): number {
  const year = Number(digits);
  if (digits.length === 2) return year + (year < 50 ? 2000 : 1900);
  return digits.length === 3 ? year + 1900 : year;
}
