import { addressKey } from './mailbox.ts';

/** The facts that routing uses, and the conditions of its rules. */

/** One recipient of one message. */
export interface RouteFacts {
  readonly recipient: string;
  /** '' is the null reverse-path. */
  readonly reversePath: string;
  readonly tags: readonly string[];
  /** The owner of the message: a key's id, or `source:` and a named source's name. */
  readonly keyId: string | null;
  readonly keyName: string | null;
  /** The client's address; null for the command line and for reports. */
  readonly sourceAddress: string | null;
  readonly sizeBytes: number;
  /** Wall ms that count as now. */
  readonly now: number;
  /** A test key's mail: always the local inbox. */
  readonly test: boolean;
}

/** Conditions: all given ones must hold; of a list, one entry. Text is compared case-insensitively. */
export interface RouteMatch {
  /** Whole reverse-paths; '' is the null reverse-path. */
  readonly sender?: Words;
  /** `example.org`, or `*.example.org` for every name below it but not itself. */
  readonly senderDomain?: Words;
  readonly recipient?: Words;
  readonly recipientDomain?: Words;
  readonly tag?: Words;
  /** Names of API keys. */
  readonly key?: Words;
  /** Names of `listener.sources`. */
  readonly source?: Words;
  readonly sourceCidr?: AddressSet;
  /** Size of the contents, both bounds included. */
  readonly minBytes?: number;
  readonly maxBytes?: number;
  readonly time?: readonly TimeWindow[];
}

/** Texts in lower case, in the order given: a set, for a list may be long. */
export type Words = ReadonlySet<string>;

/** Ranges of addresses. */
export interface AddressSet {
  /** As given. */
  readonly ranges: readonly string[];
  contains(address: string): boolean;
}

/** A time of the week, in UTC. */
export interface TimeWindow {
  /** 0 is Sunday; empty means every day. */
  readonly days: readonly number[];
  /** Minutes since midnight: from the first, and before the second; a `to` below `from` extends beyond midnight. */
  readonly from: number;
  readonly to: number;
}

/** The name of a condition. */
export type Condition = keyof RouteMatch;

/** The first condition that does not hold, in the order given; null if the rule matches. */
export function unmet(match: RouteMatch, facts: RouteFacts): Condition | null {
  for (const condition of conditionsOf(match)) if (!CHECKS[condition](match, facts)) return condition;
  return null;
}

/** The given conditions, in order. */
export function conditionsOf(match: RouteMatch): readonly Condition[] {
  // Sound because a match has no other members.
  return Object.keys(match) as Condition[];
}

/** A condition's external name: `recipientDomain` is `recipient_domain`. */
export function conditionName(condition: Condition): string {
  return condition.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

type Check = (match: RouteMatch, facts: RouteFacts) => boolean;

const CHECKS: Readonly<Record<Condition, Check>> = {
  sender: ({ sender }, { reversePath }) => isAmong(sender, addressKey(reversePath)),
  senderDomain: ({ senderDomain }, { reversePath }) => isUnder(senderDomain, reversePath),
  recipient: (match, { recipient }) => isAmong(match.recipient, addressKey(recipient)),
  recipientDomain: ({ recipientDomain }, { recipient }) => isUnder(recipientDomain, recipient),
  tag: ({ tag }, { tags }) => tags.some((own) => isAmong(tag, own)),
  key: ({ key }, { keyName }) => keyName !== null && isAmong(key, keyName),
  source: ({ source }, { keyId }) =>
    keyId?.startsWith(SOURCE) === true && isAmong(source, keyId.slice(SOURCE.length)),
  sourceCidr: ({ sourceCidr }, { sourceAddress }) =>
    sourceAddress !== null && sourceCidr?.contains(sourceAddress) === true,
  minBytes: ({ minBytes = 0 }, { sizeBytes }) => sizeBytes >= minBytes,
  maxBytes: ({ maxBytes = Number.POSITIVE_INFINITY }, { sizeBytes }) => sizeBytes <= maxBytes,
  time: ({ time = [] }, { now }) => time.some((window) => isWithin(window, now)),
};

/** The prefix of the owner of a named source's mail (`domain/key.ts`). */
const SOURCE = 'source:';
const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
const WEEK_DAYS = 7;

function isAmong(wanted: Words | undefined, own: string): boolean {
  return wanted?.has(own.toLowerCase()) === true;
}

/** Whether the address's domain, or with `*.` one of its parents, is among the patterns. */
function isUnder(patterns: Words | undefined, address: string): boolean {
  const at = address.lastIndexOf('@');
  if (patterns === undefined || at < 0) return false;
  const domain = address.slice(at + 1).toLowerCase();
  if (patterns.has(domain)) return true;
  for (let dot = domain.indexOf('.'); dot >= 0; dot = domain.indexOf('.', dot + 1))
    if (patterns.has(`*${domain.slice(dot)}`)) return true;
  return false;
}

function isWithin({ days, from, to }: TimeWindow, now: number): boolean {
  const minute = Math.floor(now / MINUTE_MS) % DAY_MINUTES;
  const day = new Date(now).getUTCDay();
  const isDay = (wanted: number) => days.length === 0 || days.includes(wanted);
  if (from <= to) return isDay(day) && minute >= from && minute < to;
  // The hours after midnight belong to the day before.
  return (isDay(day) && minute >= from) || (isDay((day + WEEK_DAYS - 1) % WEEK_DAYS) && minute < to);
}
