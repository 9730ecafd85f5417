import { addressKey, type Mailbox, parseAddressList } from '../domain/mailbox.ts';
import type { Content } from '../domain/message.ts';
import type { Sliced } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import { addressWords, tokenWords, unstructuredWords, writeField } from './field.ts';
import { withDecodedName } from './field-values.ts';
import { effectiveMessageId, findHeader, type HeaderField, headerKind } from './headers.ts';
import {
  type Attachment,
  attachmentPart,
  type Leaf,
  multipart,
  needsDotStuffing,
  type Part,
  writeMessage,
} from './part.ts';
import { encodeText } from './text-body.ts';
import { formatDate } from './trace.ts';

/** A message as its author sees it. Parsed and checked: see `checkHeader`, `checkSubject`, `checkAttachment`. */
export interface Draft {
  readonly from: Mailbox;
  /** Each address of To and Cc is shown once. */
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  /** Custom fields; a Date or Message-ID among them replaces ours. */
  readonly headers: readonly HeaderField[];
  readonly attachments: readonly Attachment[];
}

/** The inputs besides the draft, so that equal arguments give equal bytes. */
export interface ComposeContext {
  /** Wall time in ms for the Date field. */
  readonly date: number;
  /** With its angle brackets. */
  readonly messageId: string;
  /** For boundaries. */
  readonly random: Random;
  /** Trace fields, CRLF included, put first. */
  readonly trace?: string;
}

/** Random bytes of a boundary: no content matches it by chance. */
const BOUNDARY_BYTES = 16;

/**
 * Composes the wire form of a message. It is ASCII throughout, unless an address in the header has a non-ASCII local
 * part: then `flags.utf8` and `flags.eightBit` are set. Envelope addresses are the caller's concern: a non-ASCII Bcc
 * makes a message SMTPUTF8 as well. Works in slices on long messages. Throws a RangeError on a draft that the checks
 * would have refused.
 */
export function* compose(draft: Draft, context: ComposeContext): Sliced<Content> {
  const header = writeHeader(draft, context);
  const root = yield* bodyPart(draft, context.random);
  const chunks = writeMessage(header, root);
  const utf8 = Buffer.byteLength(header) > header.length;
  return {
    chunks,
    sizeBytes: chunks.reduce((sum, chunk) => sum + chunk.length, 0),
    flags: { eightBit: utf8, utf8, dotStuffing: needsDotStuffing(root) },
  };
}

function writeHeader(draft: Draft, context: ComposeContext): string {
  const { from, subject, headers } = draft;
  const { to, cc } = shownOnce(draft);
  let header = context.trace ?? '';
  header += writeField('Date', [findHeader(headers, 'date') ?? formatDate(context.date)]);
  header += writeField('From', addressWords([from]));
  if (to.length > 0) header += writeField('To', addressWords(to));
  if (cc.length > 0) header += writeField('Cc', addressWords(cc));
  if (to.length + cc.length === 0) header += writeField('To', ['undisclosed-recipients:;']);
  header += writeField('Subject', unstructuredWords(subject, 'Subject'));
  header += writeField('Message-ID', [effectiveMessageId(headers, context.messageId)]);
  for (const field of headers) if (!isOurs(field)) header += writeCustomHeader(field);
  return `${header}MIME-Version: 1.0\r\n`;
}

/**
 * To and Cc with each address at its first mention, ignoring letter case: a message that repeats one cannot go to a
 * provider that composes messages itself.
 */
function shownOnce({ to, cc }: Draft): Pick<Draft, 'to' | 'cc'> {
  if (to.length + cc.length < 2) return { to, cc };
  const shown = new Set<string>();
  const isFirst = ({ address }: Mailbox) => shown.size < shown.add(addressKey(address.toLowerCase())).size;
  return { to: to.filter(isFirst), cc: cc.filter(isFirst) };
}

/** Whether the composer has written the field already. */
function isOurs([name]: HeaderField): boolean {
  return /^(?:date|message-id)$/i.test(name);
}

/** The tree: mixed(alternative(plain, related(html, inline…)), attachment…), without unnecessary levels. */
function* bodyPart(draft: Draft, random: Random): Sliced<Part> {
  const related = referredIn(draft.html, draft.attachments);
  const attached = draft.attachments.filter((attachment) => !related.includes(attachment));
  const texts: Part[] = [];
  if (draft.text !== null) texts.push(yield* textPart('plain', draft.text));
  if (draft.html !== null) texts.push(yield* htmlPart(draft.html, related, random));
  if (texts.length === 0 && attached.length === 0) texts.push(yield* textPart('plain', ''));
  const bodies = texts.length > 1 ? [multipart('alternative', texts, boundary(random))] : texts;
  const [only] = bodies;
  if (only !== undefined && attached.length === 0) return only;
  return multipart('mixed', [...bodies, ...(yield* attachmentParts(attached))], boundary(random));
}

/** The attachments that the HTML shows; they are written before those that stand beside it. */
export function referredIn<
  File extends { readonly disposition: string | null; readonly contentId: string | null },
>(html: string | null, attachments: readonly File[]): readonly File[] {
  if (html === null) return [];
  return attachments.filter(({ disposition, contentId }) => disposition === 'inline' && contentId !== null);
}

function* htmlPart(html: string, related: readonly Attachment[], random: Random): Sliced<Part> {
  const root = yield* textPart('html', html);
  if (related.length === 0) return root;
  const parts = [root, ...(yield* attachmentParts(related))];
  return multipart('related', parts, boundary(random), [['type', 'text/html']]);
}

function* textPart(subtype: 'plain' | 'html', text: string): Sliced<Leaf> {
  const { encoding, body } = yield* encodeText(text);
  return {
    kind: 'leaf',
    fields: `Content-Type: text/${subtype}; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n`,
    body,
    dotStuffing: false,
  };
}

function* attachmentParts(attachments: readonly Attachment[]): Sliced<Leaf[]> {
  const parts: Leaf[] = [];
  for (const attachment of attachments) parts.push(yield* attachmentPart(attachment));
  return parts;
}

/** `=_` can never occur in a quoted-printable or base64 body. */
function boundary(random: Random): string {
  return `=_${Buffer.from(random.fill(new Uint8Array(BOUNDARY_BYTES))).toString('hex')}`;
}

/** Writes a field accepted by `checkHeader`, by its kind. Throws a RangeError on any other. */
export function writeCustomHeader([name, value]: HeaderField): string {
  switch (headerKind(name)) {
    case 'addresses': {
      const parsed = parseAddressList(value);
      if (!parsed.ok) throw new RangeError(`header field ${name} is not an address list`);
      return writeField(name, addressWords(parsed.value.map(withDecodedName)));
    }
    case 'tokens':
      return writeField(name, tokenWords(value));
    case 'unstructured':
      return writeField(name, unstructuredWords(value.trim(), name));
  }
}
