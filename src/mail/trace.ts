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
