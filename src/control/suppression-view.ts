/** The suppression list as seen by the one who asks: what they may see and change, with names of keys in place of ids. */
import { parseDomain } from '../domain/domain-name.ts';
import type { ApiKey } from '../domain/key.ts';
import { parseMailbox } from '../domain/mailbox.ts';
import { parseSuppressed } from '../domain/suppressed-address.ts';
import {
  type Asking,
  parseScope,
  type Suppression,
  type SuppressionScope,
  streamKey,
} from '../domain/suppression.ts';
import { Problem } from '../http/problem.ts';
import { formatTimestamp, parseTimestamp } from '../lib/clock.ts';
import { isId } from '../lib/id.ts';
import { OperationError } from '../operations/call.ts';
import type { SuppressionView } from '../operations/suppressions.ts';
import type { LocalDeps } from './deps.ts';
import { ASKING } from './door.ts';

/** Entries of these scopes; null: of all. */
export type Scopes = readonly SuppressionScope[] | null;

/** The list as seen by the one who asks. */
export interface View {
  /** Readable, address by address. */
  readonly reads: Scopes;
  /** Changeable, and listed. */
  readonly changes: Scopes;
  /** What mail of this key is for the list, but for the domain that it is from. */
  readonly mail: Pick<Asking, 'keyId' | 'test'>;
  readonly show: (entry: Suppression) => SuppressionView;
  /** A scope as it is written. Throws `OperationError`. */
  scopeIn(text: string, pointer: string): SuppressionScope;
  /** The same, of an entry to be made; null: the usual one. Throws `OperationError` where this key may make none. */
  changeable(text: string | null, pointer: string): SuppressionScope;
  /** The scopes of a query for one, or (null) all of those that may be seen. */
  among(asked: SuppressionScope | null, visible: Scopes): Scopes;
}

/** See {@link View}; `as`: the id of a key, or (null) somebody who may do everything. Throws `OperationError`. */
export async function viewFor(as: string | null, { keyring }: Pick<LocalDeps, 'keyring'>): Promise<View> {
  const keys = await keyring.list();
  const key = as === null ? null : keys.find(({ id }) => id === as);
  if (key === undefined) throw new OperationError('not_found', `There is no key ${as}.`);
  const { reads, changes, usual } = rightsOf(key);
  const scopeIn = (text: string, pointer: string) => scopeOfText(text, pointer, keys);
  return {
    reads,
    changes,
    mail: { keyId: key?.id ?? null, test: key?.mode === 'test' },
    show: (entry) => shown(entry, keys),
    scopeIn,
    changeable: (text, pointer) => {
      const scope = text === null ? usual : scopeIn(text, pointer);
      if (isAmong(scope, changes)) return scope;
      const detail = `This key may change only entries of its own scope, key:${key?.name}; others need the scope messages:read_all.`;
      throw asRefusal('forbidden', new Problem(403, 'scope_missing', detail));
    },
    among: (asked, visible) => {
      if (asked === null) return visible;
      return isAmong(asked, visible) ? [asked] : [];
    },
  };
}

interface Rights extends Pick<View, 'reads' | 'changes'> {
  /** The scope of entries that name none. */
  readonly usual: SuppressionScope;
}

function rightsOf(key: ApiKey | null): Rights {
  if (key === null || key.scopes.includes('admin')) return { reads: null, changes: null, usual: 'global' };
  const own: SuppressionScope = `key:${key.id}`;
  if (key.mode === 'test') return { reads: [own], changes: [own], usual: own };
  if (key.scopes.includes('messages:read_all')) return { reads: null, changes: null, usual: own };
  const domains = key.senderDomains.map((domain): SuppressionScope => `domain:${domain}`);
  return { reads: ['global', ...domains, own], changes: [own], usual: own };
}

/** Whether a scope is one of these. */
export function isAmong(scope: SuppressionScope, scopes: Scopes): boolean {
  return scopes === null || scopes.includes(scope);
}

function scopeOfText(text: string, pointer: string, keys: readonly ApiKey[]): SuppressionScope {
  const parsed = parseScope(text);
  if (!parsed.ok) throw faulty(pointer, parsed.code, parsed.detail);
  const { value } = parsed;
  if (!value.startsWith('key:')) return value;
  const named = value.slice('key:'.length);
  const key = keys.find(({ name, revokedAt }) => name === named && revokedAt === null);
  const found = key ?? keys.find(({ id, name }) => id === named || name === named);
  if (found === undefined) throw faulty(pointer, 'scope', `There is no key ${named}.`);
  return `key:${found.id}`;
}

function shown(entry: Suppression, keys: readonly ApiKey[]): SuppressionView {
  const { id, address, stream, reason, source, evidence, note, createdAt, updatedAt, expiresAt } = entry;
  return {
    id,
    address,
    scope: shownScope(entry.scope, keys),
    stream,
    reason,
    source,
    evidence: evidence && { ...evidence, at: formatTimestamp(evidence.at) },
    note,
    createdAt: formatTimestamp(createdAt),
    updatedAt: formatTimestamp(updatedAt),
    expiresAt: expiresAt === null ? null : formatTimestamp(expiresAt),
  };
}

function shownScope(scope: SuppressionScope, keys: readonly ApiKey[]): string {
  const key = keys.find(({ id }) => scope === `key:${id}`);
  return key === undefined ? scope : `key:${key.name}`;
}

/** How an entry comes that somebody makes by hand. */
export function sourceNow(): string {
  const kind = ASKING.getStore()?.kind;
  return kind === 'user' ? 'dashboard' : kind === 'command' ? 'cli' : 'api';
}

// What is written wrongly, and refusals. Each has the code of the API's endpoint.

/** Which address is meant. Throws `OperationError`. */
export function addressIn(text: string, pointer: string): string {
  const parsed = parseSuppressed(text.trim());
  if (parsed.ok) return parsed.value.address;
  throw faulty(pointer, parsed.code, parsed.detail);
}

/** Which mailbox is meant. Throws `OperationError`. */
export function mailboxIn(text: string, pointer: string): string {
  const parsed = parseMailbox(text);
  if (parsed.ok) return parsed.value.address;
  throw faulty(pointer, parsed.code, parsed.detail);
}

/** Which domain is meant. Throws `OperationError`. */
export function domainIn(text: string, pointer: string): string {
  const domain = parseDomain(text);
  if (domain === null) throw faulty(pointer, 'address_domain', 'Must be a domain, such as example.org.');
  return domain;
}

/** The domain of an address, or a domain. Throws `OperationError`. */
export function fromDomainIn(text: string): string {
  const address = text.includes('@') ? mailboxIn(text, '/from') : text;
  return domainIn(address.slice(address.lastIndexOf('@') + 1), '/from');
}

/** A stream in the form in which it is compared. Throws `OperationError`. */
export function streamIn(text: string | null, pointer: string): string | null {
  if (text === null) return null;
  const stream = streamKey(text);
  if (stream !== null) return stream;
  throw faulty(pointer, 'stream', 'Must be 1 to 255 printable characters.');
}

/** Which time is meant, in ms. Throws `OperationError`. */
export function timeIn(text: string | null, pointer: string): number | null {
  if (text === null) return null;
  const at = parseTimestamp(text);
  if (at === null)
    throw faulty(pointer, 'timestamp', 'Must be an RFC 3339 time such as 2026-11-20T11:15:00Z.');
  return at;
}

/** Where a page starts. Throws `OperationError`. */
export function cursorIn(cursor: string | null): string | null {
  if (cursor === null || isId(cursor, 'sup_')) return cursor;
  throw faulty('/cursor', 'bad_cursor', 'Must be the nextCursor of a page of this list.');
}

/** A field is at fault. */
export function faulty(pointer: string, code: string, detail: string): OperationError {
  const errors = [{ pointer, code, detail }];
  const problem = new Problem(400, 'invalid_request', 'Some fields are not valid; see errors.', { errors });
  return new OperationError('invalid', `${pointer.slice(1)}: ${detail}`, { faults: errors, cause: problem });
}

/** There is nothing of that name, or nothing to be seen. */
export function noEntry(which: string): OperationError {
  const detail = `The suppression list has no entry for ${which}, or none that this key may see.`;
  return asRefusal('not_found', new Problem(404, 'suppression_not_found', detail));
}

/** It would have to be confirmed. */
export function ofComplaint(which: string): OperationError {
  const detail = `The owner of ${which} complained about mail. Take it off the list only when they ask for it, and confirm that with confirm=complaint.`;
  const message = `The owner of ${which} complained about mail. Take it off the list only when they ask for it: --complaints.`;
  return asRefusal('refused', new Problem(409, 'complaint', detail), message);
}

/** The list has as many entries as it may; `done` says what was done before. */
export function listFull(done: string): OperationError {
  const detail = `The suppression list has as many entries as limits.max_suppressions allows.${done}`;
  return asRefusal('unavailable', new Problem(503, 'suppressions_full', detail));
}

/** A refusal of an operation that the API answers with this problem. */
export function asRefusal(
  code: OperationError['code'],
  problem: Problem,
  message = problem.detail,
): OperationError {
  return new OperationError(code, message, { cause: problem });
}
