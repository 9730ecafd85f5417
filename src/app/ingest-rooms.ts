import type { Actor } from '../control/actor.ts';
import type { Door } from '../control/door.ts';
import { outlookOf } from '../control/outlook.ts';
import { maxRequestBytes } from '../dashboard/calls.ts';
import { Problem } from '../http/problem.ts';
import type { AdminDoor } from '../ingest/admin-door.ts';
import { faultyFields } from '../ingest/http/faults.ts';
import type { ReadWords } from '../ingest/http/inbox.ts';
import { OperationError, type OperationErrorCode } from '../operations/call.ts';
import { PreviewError } from '../preview/parsed.ts';
import type { ListenerParts } from './listener-parts.ts';
import type { IngestRooms } from './mail-parts.ts';

/** Gathers what the API and SMTP ask of the rest of the service. */
export function ingestRooms(parts: ListenerParts): IngestRooms {
  const { engine, storage, live, clock } = parts;
  const { intake, acts } = engine;
  const { views, spool, keyring } = storage;
  return {
    ...{ intake, acts, spool, views, keyring },
    readWords: readWordsOf(parts),
    admin: adminForApi(parts.door, () => live.config.api.maxMessageBytes),
    outlook: outlookOf({ views, clock, queue: parts.queue, resolution: () => live.loaded }),
  };
}

/** What a message says, for the API: a refusal is a problem. */
function readWordsOf({ words }: ListenerParts): ReadWords {
  return async (message) => {
    try {
      return await words.readWords(message);
    } catch (error) {
      throw error instanceof PreviewError ? unreadable(error) : error;
    }
  };
}

function unreadable({ code, message }: PreviewError): Problem {
  const passing = code === 'busy' || code === 'too_slow';
  return new Problem(passing ? 503 : 409, 'unreadable_content', message);
}

/** What a refusal of an operation is over the API. A key of the scope `admin` may do everything. */
const PROBLEMS: Readonly<Record<OperationErrorCode, readonly [status: number, code: string]>> = {
  invalid: [400, 'invalid_request'],
  not_found: [404, 'not_found'],
  refused: [409, 'refused'],
  unavailable: [503, 'unavailable'],
  forbidden: [403, 'scope_missing'],
};

/** The operations for the API: through the door, as the key that asks. */
export function adminForApi(door: Door, maxMessageBytes: () => number): AdminDoor {
  return {
    maxRequestBytes: (operation) => maxRequestBytes(operation, maxMessageBytes()),
    call: async ({ keyName, sourceAddress }, operation, request, progress) => {
      const actor: Actor = { kind: 'key', name: keyName, role: 'admin', sourceAddress, sessionId: null };
      try {
        return await door.call(actor, operation, request, progress);
      } catch (error) {
        if (!(error instanceof OperationError)) throw error;
        if (error.faults.length > 0) throw faultyFields('invalid_request', error.faults);
        const [status, code] = PROBLEMS[error.code];
        throw new Problem(status, code, error.message);
      }
    },
  };
}
