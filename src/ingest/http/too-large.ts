import { Problem } from '../../http/problem.ts';

/** What a client is told of messages and bodies that are too large (contract §5: 413). */

/** Base64 in lines of 76 characters: four for three bytes, and CRLF after each line. */
const BASE64_GROWTH = 1.37;

/** Said when a body with one message is too large. */
export function messageSizeAdvice(maxMessageBytes: number): string {
  const attached = Math.floor(maxMessageBytes / BASE64_GROWTH);
  return `Attachments grow by 37 % in transit (base64): together they may have about ${attached} bytes. Send a link instead, or raise api.max_message_bytes.`;
}

/** Said when the body of a batch is too large. */
export const BATCH_SIZE_ADVICE =
  'Attachments grow by 37 % in transit (base64). Send several smaller batches, or raise api.max_batch_bytes.';

/** The problem 413 for the text of one message of a batch, which may be as large as a body of its own. */
export function textTooLarge(textBytes: number, maxMessageBytes: number): Problem {
  const figures = `The message may have at most ${maxMessageBytes} bytes of JSON, and this one has ${textBytes}.`;
  return new Problem(413, 'content_too_large', `${figures} ${messageSizeAdvice(maxMessageBytes)}`);
}

/** The problem 413 for a message as it would be sent. */
export function messageTooLarge(sizeBytes: number, maxMessageBytes: number): Problem {
  const figures = `The message may have at most ${maxMessageBytes} bytes as it would be sent, and this one has ${sizeBytes}.`;
  return new Problem(413, 'message_too_large', `${figures} ${messageSizeAdvice(maxMessageBytes)}`);
}
