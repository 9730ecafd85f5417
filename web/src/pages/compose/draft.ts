/** A message as it is edited: every field as the text that stands in its box. */

/** See above. */
export interface Draft {
  readonly from: string;
  /** Address lists, as in a mail program. */
  readonly to: string;
  readonly cc: string;
  readonly bcc: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** A field a line: `Reply-To: help@example.com`. */
  readonly headers: string;
  readonly tags: readonly string[];
  /** RFC 3339; empty for now. */
  readonly sendAt: string;
  readonly priority: DraftPriority;
  readonly attachments: readonly DraftFile[];
  /** What this form does not show; it is kept. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/** Which waiting mail goes first. */
export type DraftPriority = 'high' | 'normal' | 'bulk';

/** A file that goes with a message. */
export interface DraftFile {
  readonly filename: string;
  /** Base64. */
  readonly content: string;
  readonly contentType: string | null;
  readonly contentId: string | null;
  readonly disposition: string | null;
}

/** Nothing is written yet. */
export const EMPTY_DRAFT = draftOf({});

/** A message in the form of the API's JSON, to be edited. What is not of the right type is left out. */
export function draftOf(message: Readonly<Record<string, unknown>>): Draft {
  const { from, to, cc, bcc, subject, text, html, headers, tags, sendAt, priority, attachments, ...rest } =
    message;
  return {
    from: asText(from),
    to: asList(to),
    cc: asList(cc),
    bcc: asList(bcc),
    subject: asText(subject),
    text: asText(text),
    html: asText(html),
    headers: asHeaders(headers),
    tags: Array.isArray(tags) ? tags.map(asText).filter((tag) => tag !== '') : [],
    sendAt: asText(sendAt),
    priority: priority === 'high' || priority === 'bulk' ? priority : 'normal',
    attachments: Array.isArray(attachments) ? attachments.flatMap(asFile) : [],
    rest,
  };
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asList(value: unknown): string {
  return Array.isArray(value) ? value.map(asText).join(', ') : asText(value);
}

function asHeaders(value: unknown): string {
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .filter(([, text]) => typeof text === 'string')
    .map(([name, text]) => `${name}: ${text}`)
    .join('\n');
}

function asFile(value: unknown): DraftFile[] {
  if (typeof value !== 'object' || value === null) return [];
  const { filename, content, contentType, contentId, disposition } = value as Record<string, unknown>;
  if (typeof content !== 'string') return [];
  return [
    {
      filename: asText(filename),
      content,
      contentType: asText(contentType) || null,
      contentId: asText(contentId) || null,
      disposition: asText(disposition) || null,
    },
  ];
}

/** The body of `POST /api/v1/messages`; what is empty is left out. */
export function messageOf(draft: Draft): Record<string, unknown> {
  const { to, cc, bcc, subject, text, html, headers, tags, sendAt, priority, attachments, rest } = draft;
  const fields = readHeaders(headers);
  return {
    ...rest,
    from: draft.from.trim(),
    ...given({ to: to.trim(), cc: cc.trim(), bcc: bcc.trim() }),
    subject,
    ...given({ text, html, sendAt: sendAt.trim() }),
    ...(Object.keys(fields).length > 0 && { headers: fields }),
    ...(tags.length > 0 && { tags }),
    ...(priority !== 'normal' && { priority }),
    ...(attachments.length > 0 && { attachments: attachments.map((file) => given({ ...file })) }),
  };
}

function given<Value>(fields: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '' && value !== null));
}

/** A line without a colon goes as the name of a field, so that the server can say what is wrong with it. */
function readHeaders(text: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const colon = line.indexOf(':');
    if (colon === -1) fields[line.trim()] = ' ';
    else fields[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  return fields;
}

/** Bytes of a file in base64. */
export function fileBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}
