import PostalMime, { type Address, type Attachment, decodeWords } from 'postal-mime';
import { codesIn, linksIn } from './findings.ts';
import { type ParsedAttachment, type ParsedField, type ParsedMessage, PreviewError } from './parsed.ts';

/** Parts inside each other; deeper ones are nobody's mail. */
const MAX_NESTING = 32;
const MAX_HEADER_BYTES = 512 * 1024;
/** Header fields that are shown. */
export const MAX_FIELDS = 300;
/** Characters of one field that are shown. */
const MAX_FIELD = 16 * 1024;
/** Characters of text, and of HTML, that are shown. */
export const MAX_TEXT = 2 * 1024 * 1024;
/** Files that are listed. */
export const MAX_FILES = 200;
const TURNS_TEXT = /[\u202a-\u202e\u2066-\u2069]/g;
const MAX_NAME = 200;

/** Reads a message. Throws {@link PreviewError} `unreadable`. */
export async function parseMessage(bytes: Uint8Array): Promise<ParsedMessage> {
  const email = await parse(bytes);
  const notes: string[] = [];
  const attachments = email.attachments.slice(0, MAX_FILES).map(attachmentOf);
  if (email.attachments.length > MAX_FILES)
    notes.push(`Only the first ${MAX_FILES} of ${email.attachments.length} files are listed.`);
  const fields = email.headers.slice(0, MAX_FIELDS);
  if (email.headers.length > MAX_FIELDS)
    notes.push(`Only the first ${MAX_FIELDS} of ${email.headers.length} header fields are shown.`);
  const shorten = (text: string | undefined, what: string) => {
    if (text === undefined || text === '') return null;
    if (text.length <= MAX_TEXT) return text;
    notes.push(`Of the ${what} only the beginning is shown.`);
    return text.slice(0, MAX_TEXT);
  };
  const words = {
    subject: email.subject ?? '',
    html: shorten(email.html, 'HTML'),
    text: shorten(email.text, 'text'),
  };
  return {
    ...words,
    from: email.from === undefined ? '' : addressText(email.from),
    headers: fields.map(fieldOf),
    attachments,
    links: linksIn(words),
    codes: codesIn(words),
    notes,
  };
}

async function parse(bytes: Uint8Array) {
  try {
    return await PostalMime.parse(bytes, {
      maxNestingDepth: MAX_NESTING,
      maxHeadersSize: MAX_HEADER_BYTES,
      forceRfc822Attachments: true,
    });
  } catch (error) {
    throw new PreviewError('unreadable', `The message cannot be read: ${String(error)}`);
  }
}

function fieldOf({ originalKey, value }: { originalKey: string; value: string }): ParsedField {
  return { name: originalKey, value: decodeWords(value.slice(0, MAX_FIELD)) };
}

function addressText(address: Address): string {
  if (address.group !== undefined) return address.name;
  return address.name === '' ? address.address : `${address.name} <${address.address}>`;
}

function attachmentOf(file: Attachment, index: number): ParsedAttachment {
  const { content, contentId } = file;
  return {
    filename: fileName(file.filename, index),
    contentType: file.mimeType.toLowerCase(),
    inline: file.related === true || file.disposition === 'inline',
    contentId: contentId === undefined ? null : contentId.replace(/^<|>$/g, ''),
    content: typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content),
  };
}

/**
 * A name that is no path and has nothing invisible in it: what turns the direction of writing hides an ending, and is
 * shown as an escape that may stand in the name of a file, `[U+202E]`.
 */
function fileName(given: string | null, index: number): string {
  const name = (given ?? '')
    .replace(/^.*[/\\]/s, '')
    .replace(TURNS_TEXT, (mark) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase()}]`)
    .replace(/[\p{C}\p{Zl}\p{Zp}"<>|:*?]/gu, '_')
    .trim()
    .replace(/^[.\s]+/, '');
  return name === '' ? `file-${index + 1}` : Array.from(name).slice(0, MAX_NAME).join('');
}
