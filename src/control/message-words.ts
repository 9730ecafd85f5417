import type { MessageRecord } from '../domain/message.ts';
import { readContent } from '../ingest/http/find-message.ts';
import { isMessageId } from '../lib/id.ts';
import { asOperationError, OperationError } from '../operations/call.ts';
import { type ParsedMessage, PreviewError } from '../preview/parsed.ts';
import type { Previewer } from '../preview/previewer.ts';
import type { Spool } from '../spool/spool.ts';
import type { MessageDetail, Views } from '../store/views.ts';

/** Reads the text of stored messages. */
export interface MessageWords {
  /** A message with its text. Throws `OperationError`: it does not exist, is no longer kept, or cannot be read. */
  read(id: string): Promise<WordedMessage>;
  /** The text of a given message. Throws `PreviewError`, and the API's problem if it is no longer kept. */
  readWords(message: MessageRecord): Promise<ParsedMessage>;
}

/** See {@link MessageWords.read}. */
export interface WordedMessage extends MessageDetail {
  readonly words: ParsedMessage;
}

/** What reading needs. */
export interface MessageWordsDeps {
  readonly views: Pick<Views, 'message'>;
  readonly spool: Pick<Spool, 'read'>;
  readonly previewer: Previewer;
}

/** Reads the text of stored messages, one after the other. */
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
