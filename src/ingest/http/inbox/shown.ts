import { createHash } from 'node:crypto';
import type { MessageRecord } from '../../../domain/message.ts';
import { type ListUnsubscribe, readListUnsubscribe } from '../../../mail/list-unsubscribe.ts';
import type { Shown } from '../../../operations/operation.ts';
import type { ParsedMessage } from '../../../preview/parsed.ts';
import type { LanesSeen } from '../../service.ts';
import type { capturedItemSchema, capturedMessageSchema } from '../operator-answers.ts';
import { messageJson } from '../record.ts';
import type { CapturedEntry } from './captured-mail.ts';

/** Captured messages as the API shows them. */

/** A captured message with all that it says. */
export function capturedJson(
  message: MessageRecord,
  words: ParsedMessage,
  lanes: LanesSeen,
): Shown<typeof capturedMessageSchema> {
  const { text, html, links, codes, headers } = words;
  return {
    message: messageJson(message, lanes),
    text,
    html,
    links,
    codes,
    headers: headers.map(({ name, value }) => [name, value] as const),
    envelope: { from: message.envelopeFrom, to: [...message.to, ...message.cc, ...message.bcc] },
    listUnsubscribe: listUnsubscribeOf(words),
    attachments: words.attachments.map(({ filename, contentType, inline, contentId, content }, index) => ({
      index,
      filename,
      contentType,
      sizeBytes: content.length,
      inline,
      contentId,
      sha256: createHash('sha256').update(content).digest('hex'),
    })),
  };
}

/** A captured message of a list. */
export function capturedItemJson(
  { message, gist }: CapturedEntry,
  lanes: LanesSeen,
): Shown<typeof capturedItemSchema> {
  const { snippet, attachments } = gist;
  return { ...messageJson(message, lanes), snippet, attachments };
}

/** How recipients leave the list that a message belongs to, as its header says; null if it says nothing. */
function listUnsubscribeOf({ headers }: Pick<ParsedMessage, 'headers'>): ListUnsubscribe | null {
  const value = (wanted: string) => headers.find(({ name }) => name.toLowerCase() === wanted)?.value ?? '';
  const [links, post] = [value('list-unsubscribe'), value('list-unsubscribe-post')];
  return links === '' && post === '' ? null : readListUnsubscribe(links, post);
}
