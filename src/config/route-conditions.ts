import { parseDomain } from '../domain/domain-name.ts';
import { addressKey, parseMailbox } from '../domain/mailbox.ts';
import { isTag } from '../domain/message.ts';
import type { Condition, RouteMatch, TimeWindow } from '../domain/route-match.ts';
import { parseCidrs } from '../lib/network.ts';
import { bytes, cidr, flawsOf, formOf, type Kind, text } from './kinds.ts';

/** Times of the week in routing rules: `mon-fri 08:00-18:00`, `22:00-06:00`, `sat,sun`; always UTC. */

/** In the order of `TimeWindow.days`. */
const DAYS: readonly string[] = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const ALL_DAYS = DAYS.length;
const WINDOW =
  /^(?:([a-z]{3}(?:-[a-z]{3})?(?:,[a-z]{3}(?:-[a-z]{3})?){0,6}))?(?:^| |$)(?:(\d\d):(\d\d)-(\d\d):(\d\d))?$/;
const HOUR = 60;
const DAY = 24 * HOUR;

/** Parses a time of the week; null if it is invalid. */
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

/** A time of the week in its written form. */
export function formatTimeWindow({ days, from, to }: TimeWindow): string {
  const hours = `${clockOf(from)}-${clockOf(to)}`;
  return days.length === 0 ? hours : `${days.map((day) => DAYS[day] ?? '').join(',')} ${hours}`;
}

/** The days of a list of days and ranges, in the week's order; a range may wrap past Saturday. */
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

/** Minutes since midnight, up to 24:00; null for an invalid time. */
function minuteOf(hours = '', minutes = ''): number | null {
  const minute = Number(hours) * HOUR + Number(minutes);
  return Number(minutes) < HOUR && minute <= DAY ? minute : null;
}

function clockOf(minute: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(Math.floor(minute / HOUR))}:${two(minute % HOUR)}`;
}

// The conditions of a routing rule, as written in `routes:`.

/** Most values of one condition. */
const MAX_VALUES = 1000;

/** How one condition is written. */
export interface ConditionField {
  /** A member of {@link RouteMatch}. */
  readonly condition: Condition;
  /** The kind of one value. */
  readonly kind: Kind<unknown>;
  readonly meaning: string;
  /** Whether there may be several values, of which one must match. */
  readonly several: boolean;
  /** The match for values that `kind` has read. Empty for values that a match cannot express. */
  readonly toMatch: (values: readonly unknown[]) => RouteMatch;
  /** The values in their written form; empty if the match lacks the condition. */
  readonly values: (match: RouteMatch) => readonly unknown[];
}

type WordCondition = Exclude<Condition, 'sourceCidr' | 'minBytes' | 'maxBytes' | 'time'>;

const NULL_SENDER = '<>';

/** An address without a display name, its domain in canonical form. */
const address = converted('a mail address', (raw) => {
  const parsed = parseMailbox(raw);
  return parsed.ok && parsed.value.name === null ? parsed.value.address : null;
});

const sender: Kind<string> = {
  ...address,
  rule: `a mail address, or ${NULL_SENDER} for the null reverse-path`,
  read: (raw) => (raw === NULL_SENDER ? '' : address.read(raw)),
};

const domain = converted('a domain such as example.org, or *.example.org for every name below it', (raw) => {
  const wildcard = raw.startsWith('*.');
  const name = parseDomain(wildcard ? raw.slice(2) : raw);
  if (name === null || (wildcard && name.startsWith('['))) return null;
  return wildcard ? `*.${name}` : name;
});

const time: Kind<TimeWindow> = {
  rule: 'a time of the week in UTC such as mon-fri 08:00-18:00, 22:00-06:00 or sat,sun',
  unit: null,
  form: formOf('text'),
  read: (raw) => (typeof raw === 'string' ? (parseTimeWindow(raw) ?? undefined) : undefined),
  fromText: (line) => line,
};

const keyName = text('the name of an API key', (raw) => /^[^\p{C}]{1,100}$/u.test(raw));
const sourceName = text('the name of a row of listener.sources', (raw) => /^[a-z0-9_-]{1,64}$/.test(raw));

/** The conditions, in the order in which they are documented. */
export const CONDITION_FIELDS = {
  sender: word(
    'sender',
    sender,
    `The envelope's sender, a whole address; \`${NULL_SENDER}\` is the null reverse-path of bounces.`,
  ),
  sender_domain: word(
    'senderDomain',
    domain,
    "The sender's domain. `*.example.org` is every name below it, but not the domain itself.",
  ),
  recipient: word('recipient', address, 'The recipient, a whole address.'),
  recipient_domain: word('recipientDomain', domain, "The recipient's domain, in the same forms."),
  tag: word('tag', text('a tag of 1 to 128 printable characters', isTag), "One of the message's tags."),
  key: word('key', keyName, 'The name of the API key that submitted it.'),
  source: word('source', sourceName, 'The name in `listener.sources` of the device that submitted it.'),
  source_cidr: {
    condition: 'sourceCidr',
    kind: cidr,
    meaning: 'The address, or the range, that it was submitted from.',
    several: true,
    toMatch: (values) => {
      const ranges = values.map(String);
      const parsed = parseCidrs(ranges);
      return parsed.ok ? { sourceCidr: { ranges, contains: parsed.cidrs.contains } } : {};
    },
    values: ({ sourceCidr }) => sourceCidr?.ranges ?? [],
  },
  min_bytes: {
    condition: 'minBytes',
    kind: bytes(0),
    meaning: 'The smallest size of the whole message, in bytes.',
    several: false,
    toMatch: ([value]) => ({ minBytes: Number(value) }),
    values: ({ minBytes }) => (minBytes === undefined ? [] : [minBytes]),
  },
  max_bytes: {
    condition: 'maxBytes',
    kind: bytes(0),
    meaning: 'The largest size of the whole message, in bytes.',
    several: false,
    toMatch: ([value]) => ({ maxBytes: Number(value) }),
    values: ({ maxBytes }) => (maxBytes === undefined ? [] : [maxBytes]),
  },
  time: {
    condition: 'time',
    kind: time,
    meaning:
      'When it is to be sent, in UTC: days, hours or both, such as `mon-fri 08:00-18:00`, `22:00-06:00`, `sat,sun`.',
    several: true,
    // Sound because `time` has read them.
    toMatch: (values) => ({ time: values as readonly TimeWindow[] }),
    values: ({ time: windows = [] }) => windows.map(formatTimeWindow),
  },
} as const satisfies Readonly<Record<string, ConditionField>>;

/** The written name of a condition. */
export type ConditionName = keyof typeof CONDITION_FIELDS;

/** Every name of a condition. */
export const CONDITION_NAMES = Object.keys(CONDITION_FIELDS).filter(isConditionName);

/** Whether `name` is one of a condition. */
export function isConditionName(name: string): name is ConditionName {
  return Object.hasOwn(CONDITION_FIELDS, name);
}

/** Adds one condition's value to a match, or returns its faults and their places. */
export function readCondition(
  name: ConditionName,
  raw: unknown,
): { readonly match: RouteMatch } | { readonly flaws: ReturnType<typeof flawsOf> } {
  const { kind, several, toMatch }: ConditionField = CONDITION_FIELDS[name];
  const listed = several && Array.isArray(raw);
  const items: readonly unknown[] = listed ? raw : [raw];
  if (items.length === 0 || items.length > MAX_VALUES)
    return { flaws: [{ place: '', value: undefined, rule: `must have 1 to ${MAX_VALUES} values` }] };
  const flaws = items.flatMap((item, index) =>
    kind.read(item) === undefined ? flawsOf(kind, item, listed ? `[${index}]` : '') : [],
  );
  return flaws.length > 0 ? { flaws } : { match: toMatch(items.map((item) => kind.read(item))) };
}

function word(condition: WordCondition, kind: Kind<string>, meaning: string): ConditionField {
  return {
    condition,
    kind,
    meaning,
    several: true,
    toMatch: (given) => ({
      [condition]: new Set(given.map((value) => addressKey(String(value)).toLowerCase())),
    }),
    values: (match) => [...(match[condition] ?? [])].map((value) => (value === '' ? NULL_SENDER : value)),
  };
}

/** Text that `convert` normalises, or (null) refuses. */
function converted(rule: string, convert: (raw: string) => string | null): Kind<string> {
  const read = (raw: unknown) => (typeof raw === 'string' ? (convert(raw) ?? undefined) : undefined);
  return { rule, unit: null, form: formOf('text'), read, fromText: (line) => line };
}
