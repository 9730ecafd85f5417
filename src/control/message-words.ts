import type { MessageRecord } from '../domain/message.ts';
import { readContent } from '../ingest/http/find-message.ts';
import { isMessageId } from '../lib/id.ts';
import { asOperationError, OperationError } from '../operations/call.ts';
import { type ParsedMessage, PreviewError } from '../preview/parsed.ts';
import type { Previewer } from '../preview/previewer.ts';
import type { Spool } from '../spool/spool.ts';
import type { MessageDetail, Views } from '../store/views.ts';

/** What stored messages say. */
export interface MessageWords {
  /** A message with what it says. Throws `OperationError`: it does not exist, is no longer kept, or cannot be read. */
  read(id: string): Promise<WordedMessage>;
  /** What a message says that is at hand. Throws `PreviewError`, and the API's problem where it is no longer kept. */
  readWords(message: MessageRecord): Promise<ParsedMessage>;
}

/** See {@link MessageWords.read}. */
export interface WordedMessage extends MessageDetail {
  readonly words: ParsedMessage;
}

/** What reading takes. */
export interface MessageWordsDeps {
  readonly views: Pick<Views, 'message'>;
  readonly spool: Pick<Spool, 'read'>;
  readonly previewer: Previewer;
}

/** Reads what stored messages say, one after the other. */
export function createMessageWords({ views, spool, previewer }: MessageWordsDeps): MessageWords {
  const readWords = (message: MessageRecord) =>
    previewer.read(message.sizeBytes, () => readContent(message, spool, 404));
  return {
    readWords,
    read: async (id) => {
      const detail = isMessageId(id) ? await views.message(id) : null;
      if (detail === null) throw new OperationError('not_found', `There is no message ${id}.`);
      try {
        return { ...detail, words: await readWords(detail.message) };
      } catch (error) {
        throw error instanceof PreviewError ? refusal(error) : asOperationError(error);
      }
    },
  };
}

function refusal({ code, message }: PreviewError): OperationError {
  return new OperationError(code === 'busy' || code === 'too_slow' ? 'unavailable' : 'refused', message);
}
