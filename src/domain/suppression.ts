/**
 * The suppression list: addresses to which nothing is sent (contract-2 §A5). What an entry is, which messages it stops,
 * and what becomes of it when it is made again.
 */
import { fault, type Parsed } from './address-entry.ts';
import { parseDomain } from './domain-name.ts';
import { lowerAscii } from './suppressed-address.ts';

/** Why an address is suppressed; a stronger reason before a weaker one. */
export const SUPPRESSION_REASONS = [
  'complaint',
  'unsubscribe',
  'hard_bounce',
  'manual',
  'import',
  'provider',
  'soft_bounces',
] as const;

/** See {@link SUPPRESSION_REASONS}. */
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

/** Whose mail an entry stops: everybody's, that from one domain (lower case, A-labels), that of the API key with this id. */
export type SuppressionScope = 'global' | `domain:${string}` | `key:${string}`;

/** What led to an entry. Times are wall ms. */
export interface Evidence {
  /** Our id. */
  readonly messageId: string | null;
  readonly at: number;
  readonly code: number | null;
  readonly enhancedCode: string | null;
  /** As `feedbackText` makes it. Hostile: written by a peer. */
  readonly text: string;
}

/** One entry of the list; the only one of its address, scope and stream. Times are wall ms. */
export interface Suppression {
  readonly id: string;
  /** In the form of `parseSuppressed`. */
  readonly address: string;
  readonly scope: SuppressionScope;
  /** In the form of {@link streamKey}; null: whatever the stream. */
  readonly stream: string | null;
  readonly reason: SuppressionReason;
  /** How it came: `smtp`, `dsn`, `arf`, `webhook:aws`, `one_click`, `mailto`, `api`, … */
  readonly source: string;
  readonly evidence: Evidence | null;
  readonly note: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Null: it stays until somebody removes it. */
  readonly expiresAt: number | null;
}

// Scopes and streams.

const MAX_STREAM = 255;
/** No control characters, line ends or lone surrogates. */
const NOT_IN_NAMES = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Parses a scope: `global`, `domain:example.com` or `key:NAME`. */
export function parseScope(text: string): Parsed<SuppressionScope> {
  if (text === 'global') return { ok: true, value: text };
  if (text.startsWith('domain:')) {
    const domain = parseDomain(text.slice('domain:'.length));
    if (domain !== null) return { ok: true, value: `domain:${domain}` };
  }
  const key = text.startsWith('key:') ? text.slice('key:'.length) : '';
  if (key !== '' && key.length <= 100 && !NOT_IN_NAMES.test(key)) return { ok: true, value: `key:${key}` };
  return fault('scope', 'A scope is global, domain: and a domain, or key: and the name of an API key.');
}

/**
 * The form in which streams are compared: ASCII case is ignored, as List-IDs ignore it (RFC 2919 §6), and so are
 * blanks around it. Null for what is no stream: nothing, more than 255 characters, or unprintable ones.
 */
export function streamKey(text: string): string | null {
  const name = text.trim();
  return name === '' || name.length > MAX_STREAM || NOT_IN_NAMES.test(name) ? null : lowerAscii(name);
}

/** The domain of a From mailbox as written into a message (lower case, A-labels); null if it has none. */
export function domainOfFrom(from: string): string | null {
  const [, bracketed] = /<([^<>]*)>[^<>]*$/.exec(from) ?? [];
  const address = (bracketed ?? from).trim();
  const at = address.lastIndexOf('@');
  return at < 0 ? null : parseDomain(address.slice(at + 1));
}

/** Whose entries are made by themselves for a reason. */
export type ScopeKind = 'global' | 'domain' | 'key';

/** What a message is for the list. */
export interface MailOf {
  /** The domain of From (lower case, A-labels); null if there is none, or more than one. */
  readonly fromDomain: string | null;
  /** The id of the API key that submitted it; null without one. */
  readonly keyId: string | null;
  /** A test key's mail: it sees and makes only entries of its key's scope. */
  readonly test: boolean;
}

/**
 * The scope of an entry that a message's outcome makes, by the `suppressions.scope.*` of its reason. Where there is no
 * such domain or key, it is the other of both, else global; null: a test message without a key makes none.
 */
export function scopeOf(kind: ScopeKind, { fromDomain, keyId, test }: MailOf): SuppressionScope | null {
  const key: SuppressionScope | null = keyId === null ? null : `key:${keyId}`;
  const domain: SuppressionScope | null = fromDomain === null ? null : `domain:${fromDomain}`;
  if (test) return key;
  switch (kind) {
    case 'global':
      return 'global';
    case 'domain':
      return domain ?? key ?? 'global';
    case 'key':
      return key ?? domain ?? 'global';
  }
}

// What stops a message.

/** A message that is to go to a recipient. */
export interface Asking extends MailOf {
  /** In the form of {@link streamKey}; null: it has none. */
  readonly stream: string | null;
  /** The submission passes everything but complaints (`suppression: "ignore"`). */
  readonly ignores: boolean;
}

/**
 * Which of the entries found for a recipient stops a message at `now`; null: none. Of several, the one with the
 * strongest reason, then the widest, then the oldest.
 */
export function stoppedBy<Found extends Suppression>(
  found: readonly Found[],
  asking: Asking,
  now: number,
): Found | null {
  let first: Found | null = null;
  for (const entry of found)
    if (stops(entry, asking, now) && (first === null || compare(entry, first) < 0)) first = entry;
  return first;
}

function stops(entry: Suppression, asking: Asking, now: number): boolean {
  const { scope, stream, reason } = entry;
  if (hasEnded(entry, now)) return false;
  if (asking.ignores && reason !== 'complaint') return false;
  return (stream === null || stream === asking.stream) && isScopeOf(scope, asking);
}

function isScopeOf(scope: SuppressionScope, { fromDomain, keyId, test }: MailOf): boolean {
  if (keyId !== null && scope === `key:${keyId}`) return true;
  if (test) return false;
  return scope === 'global' || (fromDomain !== null && scope === `domain:${fromDomain}`);
}

/** The widest of some entries, and of equally wide ones the oldest; null: there are none. */
export function widest<Found extends Suppression>(entries: readonly Found[]): Found | null {
  const order = (a: Found, b: Found) => width(a) - width(b) || (a.id < b.id ? -1 : 1);
  return [...entries].sort(order)[0] ?? null;
}

function compare(a: Suppression, b: Suppression): number {
  return (
    strength(a.reason) - strength(b.reason) ||
    width(a) - width(b) ||
    a.createdAt - b.createdAt ||
    (a.id < b.id ? -1 : 1)
  );
}

function strength(reason: SuppressionReason): number {
  return SUPPRESSION_REASONS.indexOf(reason);
}

function width({ scope, stream }: Suppression): number {
  const kinds = scope === 'global' ? 0 : scope.startsWith('domain:') ? 1 : 2;
  return kinds * 2 + (stream === null ? 0 : 1);
}

// Ends, and entries made again.

/** Days that an entry lasts by its reason (`suppressions.expire_days`); 0: for ever. */
export interface ExpireDays {
  readonly hard: number;
  readonly soft: number;
  readonly provider: number;
  readonly complaint: number;
  readonly unsubscribe: number;
}

/** What governs the list (`suppressions.*`, `limits.max_suppressions`). */
export interface SuppressionRules {
  /** Whose mail an entry stops that is made by itself; for bounces of every kind `hard_bounce`. */
  readonly scope: {
    readonly hard_bounce: ScopeKind;
    readonly complaint: ScopeKind;
    readonly unsubscribe: ScopeKind;
  };
  readonly days: ExpireDays;
  /** How many soft bounces suppress an address. */
  readonly softBounces: number;
  readonly maxEntries: number;
}

const DAY_MS = 86_400_000;

/** When an entry made at `now` for this reason ends (wall ms); null: never, as those that people make. */
export function expiryOf(reason: SuppressionReason, days: ExpireDays, now: number): number | null {
  const lasts = daysOf(reason, days);
  return lasts === 0 ? null : now + lasts * DAY_MS;
}

function daysOf(reason: SuppressionReason, days: ExpireDays): number {
  switch (reason) {
    case 'complaint':
    case 'unsubscribe':
    case 'provider':
      return days[reason];
    case 'hard_bounce':
      return days.hard;
    case 'soft_bounces':
      return days.soft;
    case 'manual':
    case 'import':
      return 0;
  }
}

/** Whether an entry no longer stops anything at `now`. */
export function hasEnded({ expiresAt }: Pick<Suppression, 'expiresAt'>, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/**
 * An entry that has not ended after one for the same address, scope and stream was added. The stronger reason stays,
 * with its source; the evidence and the note are the new ones where there are any. For the same reason the new end
 * counts; for another, the later of both.
 */
export function merged(standing: Suppression, added: Omit<Suppression, 'id'>): Suppression {
  const { id } = standing;
  const keeps = strength(standing.reason) < strength(added.reason);
  const { reason, source } = keeps ? standing : added;
  return {
    ...added,
    id,
    reason,
    source,
    evidence: added.evidence ?? standing.evidence,
    note: added.note === '' ? standing.note : added.note,
    createdAt: standing.createdAt,
    updatedAt: Math.max(standing.updatedAt, added.updatedAt),
    expiresAt:
      standing.reason === added.reason ? added.expiresAt : later(standing.expiresAt, added.expiresAt),
  };
}

function later(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : Math.max(a, b);
}
