import { AsyncLocalStorage } from 'node:async_hooks';
import { isRecord } from '../config/kinds.ts';
import { mayAct, type Role } from '../domain/account.ts';
import type { Clock } from '../lib/clock.ts';
import { withoutKeys } from '../lib/id.ts';
import type { Log } from '../lib/log.ts';
import { callByName, OperationError } from '../operations/call.ts';
import { type Asked, type Audit, type Look, type Progress, UNWATCHED } from '../operations/operation.ts';
import type { ActorKind } from '../operations/system.ts';
import {
  OPERATION_NAMES,
  OPERATIONS,
  type OperationName,
  type Operations,
  operationNamed,
} from '../operations/table.ts';
import { type Journal, MAX_JOURNAL_TEXT, type NewJournalEntry } from '../store/journal.ts';

/** The only way to the operations from outside this process: checks permission, and records what was done. */
export interface Door {
  /** Throws `OperationError`; `forbidden` if the actor's role does not suffice. */
  call(actor: Actor, name: string, request: unknown, progress?: Progress<unknown>): Promise<unknown>;
}

interface DoorDeps {
  readonly operations: Operations;
  readonly journal: Journal;
  readonly clock: Pick<Clock, 'wall'>;
  readonly log: Log;
}

/** Makes the door to some operations. */
export function createDoor(deps: DoorDeps): Door {
  return {
    call: async (actor, name, request, progress = UNWATCHED) => {
      const { operations } = deps;
      const operation = operationNamed(name);
      if (operation === null) return await callByName(operations, name, request, progress);
      const { role, audit } = OPERATIONS[operation].access;
      if (!mayAct(actor.role, role)) {
        // Not in the journal: a user without rights could fill it with these.
        deps.log.warn('operation.forbidden', { operation, actor: actor.name, source: actor.sourceAddress });
        throw new OperationError('forbidden', `This needs the role ${role}; ${actor.name} is ${actor.role}.`);
      }
      const call = () => ASKING.run(actor, () => callByName(operations, operation, request, progress));
      if (audit === null) return await call();
      return await callAndRecord(call, { actor, operation, asked: askedOf(request), audit }, deps);
    },
  };
}

/** The operations through a door, as one actor. */
export function operationsOf(door: Door, actor: Actor): Operations {
  const calls = OPERATION_NAMES.map((name) => [
    name,
    (request: unknown, progress?: Progress<unknown>) => door.call(actor, name, request, progress),
  ]);
  // Sound because the door calls the operation of the same name, whose type this is.
  return Object.fromEntries(calls) as Operations;
}

/** An act to record. */
interface Act {
  readonly actor: Actor;
  readonly operation: OperationName;
  readonly asked: Asked;
  readonly audit: Audit;
}

async function callAndRecord(call: () => Promise<unknown>, act: Act, deps: DoorDeps): Promise<unknown> {
  const before = await seen(act.audit.look, act, deps);
  try {
    const result = await call();
    await record(act, await keptOf(result, before, act, deps), deps);
    return result;
  } catch (error) {
    const code = error instanceof OperationError ? error.code : 'failed';
    await record(act, [undefined, { error: code }], deps);
    throw error;
  }
}

/** What is kept of what was done. */
async function keptOf(
  result: unknown,
  before: unknown,
  act: Act,
  deps: DoorDeps,
): Promise<readonly [before: unknown, after: unknown]> {
  const { look, told } = act.audit;
  if (told !== undefined) return told(result);
  if (look === undefined) return [undefined, act.asked];
  return differences(before, await seen(look, act, deps));
}

/** The current state of an operation's object; undefined if it does not exist, or is not visible. */
async function seen(look: Look | undefined, { asked }: Act, { operations, log }: DoorDeps): Promise<unknown> {
  if (look === undefined) return undefined;
  try {
    return look.show(await callByName(operations, look.operation, look.request(asked)), asked);
  } catch (error) {
    if (!(error instanceof OperationError)) log.debug('journal.not_seen', { operation: look.operation });
    return undefined;
  }
}

/** An act stays done even if it cannot be recorded: the log says so then. */
async function record(
  { actor, operation, asked, audit }: Act,
  [before, after]: readonly [unknown, unknown],
  { journal, clock, log }: DoorDeps,
): Promise<void> {
  const entry: NewJournalEntry = {
    at: clock.wall(),
    actorKind: actor.kind,
    actor: actor.name,
    sourceAddress: actor.sourceAddress,
    action: operation,
    subject: subjectOf(asked, audit),
    before: kept(before, audit.hide),
    after: kept(after, audit.hide),
  };
  try {
    await journal.record([entry]);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    const { subject, sourceAddress: source } = entry;
    log.error('journal.not_written', { operation, actor: actor.name, source, subject, code });
  }
}

function subjectOf(asked: Asked, { subject }: Audit): string {
  if (subject === null) return '';
  const value = subject.split('.').reduce<unknown>((part, name) => askedOf(part)[name], asked);
  return typeof value === 'string' || typeof value === 'number' ? shortened(String(value), MAX_SUBJECT) : '';
}

function askedOf(request: unknown): Asked {
  return isRecord(request) ? { ...request } : {};
}

// The form in which states are kept in the activity: without secrets, and short.

/** Replaces values that are never kept. */
const MASK = '********';
/** Fields with these names are never kept, at any depth. */
const SECRET = /secret|password|passphrase|token|private|recoverycodes/i;
/** Characters of one text, items of one list, fields of one map, and levels of nesting. */
const MAX_CHARACTERS = 1000;
const MAX_ITEMS = 50;
const MAX_DEPTH = 8;
/** Characters of a subject. */
export const MAX_SUBJECT = 200;

/** A value as JSON to keep; null for undefined. `hide`: further fields of the value itself that are never kept. */
function kept(value: unknown, hide: readonly string[] = []): string | null {
  if (value === undefined) return null;
  const json = JSON.stringify(cleaned(value, hide, 0));
  if (json.length <= MAX_JOURNAL_TEXT) return json;
  return JSON.stringify({ note: `left out: ${json.length} characters` });
}

/** Text cut to `max` characters, without API keys: people paste them where a name belongs. */
export function shortened(text: string, max: number): string {
  const safe = withoutKeys(text);
  return safe.length <= max ? safe : `${safe.slice(0, max - 1)}…`;
}

/** The differing fields of two maps, with the values of each; both unchanged if one is not a map. */
function differences(before: unknown, after: unknown): readonly [before: unknown, after: unknown] {
  if (!isRecord(before) || !isRecord(after)) return [before, after];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  const only = (map: Record<string, unknown>) =>
    Object.fromEntries(changed.filter((name) => Object.hasOwn(map, name)).map((name) => [name, map[name]]));
  return [only(before), only(after)];
}

function cleaned(value: unknown, hide: readonly string[], depth: number): unknown {
  if (typeof value === 'string') return shortened(value, MAX_CHARACTERS);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return '…';
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => cleaned(item, [], depth + 1));
    return value.length > MAX_ITEMS ? [...items, `… and ${value.length - MAX_ITEMS} more`] : items;
  }
  const fields = Object.entries(value);
  const clean = fields
    .slice(0, MAX_ITEMS)
    .map(([name, field]) => [name, cleanedField(name, field, hide, depth)]);
  if (fields.length > MAX_ITEMS) clean.push(['…', `${fields.length - MAX_ITEMS} more`]);
  return Object.fromEntries(clean);
}

/** The existence of a secret is no secret: a flag and null are kept. */
function cleanedField(name: string, field: unknown, hide: readonly string[], depth: number): unknown {
  const isSecret = hide.includes(name) || SECRET.test(name);
  return isSecret && typeof field !== 'boolean' && field !== null ? MASK : cleaned(field, [], depth + 1);
}

/** The caller of an operation. */
export interface Actor {
  readonly kind: ActorKind;
  /** A user's or key's name; empty for the command line and the service itself. */
  readonly name: string;
  readonly role: Role;
  /** Source address; null for the command line and the service. */
  readonly sourceAddress: string | null;
  /** For a user: the calling session. */
  readonly sessionId: string | null;
  /** For a user: the host name, without a port, that the browser used. */
  readonly host?: string;
  /** For a user: the address of the page, such as `https://mail.example.com:8420`. */
  readonly origin?: string;
}

/** The caller of the current operation, for the few whose answer depends on it. The door sets it. */
export const ASKING = new AsyncLocalStorage<Actor>();

/** The owner of the data directory, at the command line. */
export const COMMAND_LINE: Actor = {
  kind: 'command',
  name: '',
  role: 'admin',
  sourceAddress: null,
  sessionId: null,
};
