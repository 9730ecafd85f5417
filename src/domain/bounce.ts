/**
 * What a bounce means for its recipient (contract-2 §A1). Refusals in our own SMTP dialogue, delivery status
 * notifications and events of providers share one table. The guard protects addresses from a receiver that is broken.
 */
import { type Said, saidBy } from './bounce-words.ts';
import type { BounceType } from './feedback.ts';
import type { Reply } from './outcome.ts';
import type { SuppressionReason } from './suppression.ts';

/** What is known of a recipient that finally failed. */
export interface BounceFacts {
  /** SMTP reply code; null if none is known. Never an HTTP status. */
  readonly code: number | null;
  /** Enhanced status code (RFC 3463); null if none is known. X.0.0 says nothing, and counts as none. */
  readonly enhanced: string | null;
  /** The peer's words, of any length; '' if it said nothing. Hostile. */
  readonly text: string;
  /** It was tried until its time was over. */
  readonly expired?: boolean;
  /** The provider did not try, because of its own list. */
  readonly providerSuppressed?: boolean;
}

interface Row {
  readonly type: BounceType;
  /** Enhanced status codes; `*` is any number. */
  readonly enhanced: readonly string[];
  /** What the words must say where no enhanced code decides; with `codes`, only after one of these basic codes. */
  readonly said: Said | null;
  readonly codes?: readonly number[];
  /** When it suppresses the address, and for which reason. */
  readonly suppresses: 'at_once' | 'after_repeats' | 'never';
  readonly reason: SuppressionReason | null;
}

// biome-ignore format: a table, one row a type.
const TABLE: readonly Row[] = [
  { type: 'hard', enhanced: ['5.1.0', '5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1'], said: 'no_mailbox', codes: [550, 551, 553], suppresses: 'at_once', reason: 'hard_bounce' },
  { type: 'soft', enhanced: ['4.*.*', '5.2.2', '5.2.3', '5.3.1', '5.4.*', '5.5.*'], said: 'full_or_late', suppresses: 'after_repeats', reason: 'soft_bounces' },
  { type: 'block', enhanced: ['5.7.*', '5.6.*', '5.3.4'], said: 'refused', suppresses: 'never', reason: null },
  { type: 'provider_suppressed', enhanced: [], said: null, suppresses: 'at_once', reason: 'provider' },
  { type: 'undetermined', enhanced: [], said: null, suppresses: 'never', reason: null },
];

const ENHANCED = /^([245])\.(\d{1,3})\.(\d{1,3})$/;
/** qmail and some gateways write the enhanced code into the text: `(#5.1.1)`, `#5.1.0 Address rejected`. */
const IN_THE_TEXT = /#([245]\.\d{1,3}\.\d{1,3})(?![.\d])/;
/** Characters of a text that are searched for such a code. */
const MAX_READ = 1000;

/**
 * The type of a bounce. The enhanced code decides, else the basic code and the words, else an enhanced code within the
 * text. A provider that did not try comes first: it often repeats the code of the bounce that led to its list.
 */
export function bounceTypeOf(facts: BounceFacts): BounceType {
  if (facts.providerSuppressed === true) return 'provider_suppressed';
  const enhanced = meaningful(facts.enhanced);
  const within = meaningful(IN_THE_TEXT.exec(facts.text.slice(0, MAX_READ))?.[1] ?? null);
  const byCode = TABLE.find(
    (row) => listed(row, enhanced) || (row.type === 'soft' && facts.expired === true),
  );
  if (byCode !== undefined) return byCode.type;
  const said = saidBy(facts.text);
  const row =
    TABLE.find((row) => isSaid(row, facts.code, enhanced, said)) ??
    TABLE.find((row) => enhanced === null && listed(row, within));
  return row?.type ?? 'undetermined';
}

/** The type of a failure that our own attempts met; `expired`: they ended because the time was over. */
export function bounceTypeOfReply(reply: Reply, expired: boolean): BounceType {
  const { cause, code, enhanced, text } = reply;
  // Other replies have HTTP statuses.
  return bounceTypeOf({ code: cause === 'smtp_reply' ? code : null, enhanced, text, expired });
}

/** Null if it is no enhanced code, or only the default of its class. */
function meaningful(enhanced: string | null): string | null {
  const [, , subject = '', detail = ''] = ENHANCED.exec(enhanced ?? '') ?? [];
  return Number(subject) === 0 && Number(detail) === 0 ? null : enhanced;
}

function listed(row: Row, enhanced: string | null): boolean {
  if (enhanced === null) return false;
  const numbers = enhanced.split('.').map(Number);
  return row.enhanced.some((form) =>
    form.split('.').every((number, place) => number === '*' || Number(number) === numbers[place]),
  );
}

/**
 * Whether the basic code and the words put a bounce into this row. Where an enhanced code is given that no row has, words
 * can only show a block.
 */
function isSaid(row: Row, code: number | null, enhanced: string | null, said: ReadonlySet<Said>): boolean {
  if (enhanced !== null && row.type !== 'block') return false;
  if (row.type === 'soft' && code !== null && code >= 400 && code < 500) return true;
  if (row.codes !== undefined && (code === null || !row.codes.includes(code))) return false;
  return row.said !== null && said.has(row.said);
}

// What follows from it for the address.

const DAY_MS = 86_400_000;
/** Soft bounces further apart than this are not counted together. */
export const SOFT_BOUNCE_WINDOW_MS = 30 * DAY_MS;

/**
 * The number of soft bounces of an address that count at `now`: those in the last 30 days and after the last delivery to
 * it (null: there was none). All times are wall ms; later ones than `now` were written by a clock that is ahead, and count.
 */
export function softBouncesInARow(
  bouncedAt: readonly number[],
  deliveredAt: number | null,
  now: number,
): number {
  const since = Math.max(now - SOFT_BOUNCE_WINDOW_MS, deliveredAt ?? Number.NEGATIVE_INFINITY);
  return bouncedAt.filter((at) => at > since).length;
}

/**
 * The reason for which a bounce of this type suppresses its address; null if it does not. `softBounces` comes from
 * {@link softBouncesInARow} and includes this one; `limit` of them suppress.
 */
export function suppressionBy(
  type: BounceType,
  softBounces: number,
  limit: number,
): SuppressionReason | null {
  const row = TABLE.find((row) => row.type === type);
  if (row === undefined || row.suppresses === 'never') return null;
  if (row.suppresses === 'after_repeats' && softBounces < limit) return null;
  return row.reason;
}

// The guard. Where a domain refuses most of its recipients as unknown within an hour, its directory or the route to it
// is broken.

const HOUR_MS = 3_600_000;
/** How far back a domain's outcomes are counted. */
export const GUARD_WINDOW_MS = HOUR_MS;
/** How long an entry stays that a bounce made in the hour that led to the guard. */
export const GUARDED_ENTRY_MS = DAY_MS;
/** Up to so many hard bounces of a domain within the window are credible, whatever their share. */
const MAX_CREDIBLE_HARD = 50;

/** Recipients of one domain in the last {@link GUARD_WINDOW_MS}. */
export interface DomainOutcomes {
  /** Those that were delivered, or failed by the domain's decision; `hard` ones among them. */
  readonly decided: number;
  readonly hard: number;
}

/** Whether, and how long, bounces of a domain suppress nothing. */
export interface Guard {
  /** Wall ms; null: it is not guarded. */
  readonly until: number | null;
  /** It was not guarded until now: tell, and let the entries of the hour end after {@link GUARDED_ENTRY_MS}. */
  readonly begins: boolean;
}

/**
 * The guard of a domain after an outcome, before that outcome suppresses anything. It lasts until an hour has passed
 * without such figures; `until` is where it stood (null: never guarded).
 */
export function guardAfter(until: number | null, { decided, hard }: DomainOutcomes, now: number): Guard {
  const stands = until !== null && now < until;
  const isBroken = hard > MAX_CREDIBLE_HARD && hard * 2 > decided;
  if (!isBroken) return { until: stands ? until : null, begins: false };
  return { until: now + GUARD_WINDOW_MS, begins: !stands };
}

/** The reasons that the guard keeps from suppressing: what bounces say, not what people want. */
export const HELD_BACK: readonly SuppressionReason[] = ['hard_bounce', 'soft_bounces', 'provider'];
