import type { MessageDraft, MessagePreview, SearchOperations } from '../operations/search.ts';
import { draftOf, type ParsedMessage } from '../preview/parsed.ts';
import type { LocalDeps } from './local-deps.ts';

/** Those of the operations on mail that read what a message says. */
export type PreviewOperations = Pick<SearchOperations, 'messagePreview' | 'messageDraft'>;

/** See {@link PreviewOperations}. */
export function previewOperations({ words }: Pick<LocalDeps, 'words'>): PreviewOperations {
  return {
    messagePreview: async ({ id }) => previewOf((await words.read(id)).words),
    messageDraft: async ({ id }): Promise<MessageDraft> => {
      const { message, words: parsed } = await words.read(id);
      const { header, to, cc, bcc, tags, metadata, priority } = message;
      return draftOf({ from: header.from, to, cc, bcc, tags, metadata, priority }, parsed);
    },
  };
}

/** What a message says, as it is shown; its files by number. */
function previewOf(words: ParsedMessage): MessagePreview {
  const { subject, from, headers, html, text, attachments, links, codes, notes } = words;
  return {
    subject,
    from,
    headers,
    hasHtml: html !== null,
    text,
    attachments: attachments.map(({ filename, contentType, inline, contentId, content }, number) => ({
      number,
      filename,
      contentType,
      sizeBytes: content.length,
      inline,
      contentId,
    })),
    links,
    codes,
    notes,
  };
}
