/** The secrets of a relay, stored apart from its definition: one text, or several by field name. */
import { isRecord } from './kinds.ts';
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
  const alone = fields[secretFieldOf(definition)] ?? null;
  const isSeveral =
    needsSeveral(definition) ||
    (isProvider(definition) && (fields.webhook_secret !== undefined || looksSeveral(alone)));
  return isSeveral ? JSON.stringify(fields) : alone;
}

/** Reverses {@link packSecrets}; null: there is none. Any other text is returned unchanged, to be refused. */
export function unpackSecrets(
  definition: Readonly<Record<string, unknown>>,
  text: string | null,
): GivenSecret | null {
  const maySeveral = needsSeveral(definition) || (isProvider(definition) && looksSeveral(text));
  if (text === null || !maySeveral) return text;
  try {
    const fields: unknown = JSON.parse(text);
    // Sound because we sealed it, and its fields are validated like others.
    return isRecord(fields) ? (fields as GivenSecret) : text;
  } catch {
    return text;
  }
}

/**
 * The secrets that a changed definition has: those given now, and of the stored ones those that are not. Only the secret
 * of a provider and that of its webhooks are given one by one; others replace all that was stored.
 */
export function changedSecrets(
  definition: Readonly<Record<string, unknown>>,
  given: GivenSecret | null,
  stored: GivenSecret | null,
): GivenSecret | null {
  if (given === null || !isProvider(definition)) return given;
  const fields = { ...secretFields(definition, stored), ...secretFields(definition, given) };
  // An empty one takes the stored one away.
  return Object.fromEntries(Object.entries(fields).filter(([, secret]) => secret !== ''));
}

/** A provider's secret alone is stored as its text, unless it begins as our JSON does: it could not be told apart. */
function looksSeveral(text: string | null): boolean {
  return text?.startsWith('{"') === true;
}

/** The secret field of a type, or the first of several. */
function secretFieldOf({ type, auth }: Readonly<Record<string, unknown>>): SecretField {
  return isProvider({ type }) || auth === 'xoauth2' ? 'secret' : 'password';
}

function isProvider({ type }: Readonly<Record<string, unknown>>): boolean {
  return typeof type === 'string' && isProviderType(type);
}

function needsSeveral({ type, auth }: Readonly<Record<string, unknown>>): boolean {
  return type === 'smtp' && auth === 'xoauth2';
}
