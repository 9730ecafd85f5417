/** The secrets of a relay, apart from its definition: one text, or several by the names of their fields. */

import type { SecretField } from './relay-fields.ts';
import { isProviderType } from './relay-types.ts';

/** Secrets by the names of their fields; or alone, the one that a relay of the type usually has. */
export type GivenSecret = string | { readonly [K in SecretField]?: string | undefined };

/** Secrets as fields of the definition that they belong to. */
export function secretFields(
  definition: Readonly<Record<string, unknown>>,
  given: GivenSecret | null,
): Exclude<GivenSecret, string> {
  return typeof given === 'string' ? { [secretFieldOf(definition)]: given } : (given ?? {});
}

/** Secrets as one text, to be sealed; null where there is none. */
export function packSecrets(
  definition: Readonly<Record<string, unknown>>,
  given: GivenSecret | null,
): string | null {
  const fields = secretFields(definition, given);
  if (Object.keys(fields).length === 0) return null;
  return hasSeveral(definition) ? JSON.stringify(fields) : (fields[secretFieldOf(definition)] ?? null);
}

/** What {@link packSecrets} made a text of; null: there is none. A text that is no such is given back, to be refused. */
export function unpackSecrets(
  definition: Readonly<Record<string, unknown>>,
  text: string | null,
): GivenSecret | null {
  if (text === null || !hasSeveral(definition)) return text;
  try {
    // Sound because it was sealed by us, and its fields are read like others.
    return JSON.parse(text) as GivenSecret;
  } catch {
    return text;
  }
}

/** The secret that a relay of a type has, or the first of several. */
function secretFieldOf({ type, auth }: Readonly<Record<string, unknown>>): SecretField {
  return (typeof type === 'string' && isProviderType(type)) || auth === 'xoauth2' ? 'secret' : 'password';
}

function hasSeveral({ type, auth }: Readonly<Record<string, unknown>>): boolean {
  return type === 'smtp' && auth === 'xoauth2';
}
