/** The secrets of a relay, stored apart from its definition: one text, or several by field name. */

import type { SecretField } from './relay-fields.ts';
import { isProviderType } from './relay-types.ts';

/** Secrets by field name; or alone, the usual secret of the relay's type. */
export type GivenSecret = string | { readonly [K in SecretField]?: string | undefined };

/** Secrets as fields of their definition. */
export function secretFields(
  definition: Readonly<Record<string, unknown>>,
  given: GivenSecret | null,
): Exclude<GivenSecret, string> {
  return typeof given === 'string' ? { [secretFieldOf(definition)]: given } : (given ?? {});
}

/** Secrets as one text to be sealed; null if there is none. */
export function packSecrets(
  definition: Readonly<Record<string, unknown>>,
  given: GivenSecret | null,
): string | null {
  const fields = secretFields(definition, given);
  if (Object.keys(fields).length === 0) return null;
  return hasSeveral(definition) ? JSON.stringify(fields) : (fields[secretFieldOf(definition)] ?? null);
}

/** Reverses {@link packSecrets}; null: there is none. Any other text is returned unchanged, to be refused. */
export function unpackSecrets(
  definition: Readonly<Record<string, unknown>>,
  text: string | null,
): GivenSecret | null {
  if (text === null || !hasSeveral(definition)) return text;
  try {
    // Sound because we sealed it, and its fields are validated like others.
    return JSON.parse(text) as GivenSecret;
  } catch {
    return text;
  }
}

/** The secret field of a type, or the first of several. */
function secretFieldOf({ type, auth }: Readonly<Record<string, unknown>>): SecretField {
  return (typeof type === 'string' && isProviderType(type)) || auth === 'xoauth2' ? 'secret' : 'password';
}

function hasSeveral({ type, auth }: Readonly<Record<string, unknown>>): boolean {
  return type === 'smtp' && auth === 'xoauth2';
}
