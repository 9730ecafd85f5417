import { outlookOf } from '../control/outlook.ts';
import { Problem } from '../http/problem.ts';
import type { ReadWords } from '../ingest/http/inbox.ts';
import { PreviewError } from '../preview/parsed.ts';
import { adminForApi } from './admin-api.ts';
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
