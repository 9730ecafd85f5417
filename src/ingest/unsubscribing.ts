import { isSigned } from '../domain/alignment.ts';
import type { SendingDomain } from '../domain/domain-keys.ts';
import type { Content, Submission } from '../domain/message.ts';
import type { BounceDomains } from '../domain/return-path.ts';
import type { Sliced } from '../lib/clock.ts';
import type { RecipientTokens } from '../lib/recipient-token.ts';
import { writeField } from '../mail/field.ts';
import { authorsOf } from '../mail/field-values.ts';
import { changeHeader, type FieldSpan, fieldValue, readLooseHeader } from '../mail/header-block.ts';
import type { Fault } from '../mail/headers.ts';
import { type CopyTemplate, copyOf, readTemplate } from '../mail/own-copies.ts';

/**
 * Mail from which its recipients can unsubscribe with one click (RFC 8058; contract-2 §A7): each gets a copy with a link
 * of its own, in the header and in the text.
 */

/** What links are made of, as configured now. */
export interface UnsubscribeTerms {
  /** `server.public_url`. */
  readonly publicUrl: string | null;
  /** Null if `secret.key` cannot be read. */
  readonly tokens: Pick<RecipientTokens, 'write' | 'read' | 'localPart'> | null;
  readonly bounceDomains: BounceDomains;
  readonly domains: readonly SendingDomain[];
}

/** A submission with a copy for each recipient, or why there are none. */
export type Individual =
  | { readonly kind: 'individual'; readonly submission: Identified }
  /** Something is missing: the sentence says what. */
  | { readonly kind: 'unavailable'; readonly detail: string }
  /** The message has a field that we would write. */
  | { readonly kind: 'forbidden'; readonly field: string; readonly detail: string }
  /** All copies together, in bytes. */
  | { readonly kind: 'too_large'; readonly sizeBytes: number };

/** What stands for the link in the text and HTML of a message. */
const PLACEHOLDER = '%unsubscribe_url%';
/** Where links lead, below `server.public_url`. */
const LINK_PATH = '/u/';
/** The link in a field that we wrote. */
const LINK = /^<(https:\/\/[^<>]+\/u\/[0-9a-z]{40})>/;
/** The fields that we write. */
const OURS: ReadonlySet<string> = new Set(['list-unsubscribe', 'list-unsubscribe-post', 'list-id']);
/** RFC 2919 §2: an identifier has at most 255 characters. */
const MAX_LIST_ID = 255;
/** RFC 2919 §3: the label of a list is a dot-atom. */
const LABEL = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const MAX_LABEL = 64;
/** Copies to make before other work gets a turn. */
const COPIES_IN_A_SLICE = 16;
/** Headers are smaller, also with what was put on top of them. */
const MAX_HEADER_BYTES = 512 * 1024;
const BLANK_LINE = '\r\n\r\n';

/** The fault of a stream's name in a List-ID; null if it is valid. */
export function labelFault(stream: string): Fault | null {
  if (stream === '') return { code: 'required', detail: 'A stream is needed, such as "news".' };
  if (stream.length <= MAX_LABEL && LABEL.test(stream)) return null;
  const detail = `A stream that can be unsubscribed from is 1 to ${MAX_LABEL} ASCII letters, digits and any of !#$%&'*+-/=?^_\`{|}~, with single dots between them, such as "news".`;
  return { code: 'stream', detail };
}

/** Whether recipients of mail from a domain can unsubscribe from this stream now. */
export function canUnsubscribe(
  stream: string,
  author: string,
  signing: Submission['signing'],
  terms: UnsubscribeTerms,
): boolean {
  return labelFault(stream) === null && typeof placesOf(author, { signing }, stream, terms) !== 'string';
}

/** A submission whose id is in its text. */
type Identified = Submission & { readonly id: string };

/** Makes a copy for each recipient of a submission; `stream` passes {@link labelFault}. */
export function* withOwnCopies(
  submission: Identified,
  stream: string,
  terms: UnsubscribeTerms,
  maxBytes: number,
): Sliced<Individual> {
  const message = Buffer.concat(submission.content.chunks);
  const fields = headerOf(message);
  const ours = fields.find(({ lowerName }) => OURS.has(lowerName));
  if (ours !== undefined) return forbidden(ours);
  const places = placesOf(authorOf(fields), submission, stream, terms);
  if (typeof places === 'string') return { kind: 'unavailable', detail: places };
  const template = yield* readTemplate(message, PLACEHOLDER);
  return yield* copied(submission, template, places, maxBytes);
}

/** The submission with copies made from a template. */
function* copied(
  submission: Identified,
  template: CopyTemplate,
  { list, links }: Places,
  maxBytes: number,
): Sliced<Individual> {
  const { id, content, envelope } = submission;
  const chunks: Uint8Array[] = [];
  const copies: number[] = [];
  let sizeBytes = 0;
  for (const recipient of envelope.recipients.keys()) {
    const { url, mailto } = links({ id, recipient });
    const fields =
      writeField('List-Unsubscribe', mailto === null ? [`<${url}>`] : [`<${url}>,`, `<${mailto}>`]) +
      writeField('List-Unsubscribe-Post', ['List-Unsubscribe=One-Click']) +
      writeField('List-ID', [`<${list}>`]);
    const copy = yield* copyOf(template, { fields, text: url });
    const length = copy.reduce((sum, chunk) => sum + chunk.length, 0);
    // They differ in little: with the first, the size of all is known.
    const expected = sizeBytes + length * (envelope.recipients.length - recipient);
    if (expected > maxBytes) return { kind: 'too_large', sizeBytes: expected };
    if (recipient % COPIES_IN_A_SLICE === COPIES_IN_A_SLICE - 1) yield;
    chunks.push(...copy);
    copies.push(length);
    sizeBytes += length;
  }
  const all: Content = { ...content, chunks, sizeBytes };
  return { kind: 'individual', submission: { ...submission, content: all, copies } };
}

/** A copy that {@link withOwnCopies} made as the message from which it was made, to make others of it. */
export function* withoutLinks(copy: Buffer): Sliced<Buffer> {
  const [, url] = LINK.exec(fieldValue(headerOf(copy), 'list-unsubscribe') ?? '') ?? [];
  if (url === undefined) return copy;
  const chunks = yield* copyOf(yield* readTemplate(copy, url), { fields: '', text: PLACEHOLDER });
  const message = Buffer.concat(chunks);
  const header = readLooseHeader(headerText(message), MAX_HEADER_BYTES);
  if (header === null) return message;
  const each = (field: FieldSpan) => (OURS.has(field.lowerName) ? null : field);
  return Buffer.concat(changeHeader(message, header, { prepend: '', each }));
}

/** Where a recipient can unsubscribe. */
interface Links {
  readonly url: string;
  readonly mailto: string | null;
}

interface Places {
  /** The identifier of the list. */
  readonly list: string;
  readonly links: (about: { readonly id: string; readonly recipient: number }) => Links;
}

/** Where the recipients of this mail can unsubscribe; or what is missing, as a sentence. */
function placesOf(
  author: string | null,
  { signing }: Pick<Submission, 'signing'>,
  stream: string,
  { publicUrl, tokens, bounceDomains, domains }: UnsubscribeTerms,
): Places | string {
  if (publicUrl === null || !publicUrl.startsWith('https://')) return NO_URL;
  if (tokens === null) return NO_KEY;
  if (author === null) return NO_AUTHOR;
  if (!isSigned({ authors: [author], rights: signing, domains })) return notSigned(author);
  const list = `${stream}.${author}`;
  if (list.length > MAX_LIST_ID)
    return `The stream and the domain of From together have more than ${MAX_LIST_ID - 1} characters; shorten the stream.`;
  const bounceDomain = bounceDomains.own.get(author) ?? bounceDomains.usual;
  return {
    list,
    links: (about) => ({
      url: publicUrl + LINK_PATH + tokens.write(about),
      mailto:
        bounceDomain === null
          ? null
          : `mailto:${tokens.localPart(about)}@${bounceDomain}?subject=unsubscribe`,
    }),
  };
}

/** The domain of the one author; null: there are none, or several. */
function authorOf(fields: readonly FieldSpan[]): string | null {
  const from = fields.filter(({ lowerName }) => lowerName === 'from');
  const authors = from.length === 1 ? (authorsOf(from) ?? []) : [];
  const [author, ...others] = authors.map(({ domain }) => domain);
  return author === undefined || others.length > 0 ? null : author;
}

const NO_URL =
  'Links to unsubscribe need server.public_url with https, such as https://mail.example.com, and it is not set so; ask the operator.';
const NO_KEY =
  'Links to unsubscribe need the file secret.key, and it cannot be read on this server; ask the operator.';
const NO_AUTHOR = 'Links to unsubscribe need a From with one address, which names the list.';

function notSigned(domain: string): string {
  return `Links to unsubscribe must be signed (RFC 8058), and no key signs for ${domain}; set up the domain (docs/domains.md), or use a From that is signed.`;
}

function forbidden({ name }: FieldSpan): Individual {
  const detail = `The header ${name} cannot be set together with unsubscribe, which writes it; leave out one of them.`;
  return { kind: 'forbidden', field: name, detail };
}

function headerOf(message: Buffer): readonly FieldSpan[] {
  return readLooseHeader(headerText(message), MAX_HEADER_BYTES)?.fields ?? [];
}

/** One character for each byte. */
function headerText(message: Buffer): string {
  const end = message.indexOf(BLANK_LINE);
  return message.toString('latin1', 0, end < 0 ? message.length : end + BLANK_LINE.length);
}
