import type { Kind } from './kinds.ts';
import type { DeclaredType } from './relay-types.ts';

/** The part of a form that a field is shown in; all but `main` are folded. */
export const FIELD_GROUPS = ['main', 'oauth', 'connection', 'limits', 'warmup'] as const;

/** See {@link FIELD_GROUPS}. */
export type FieldGroup = (typeof FIELD_GROUPS)[number];

/** The option of the command line that gives a field. A secret's names a file, and has `-file` behind its name. */
interface FieldOption {
  /** What follows the flag, such as `<host>`; empty for a switch. */
  readonly value: string;
  readonly help: string;
  /** In the place of the flag that the field's name makes, such as `--no-verify`. */
  readonly flag?: string;
  /** Whose option it is, where that is more than the field's types, or not all of them. */
  readonly whose?: string;
}

/** What one type says otherwise of a field than the others. */
interface OfType {
  readonly label?: string;
  readonly group?: FieldGroup;
  /** What a form tells of it, where the field's own meaning speaks of all types. */
  readonly meaning?: string;
  /** The type takes fewer values. */
  readonly kind?: Kind<unknown>;
}

/** What a row says of a field besides its value. */
interface FieldFacts {
  readonly label: string;
  readonly group: FieldGroup;
  /** Sentences for people: what it does. */
  readonly meaning: string;
  /** The types that it means something to; absent: all of them. */
  readonly types?: readonly DeclaredType[];
  /** The types that cannot do without it. */
  readonly requiredFor?: readonly DeclaredType[];
  readonly byType?: Readonly<Partial<Record<DeclaredType, OfType>>>;
  /** What null stands for, where that differs by type. */
  readonly usual?: Readonly<Record<DeclaredType, unknown>>;
  /** Absent: no option gives it. */
  readonly option?: FieldOption;
  /** The secret is bound to it: another value sends the secret elsewhere, or protects it otherwise on the way. */
  readonly binds?: true;
  /** Never shown, and given apart from the definition or as the path of a file, `x_file`. */
  readonly secret?: true;
  /** With type `smtp`, it means something with `auth: xoauth2` alone. */
  readonly oauth?: true;
  /** A URL, which may hold a secret, and which only relays with `allow_private` may have of a private address. */
  readonly url?: true;
  /** Only the configuration file may have it. */
  readonly fileOnly?: true;
}

/** One field of a relay's definition: a row of the table that parsing, errors, options, forms and docs come from. */
export interface RelayField<T> extends FieldFacts {
  readonly kind: Kind<T>;
  /** Undefined: must be given. */
  readonly fallback: T | undefined;
}

/** A row, whose facts stay known to the types that are made from the table. */
export function field<T, const F extends FieldFacts>(
  kind: Kind<T>,
  fallback: NoInfer<T> | undefined,
  facts: F,
): RelayField<T> & F {
  return { ...facts, kind, fallback };
}
