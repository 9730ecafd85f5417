import { InputFault } from './result.ts';
import type { Priority, Submission, SubmissionAttachment } from './types.ts';

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

/** Who gets a finished message, whatever its header says, and how. */
export interface RawEnvelope {
  /** The reverse-path: an address without a name. */
  readonly from: string;
  /** The forward-paths. A request has room for some 600 addresses; send to more in several calls. */
  readonly to: string | readonly string[];
  readonly tags?: readonly string[] | null | undefined;
  /** Not before this time, at most 30 days ahead. */
  readonly sendAt?: Date | string | null | undefined;
  readonly priority?: Priority | null | undefined;
  /** The box in which a captured message lies: 1 to 64 characters of `a-z 0-9 . _ -`. */
  readonly box?: string | null | undefined;
  /** REQUIRETLS (RFC 8689), as in `Submission`. */
  readonly requireTls?: boolean | null | undefined;
}

/** How an envelope travels: in the query, and what would make that too long in header fields of the request. */
interface RawTarget {
  /** With its question mark. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A finished message as programs have it. */
export type RawContent = string | Uint8Array | Blob;

/** The server takes 8 KiB of path and query, and 16 KiB of header. */
const LONGEST_QUERY = 6000;

/** How an envelope travels, with a message that is to be sent, or only checked. */
export function rawTarget(envelope: RawEnvelope, dryRun: boolean): RawTarget {
  const { from, tags, sendAt, priority, box, requireTls } = envelope ?? {};
  if (typeof from !== 'string')
    throw new InputFault('envelope.from must be the address of the sender; the header From does not count.');
  const to = addressesOf(envelope.to);
  const query = new URLSearchParams({ from });
  for (const address of to) query.append('to', address);
  for (const tag of tags ?? []) query.append('tag', tag);
  const options = {
    sendAt: timeText('envelope.sendAt', sendAt),
    priority,
    box,
    requireTls: requireTls || null,
    dryRun: dryRun || null,
  };
  for (const [name, value] of Object.entries(options))
    if (value !== undefined && value !== null) query.set(name, String(value));
  if (query.toString().length <= LONGEST_QUERY) return { query: `?${query}`, headers: {} };
  query.delete('to');
  return { query: `?${query}`, headers: { to: headerText(to) } };
}

function addressesOf(to: RawEnvelope['to']): readonly string[] {
  const addresses = typeof to === 'string' ? [to] : to;
  if (Array.isArray(addresses) && addresses.every((address) => typeof address === 'string')) return addresses;
  throw new InputFault('envelope.to must be the address of the recipient, or an array of such.');
}

/** Addresses as the value of a header field: in UTF-8, of which `fetch` wants each byte as a character. */
function headerText(addresses: readonly string[]): string {
  const broken = addresses.findIndex((address) => /[\0\r\n]/.test(address));
  if (broken >= 0) throw new InputFault(`envelope.to[${broken}] must be one address; it has a line break.`);
  const bytes = new TextEncoder().encode(addresses.join(', '));
  return [...bytes].map((byte) => String.fromCharCode(byte)).join('');
}
