import type { Kind } from './kinds.ts';

/** The groups in which settings are shown. */
// biome-ignore format: a table
export const SETTING_GROUPS = ['http-api', 'smtp', 'certificate', 'delivery', 'retention', 'security', 'limits', 'server'] as const;

/** See {@link SETTING_GROUPS}. */
export type SettingGroup = (typeof SETTING_GROUPS)[number];

/** A setting as declared, before it has its place in the table. */
export interface SettingRow<T> {
  readonly kind: Kind<T>;
  readonly fallback: T;
  /** Its effect, in sentences for people. */
  readonly meaning: string;
  /** Whether a change takes effect at once or needs a restart. */
  readonly applies: 'live' | 'restart';
  /** Masked wherever shown, and may be given as a file's path in `<key>_file`. */
  readonly secret: boolean;
  /** A limit or time-out that most leave unchanged, so it is shown folded. */
  readonly seldom: boolean;
  /** Only the file and the environment may set it: users who may change settings at run time may not. */
  readonly notStored?: boolean;
}

/** Where and how a setting is shown. */
export interface Place {
  /** Its key in words: `Rate limit per key`. */
  readonly label: string;
  readonly group: SettingGroup;
}

/** One setting: a row of the table from which parsing, errors, forms, docs and `waybill config` derive. */
export type Setting<T> = SettingRow<T> & Place;

/** A setting whose change takes effect at once. */
export function live<T>(
  kind: Kind<T>,
  fallback: NoInfer<T>,
  meaning: string,
  mark?: 'seldom',
): SettingRow<T> {
  return { kind, fallback, meaning, applies: 'live', secret: false, seldom: mark === 'seldom' };
}

/** A setting whose change needs a restart. */
export function restart<T>(
  kind: Kind<T>,
  fallback: NoInfer<T>,
  meaning: string,
  mark?: 'secret' | 'seldom',
): SettingRow<T> {
  const marks = { secret: mark === 'secret', seldom: mark === 'seldom' };
  return { kind, fallback, meaning, applies: 'restart', ...marks };
}

/**
 * Makes a setting one that only the file and the environment may set: it is needed before the store can be read, or
 * decides what users who may change settings at run time must not decide.
 */
export function outside<T>(row: SettingRow<T>): SettingRow<T> {
  return { ...row, notStored: true };
}

/** Puts settings into the group that shows them. */
export function inGroup<R extends Readonly<Record<string, SettingRow<unknown>>>>(
  group: SettingGroup,
  rows: R,
): { readonly [K in keyof R]: R[K] & Place } {
  const placed = Object.entries(rows).map(([key, row]) => [key, { ...row, group, label: labelOf(key) }]);
  // Sound because each row is unchanged, with its place added.
  return Object.fromEntries(placed) as { readonly [K in keyof R]: R[K] & Place };
}

/** Sections that share a group with others, whose settings would have the same labels without it. */
const NAMED_SECTIONS = /^(?:bounces|hooks|sign_in|suppressions)\./;

function labelOf(key: string): string {
  const words = (NAMED_SECTIONS.test(key) ? key : key.slice(key.indexOf('.') + 1))
    .replaceAll(/[._]/g, ' ')
    .replaceAll(/\bcidrs?\b/g, (word) => (word === 'cidr' ? 'range' : 'ranges'))
    .replaceAll(/\b(acme|ad|ca|cors|dns|eab|hmac|http|id|ip|json|oidc|smtp|tls|url)\b/g, (word) =>
      word.toUpperCase(),
    );
  return words.charAt(0).toUpperCase() + words.slice(1);
}
