import { mayAct } from '../domain/account.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { callByName, OperationError } from '../operations/call.ts';
import { type Asked, type Audit, type Look, type Progress, UNWATCHED } from '../operations/operation.ts';
import {
  OPERATION_NAMES,
  OPERATIONS,
  type OperationName,
  type Operations,
  operationNamed,
} from '../operations/table.ts';
import type { Journal, NewJournalEntry } from '../store/journal.ts';
import { type Actor, ASKING } from './actor.ts';
import { differences, kept, MAX_SUBJECT, shortened } from './kept.ts';

/** The one way to the operations for everybody but this process itself: asks whether they may, and writes down what they did. */
export interface Door {
  /** Throws `OperationError`; `forbidden` where the actor's role does not go so far. */
  call(actor: Actor, name: string, request: unknown, progress?: Progress<unknown>): Promise<unknown>;
}

/** What a door leads to, and what writes down who went through. */
export interface DoorDeps {
  readonly operations: Operations;
  readonly journal: Journal;
  readonly clock: Pick<Clock, 'wall'>;
  readonly log: Log;
}

/** A door to operations. */
export function createDoor(deps: DoorDeps): Door {
  return {
    call: async (actor, name, request, progress = UNWATCHED) => {
      const { operations } = deps;
      const operation = operationNamed(name);
      if (operation === null) return await callByName(operations, name, request, progress);
      const { role, audit } = OPERATIONS[operation].access;
      if (!mayAct(actor.role, role)) {
        // Not in the journal: whoever may change nothing could fill it with this.
        deps.log.warn('operation.forbidden', { operation, actor: actor.name, source: actor.sourceAddress });
        throw new OperationError('forbidden', `This needs the role ${role}; ${actor.name} is ${actor.role}.`);
      }
      const call = () => ASKING.run(actor, () => callByName(operations, operation, request, progress));
      if (audit === null) return await call();
      return await callAndRecord(call, { actor, operation, asked: askedOf(request), audit }, deps);
    },
  };
}

/** The operations as one actor has them: through a door. */
export function operationsOf(door: Door, actor: Actor): Operations {
  const calls = OPERATION_NAMES.map((name) => [
    name,
    (request: unknown, progress?: Progress<unknown>) => door.call(actor, name, request, progress),
  ]);
  // Sound because the door calls the operation of the same name, which promises what its type says.
  return Object.fromEntries(calls) as Operations;
}

/** Something that is done now, and is to be written down. */
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
    const after = await seen(act.audit.look, act, deps);
    await record(
      act,
      act.audit.look === undefined ? [undefined, act.asked] : differences(before, after),
      deps,
    );
    return result;
  } catch (error) {
    const code = error instanceof OperationError ? error.code : 'failed';
    await record(act, [undefined, { error: code }], deps);
    throw error;
  }
}

/** The thing an operation is done to, as it is now; undefined where it is not there, or cannot be seen. */
async function seen(look: Look | undefined, { asked }: Act, { operations, log }: DoorDeps): Promise<unknown> {
  if (look === undefined) return undefined;
  try {
    return look.show(await callByName(operations, look.operation, look.request(asked)), asked);
  } catch (error) {
    if (!(error instanceof OperationError)) log.debug('journal.not_seen', { operation: look.operation });
    return undefined;
  }
}

/** What was done stays done, also where it cannot be written down: the log says so then. */
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
  return typeof request === 'object' && request !== null && !Array.isArray(request)
    ? Object.fromEntries(Object.entries(request))
    : {};
}
