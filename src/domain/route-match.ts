/** What routing looks at, and the conditions of its rules. */

/** One recipient of one message. */
export interface RouteFacts {
  readonly recipient: string;
  /** '' is the null reverse-path. */
  readonly reversePath: string;
  readonly tags: readonly string[];
  /** Who owns the message: a key's id, or `source:` and a named source's name. */
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

/** Conditions: each that is given must hold; of a list, one. All text is compared whatever its case. */
export interface RouteMatch {
  /** Whole reverse-paths; '' is the null reverse-path. */
  readonly sender?: readonly string[];
  /** `example.org`, or `*.example.org` for every name below it but not itself. */
  readonly senderDomain?: readonly string[];
  readonly recipient?: readonly string[];
  readonly recipientDomain?: readonly string[];
  readonly tag?: readonly string[];
  /** Names of API keys. */
  readonly key?: readonly string[];
  /** Names of `listener.sources`. */
  readonly source?: readonly string[];
  readonly sourceCidr?: AddressSet;
  /** Of the contents, both included. */
  readonly minBytes?: number;
  readonly maxBytes?: number;
  readonly time?: readonly TimeWindow[];
}

/** Ranges of addresses. */
export interface AddressSet {
  /** As they were written. */
  readonly ranges: readonly string[];
  contains(address: string): boolean;
}

/** A time of the week, in UTC. */
export interface TimeWindow {
  /** 0 is Sunday; empty means every day. */
  readonly days: readonly number[];
  /** Minutes since midnight: from this one on, and before that one; `to` under `from` goes beyond midnight. */
  readonly from: number;
  readonly to: number;
}

/** The name of a condition. */
export type Condition = keyof RouteMatch;

/** The first condition that does not hold; null when the rule matches. */
export function unmet(match: RouteMatch, facts: RouteFacts): Condition | null {
  for (const condition of Object.keys(match) as Condition[])
    if (!CHECKS[condition](match, facts)) return condition;
  return null;
}

type Check = (match: RouteMatch, facts: RouteFacts) => boolean;

const CHECKS: Readonly<Record<Condition, Check>> = {
  sender: ({ sender }, { reversePath }) => isAmong(sender, reversePath),
  senderDomain: ({ senderDomain }, { reversePath }) => isUnder(senderDomain, reversePath),
  recipient: (match, { recipient }) => isAmong(match.recipient, recipient),
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

/** How the owner of a named source's mail begins (`domain/source.ts`). */
const SOURCE = 'source:';
const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;

function isAmong(wanted: readonly string[] | undefined, own: string): boolean {
  const lower = own.toLowerCase();
  return wanted?.some((one) => one.toLowerCase() === lower) === true;
}

function isUnder(patterns: readonly string[] | undefined, address: string): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  return (
    patterns?.some((pattern) => {
      const wanted = pattern.toLowerCase();
      return wanted.startsWith('*.') ? domain.endsWith(wanted.slice(1)) : domain === wanted;
    }) === true
  );
}

function isWithin({ days, from, to }: TimeWindow, now: number): boolean {
  const minute = Math.floor(now / MINUTE_MS) % DAY_MINUTES;
  const day = new Date(now).getUTCDay();
  const isDay = (wanted: number) => days.length === 0 || days.includes(wanted);
  if (from <= to) return isDay(day) && minute >= from && minute < to;
  // The hours after midnight belong to the day before.
  return (isDay(day) && minute >= from) || (isDay((day + 6) % 7) && minute < to);
}
