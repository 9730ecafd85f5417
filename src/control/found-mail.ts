import type { ApiKey } from '../domain/key.ts';
import type { MessageRecord } from '../domain/message.ts';
import { ANY_MAIL, type ParsedQuery, parseQuery, type QueryTerm } from '../domain/query.ts';
import { type Findable, messageNotFound, namedId } from '../ingest/http/find-message.ts';
import { messageJson } from '../ingest/http/record.ts';
import { isMessageId, readMessageId } from '../lib/id.ts';
import { asOperationError, OperationError } from '../operations/call.ts';
import type { FoundMessage } from '../operations/search.ts';
import type { Keyring } from '../store/accounts.ts';
import type { MessageDetail } from '../store/views.ts';
import type { LocalDeps } from './deps.ts';
import { type OutlookDeps, outlookOf } from './outlook.ts';

/** Messages as lists show them, with the names of their keys. */
export async function foundMessages(
  records: readonly MessageRecord[],
  deps: OutlookDeps & { readonly keyring: Pick<Keyring, 'list'> },
): Promise<FoundMessage[]> {
  const owned = records.some(({ keyId }) => keyId !== null);
  const names = new Map(owned ? (await deps.keyring.list()).map(({ id, name }) => [id, name]) : []);
  const lanes = await outlookOf(deps)(records);
  return records.map((record) => ({
    ...messageJson(record, lanes),
    key: record.keyId === null ? null : (names.get(record.keyId) ?? null),
    captured: record.test || record.outcome === 'captured',
  }));
}

/**
 * The message with an id, also as a UUID, or a Message-ID, of any key; blanks around it do no harm. Throws `OperationError`, whose cause is the API's refusal; `hint`
 * says what to do then.
 */
export async function findNamed(given: string, views: Findable, hint = ''): Promise<MessageDetail> {
  const text = given.trim();
  const id = await namedId(text, 'all', views).catch((error: unknown) => {
    throw asOperationError(error);
  });
  const detail = id === null ? null : await views.message(id);
  if (detail === null)
    throw new OperationError('not_found', `There is no message ${text}.${hint}`, {
      cause: messageNotFound(),
    });
  return detail;
}

/** What reading a query needs: keys, relays, messages, and the time. */
export type QueryDeps = Pick<LocalDeps, 'keyring' | 'resolution' | 'views' | 'clock'>;

/** Parses a typed query, with the ids of the keys that it names. One that names a message finds that message. */
export async function readQuery(
  text: string,
  { keyring, resolution, views, clock }: QueryDeps,
): Promise<ParsedQuery> {
  const typed = text.trim();
  const named = await namingQuery(typed, views);
  const { query: parsed, notes: faults } = parseQuery(named, clock.wall());
  const isOfHop = named !== typed && named.startsWith('hop:');
  const notes = isOfHop
    ? [`A next hop gave the id ${typed}. In quotes it is searched for as words.`]
    : faults;
  const query = { ...parsed, terms: parsed.terms.map(withOwnForm) };
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

/** A Message-ID that a query can hold in quotes. */
const MESSAGE_ID = /^<[^<>"]+@[^<>"]+>$/;

/** What a next hop may have called a message: one word with a digit, of what stands in queue ids. */
const HOP_ID = /^(?=\D*\d)[\w.+/=-]{5,200}$/;

/** Whether a next hop gave a message this id. */
async function isKnownToHop(id: string, views: Pick<LocalDeps['views'], 'countFound'>): Promise<boolean> {
  const query = { ...ANY_MAIL, terms: [{ kind: 'hop', id, not: false } as const] };
  return (await views.countFound({ query, after: null, before: null, limit: 1 })).count > 0;
}

/**
 * A query that is an id of a message, a Message-ID in angle brackets, or the id that a next hop gave, as one that asks for
 * it. A UUID may be that of something else, such as an order in a subject, and so may be what a hop could have given: it is
 * one of words unless there is such a message.
 */
async function namingQuery(
  text: string,
  views: Pick<LocalDeps['views'], 'message' | 'countFound'>,
): Promise<string> {
  if (isMessageId(text)) return `id:${text}`;
  if (MESSAGE_ID.test(text)) return `id:"${text}"`;
  const id = readMessageId(text);
  if (id !== null && (await views.message(id)) !== null) return `id:${id}`;
  return HOP_ID.test(text) && (await isKnownToHop(text, views)) ? `hop:${text}` : text;
}

/** An id that was given as a UUID, in the form that stores know. */
function withOwnForm(term: QueryTerm): QueryTerm {
  return term.kind === 'id' ? { ...term, start: readMessageId(term.start) ?? term.start } : term;
}

/** Revoked keys may have had the same name. */
function idsOfKey(wanted: string, keys: readonly ApiKey[], notes: string[]): string[] {
  const found = keys.filter(({ id, name }) => id === wanted || name === wanted);
  if (found.length === 0) notes.push(`There is no key ${wanted}.`);
  return found.map(({ id }) => id);
}

/** Throws `invalid` for an invalid message id. */
export function requireId(field: string, id: string | null): string | null {
  if (id === null || isMessageId(id)) return id;
  throw new OperationError('invalid', `${field}: must be the id of a message.`);
}
