import type { Kind } from './kinds.ts';

/** One setting: a row of the table that parsing, errors, docs and `waybill config` come from. */
export interface Setting<T> {
  readonly kind: Kind<T>;
  readonly fallback: T;
  /** Sentences for people: what it does. */
  readonly meaning: string;
  /** Whether a change holds at once or needs a restart. */
  readonly applies: 'live' | 'restart';
  /** Masked wherever it is shown, and may be given as a file's path in `<key>_file`. */
  readonly secret: boolean;
  /** Only the file and the environment may set it: who may change settings at run time may not change this one. */
  readonly notStored?: boolean;
}

/** A setting whose change holds at once. */
export function live<T>(kind: Kind<T>, fallback: NoInfer<T>, meaning: string): Setting<T> {
  return { kind, fallback, meaning, applies: 'live', secret: false };
}

/** A setting whose change needs a restart. */
export function restart<T>(
  kind: Kind<T>,
  fallback: NoInfer<T>,
  meaning: string,
  secret?: 'secret',
): Setting<T> {
  return { kind, fallback, meaning, applies: 'restart', secret: secret !== undefined };
}
