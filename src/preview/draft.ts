import { checkHeader } from '../mail/headers.ts';
import type { ParsedMessage } from './parsed.ts';

/** What a draft needs to know of a message besides what it says: whom it was for. */
export interface DraftOf {
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly priority: string;
}

/** A new message's fields, in the form of the API's JSON, and what of the old one is not in them. */
export interface Draft {
  readonly message: Readonly<Record<string, unknown>>;
  readonly notes: readonly string[];
}

/** Bytes of files that come along, all together: a draft travels to a browser and back. */
export const MAX_DRAFT_FILES = 5 * 1024 * 1024;
/** As many custom headers as the API takes unless told otherwise. */
const MAX_HEADERS = 50;

/** Fields that a message gets from us, or from whatever handed it on: a new one gets its own. */
const OWN = new Set(['date', 'message-id', 'return-path', 'delivered-to', 'user-agent', 'x-mailer']);

/** Makes of a message the fields of one like it. */
export function draftOf(of: DraftOf, parsed: ParsedMessage): Draft {
  const notes: string[] = [];
  const { html, text } = parsed;
  const message = {
    from: of.from,
    to: of.to,
    cc: of.cc,
    bcc: of.bcc,
    subject: parsed.subject,
    text: text ?? (html === null ? '' : null),
    html,
    headers: headersOf(parsed),
    attachments: filesOf(parsed, notes),
    tags: of.tags,
    metadata: of.metadata,
    priority: of.priority,
  };
  return { message, notes: [...parsed.notes, ...notes] };
}

function headersOf({ headers }: ParsedMessage): Record<string, string> {
  const kept: Record<string, string> = Object.create(null);
  const seen = new Set<string>();
  for (const { name, value } of headers) {
    const lower = name.toLowerCase();
    if (OWN.has(lower) || seen.has(lower) || seen.size >= MAX_HEADERS) continue;
    if (checkHeader(name, value) !== null) continue;
    seen.add(lower);
    kept[name] = value;
  }
  return { ...kept };
}

function filesOf({ attachments }: ParsedMessage, notes: string[]): object[] {
  let left = MAX_DRAFT_FILES;
  const files: object[] = [];
  for (const { filename, contentType, inline, contentId, content } of attachments) {
    if (content.length > left) {
      notes.push(`${filename} is too large to be sent along from here.`);
      continue;
    }
    left -= content.length;
    files.push({
      filename,
      contentType,
      content: Buffer.from(content).toString('base64'),
      disposition: inline ? 'inline' : 'attachment',
      ...(contentId === null ? {} : { contentId }),
    });
  }
  return files;
}
