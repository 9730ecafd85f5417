import type { ApiKey } from '../domain/key.ts';
import { type ParsedQuery, parseQuery } from '../domain/query.ts';
import { isMessageId } from '../lib/id.ts';
import { OperationError } from '../operations/call.ts';
import type { LocalDeps } from './local-deps.ts';

/** What reading a query takes: who the keys are, and which relays there are. */
export type QueryDeps = Pick<LocalDeps, 'keyring' | 'resolution'>;

/** Reads what was typed, with the ids of the keys that it names. */
export async function readQuery(text: string, { keyring, resolution }: QueryDeps): Promise<ParsedQuery> {
  const { query, notes } = parseQuery(text);
  const { relays } = resolution().config;
  const strangers = [...(query.relays ?? []), ...query.notRelays].filter(
    (wanted) => !relays.some(({ name }) => name === wanted),
  );
  const relayNotes = strangers.map((name) => `There is no relay ${name} now.`);
  if (query.keys === null && query.notKeys.length === 0) return { query, notes: [...notes, ...relayNotes] };
  const all = await keyring.list();
  const keyNotes: string[] = [];
  const idsOf = (names: readonly string[]) => names.flatMap((name) => idsOfKey(name, all, keyNotes));
  const keys = query.keys === null ? null : idsOf(query.keys);
  const notKeys = idsOf(query.notKeys);
  return { query: { ...query, keys, notKeys }, notes: [...notes, ...relayNotes, ...keyNotes] };
}

/** Revoked keys may have had the same name. */
function idsOfKey(wanted: string, keys: readonly ApiKey[], notes: string[]): string[] {
  const found = keys.filter(({ id, name }) => id === wanted || name === wanted);
  if (found.length === 0) notes.push(`There is no key ${wanted}.`);
  return found.map(({ id }) => id);
}

/** Throws `invalid` for what is no message's id. */
export function requireId(field: string, id: string | null): string | null {
  if (id === null || isMessageId(id)) return id;
  throw new OperationError('invalid', `${field}: must be the id of a message.`);
}
