import type { Kind } from './kinds.ts';
import type { DeclaredType } from './relay-types.ts';

/** The groups of fields in a form; all but `main` are folded. */
export const FIELD_GROUPS = ['main', 'hook', 'oauth', 'connection', 'limits', 'warmup'] as const;

/** See {@link FIELD_GROUPS}. */
export type FieldGroup = (typeof FIELD_GROUPS)[number];

/** The command-line option of a field. A secret's option names a file, and ends in `-file`. */
interface FieldOption {
  /** The argument of the flag, such as `<host>`; empty for a switch. */
  readonly value: string;
  readonly help: string;
  /** Replaces the flag derived from the field's name, such as `--no-verify`. */
  readonly flag?: string;
  /** The types that the option is for, if they differ from the field's. */
  readonly whose?: string;
}

/** Differences of a field for one type. */
interface OfType {
  readonly label?: string;
  readonly group?: FieldGroup;
  /** The text in a form, where the field's own covers all types. */
  readonly meaning?: string;
  /** Fewer values are valid. */
  readonly kind?: Kind<unknown>;
}

/** The properties of a field besides its value. */
interface FieldFacts {
  readonly label: string;
  readonly group: FieldGroup;
  /** Its effect, in sentences for people. */
  readonly meaning: string;
  /** The types that use it; absent: all of them. */
  readonly types?: readonly DeclaredType[];
  /** The types that require it. */
  readonly requiredFor?: readonly DeclaredType[];
  readonly byType?: Readonly<Partial<Record<DeclaredType, OfType>>>;
  /** The meaning of null, if it differs by type. */
  readonly usual?: Readonly<Record<DeclaredType, unknown>>;
  /** Absent: it has no option. */
  readonly option?: FieldOption;
  /** The secret is bound to it: another value would send the secret elsewhere, or protect it differently on the way. */
  readonly binds?: true;
  /** Never shown, and given separately from the definition or as the path of a file, `x_file`. */
  readonly secret?: true;
  /** For type `smtp`, it applies only with `auth: xoauth2`. */
  readonly oauth?: true;
  /** A URL, which may contain a secret, and may have a private address only with `allow_private`. */
  readonly url?: true;
  /** Only allowed in the configuration file. */
  readonly fileOnly?: true;
}

/** One field of a relay's definition: a row of the table from which parsing, errors, options, forms and docs derive. */
export interface RelayField<T> extends FieldFacts {
  readonly kind: Kind<T>;
  /** Undefined: required. */
  readonly fallback: T | undefined;
}

/** A row whose exact type is kept, for the types derived from the table. */
export function field<T, const F extends FieldFacts>(
  kind: Kind<T>,
  fallback: NoInfer<T> | undefined,
  facts: F,
): RelayField<T> & F {
  return { ...facts, kind, fallback };
}
