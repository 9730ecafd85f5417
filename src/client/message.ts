import { InputFault } from './input.ts';
import type { Submission, SubmissionAttachment } from './types.ts';

/** Messages as programs have them at hand (bytes, files, dates), and how they become what the API takes. */

/** A file that goes with a message. */
export interface Attachment extends Omit<SubmissionAttachment, 'content'> {
  /** Bytes, a `Blob` or `File` (which also gives its type and name where you give none), or text in base64. */
  readonly content: string | Uint8Array | Blob;
}

/** Names and their values: a plain object, a `Map` or `Headers`. */
export type NamedTexts = Readonly<Record<string, string | null>> | Iterable<readonly [string, string | null]>;

/** A message to be sent. */
export interface Message
  extends Omit<Submission, 'attachments' | 'headers' | 'metadata' | 'sendAt' | 'dryRun'> {
  /** Further header fields, such as `Reply-To`. */
  readonly headers?: NamedTexts | null | undefined;
  /** At most 20 names and values, given back with the status; never in the mail. */
  readonly metadata?: NamedTexts | null | undefined;
  readonly attachments?: readonly Attachment[] | null | undefined;
  /** Not before this time, at most 30 days ahead. */
  readonly sendAt?: Date | string | null | undefined;
}

/** The API's form of a message. Rejects with `InputFault`, or when a `Blob` cannot be read. */
export async function toSubmission(message: Message): Promise<Submission> {
  if (typeof message !== 'object' || message === null)
    throw new InputFault('A message must be an object with from, to, and text, html or attachments.');
  const { attachments, headers, metadata, sendAt, ...same } = message;
  const at = timeText('sendAt', sendAt);
  return {
    ...same,
    ...(headers ? { headers: recordOf(headers) } : {}),
    ...(metadata ? { metadata: recordOf(metadata) } : {}),
    ...(at ? { sendAt: at } : {}),
    ...(attachments ? { attachments: await submissionAttachments(attachments) } : {}),
  };
}

/** As {@link toSubmission}, for a message that is to be sent and not only checked. */
export async function toSend(message: Message): Promise<Submission> {
  const submission = await toSubmission(message);
  if (submission.dryRun)
    throw new InputFault(
      'dryRun: this call sends. Check a message with check(message), which sends nothing.',
    );
  return submission;
}

/**
 * A time as the API takes it; `null` when there is none. A date that is none becomes a text that the API refuses, and
 * says so. Throws `InputFault` for what is no time at all.
 */
export function timeText(name: string, time: Date | string | null | undefined): string | null {
  if (time === undefined || time === null) return null;
  if (typeof time === 'string') return time;
  if (!(time instanceof Date))
    throw new InputFault(`${name} must be a Date, or a text such as 2027-01-31T12:00:00Z.`);
  return Number.isNaN(time.getTime()) ? String(time) : time.toISOString();
}

function recordOf(named: NamedTexts): Readonly<Record<string, string | null>> {
  return isIterable(named) ? Object.fromEntries(named) : named;
}

function isIterable(named: NamedTexts): named is Iterable<readonly [string, string | null]> {
  return Symbol.iterator in named;
}

async function submissionAttachments(attachments: readonly Attachment[]): Promise<SubmissionAttachment[]> {
  if (!Array.isArray(attachments)) throw new InputFault('attachments must be an array.');
  return await Promise.all(attachments.map(toSubmissionAttachment));
}

async function toSubmissionAttachment(attachment: Attachment, index: number): Promise<SubmissionAttachment> {
  const content: unknown = attachment?.content;
  if (typeof content === 'string') return { ...attachment, content };
  if (content instanceof Uint8Array) return { ...attachment, content: base64(content) };
  if (!(content instanceof Blob))
    throw new InputFault(
      `attachments[${index}].content must be a Uint8Array, a Blob or File, or text in base64. For a file in Node.js: await readFile(path); for an ArrayBuffer: new Uint8Array(buffer).`,
    );
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

/** How many bytes are encoded at a time where it is done by hand: a multiple of three, so that only the last piece is padded. */
const PIECE_BYTES = 24_576;

/** Bytes in base64, by the fastest way that the runtime has: a message may have 18 MiB of them. */
export function base64(bytes: Uint8Array): string {
  if ('toBase64' in bytes && typeof bytes.toBase64 === 'function') return String(bytes.toBase64());
  if (typeof Buffer === 'function')
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  let text = '';
  for (let start = 0; start < bytes.length; start += PIECE_BYTES)
    text += btoa(String.fromCharCode(...bytes.subarray(start, start + PIECE_BYTES)));
  return text;
}
