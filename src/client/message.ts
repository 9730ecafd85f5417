import type { Submission, SubmissionAttachment } from './types.ts';

/** Messages as programs have them at hand (bytes, files, dates), and how they become what the API takes. */

/** A file that goes with a message. */
export interface Attachment extends Omit<SubmissionAttachment, 'content'> {
  /** Bytes, a `Blob` or `File` (which also gives its type and name where you give none), or text in base64. */
  readonly content: string | Uint8Array | Blob;
}

/** A message to be sent. */
export interface Message extends Omit<Submission, 'attachments' | 'sendAt' | 'dryRun'> {
  readonly attachments?: readonly Attachment[] | null | undefined;
  readonly sendAt?: Date | string | null | undefined;
}

/** The API's form of a message. Rejects when a `Blob` cannot be read. */
export async function toSubmission(message: Message): Promise<Submission> {
  const { attachments, sendAt, ...same } = message;
  return {
    ...same,
    ...(sendAt ? { sendAt: timeText(sendAt) } : {}),
    ...(attachments ? { attachments: await Promise.all(attachments.map(toSubmissionAttachment)) } : {}),
  };
}

/** A time as the API takes it. A date that is none becomes a text that the API refuses, and says so. */
export function timeText(time: Date | string): string {
  if (typeof time === 'string') return time;
  return Number.isNaN(time.getTime()) ? String(time) : time.toISOString();
}

async function toSubmissionAttachment(attachment: Attachment): Promise<SubmissionAttachment> {
  const { content } = attachment;
  if (typeof content === 'string') return { ...attachment, content };
  if (content instanceof Uint8Array) return { ...attachment, content: base64(content) };
  const contentType = attachment.contentType || content.type || null;
  // A File is a Blob with a name; not every runtime knows the class.
  const name = 'name' in content && typeof content.name === 'string' ? content.name : null;
  const filename = attachment.filename || name;
  return {
    ...attachment,
    filename,
    contentType,
    content: base64(new Uint8Array(await content.arrayBuffer())),
  };
}

/** How many bytes are encoded at a time: a multiple of three, so that only the last piece is padded. */
const PIECE_BYTES = 24_576;

function base64(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += PIECE_BYTES)
    text += btoa(String.fromCharCode(...bytes.subarray(start, start + PIECE_BYTES)));
  return text;
}
