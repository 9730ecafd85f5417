import { type Mailbox, parseAddressList } from '../domain/mailbox.ts';
import { SLICE_BYTES, type Sliced } from '../lib/clock.ts';
import { withoutUrlEscapes } from '../lib/decode.ts';
import { isBlind } from './finished.ts';
import { type FieldSpan, fieldValue, type HeaderBlock, MAILBOX_LINE } from './header-block.ts';
import type { HeaderField } from './headers.ts';
import {
  decodeBytes,
  decodedText,
  decodeText,
  type Entity,
  Refused,
  readEntity,
  type Unrebuildable,
} from './mime-entity.ts';
import { splitMultipart } from './seven-bit-parts.ts';

/**
 * Converts a stored message for an API that composes messages itself: addresses, subject, one plain and one HTML text,
 * and files. Refuses what such an API could not express, with the reason ({@link UNREBUILDABLE}).
 *
 * Accepts trees that mean the same however they are nested: a text, or an alternative of plain text and HTML, each with
 * the files that the HTML refers to (multipart/related), and files beside them (multipart/mixed). Drops what no reader
 * is shown: preambles and epilogues, the size and dates of a file (RFC 2183 §2), parameters that begin with `x-`, a
 * description that equals the file's name, header fields of parts that do not begin with `Content-` (RFC 2046 §5.1), an
 * empty plain text beside HTML, and a Content-ID that nothing refers to.
 */

/** A file of a message. */
export interface FilePart {
  readonly filename: string;
  /** `type/subtype` in lower case. */
  readonly type: string;
  /** Parameters of the type, without `name`. */
  readonly parameters: ReadonlyMap<string, string>;
  /** `inline` if the HTML shows it or its part says so. */
  readonly disposition: 'attachment' | 'inline';
  /** Without angle brackets; null if nothing refers to it. */
  readonly contentId: string | null;
  readonly bytes: Buffer;
}

/** A message in its parts. */
export interface MessageParts extends MessageHeader {
  /** Null when there is none. */
  readonly text: string | null;
  readonly html: string | null;
  readonly files: readonly FilePart[];
}

/** The parts, or the reason for a refusal. */
export type ReadParts =
  | { readonly ok: true; readonly parts: MessageParts }
  | { readonly ok: false; readonly because: Unrebuildable };

/** Most files of one message. */
export const MAX_FILES = 1000;
const MULTIPART = 'multipart/';
const SIGNED = /^(?:multipart\/(?:signed|encrypted)|application\/(?:x-)?pkcs7-|application\/pgp-encrypted$)/;
const MESSAGE_PART = /^(?:multipart\/report$|message\/)/;
const ATTACHED_MESSAGE = /^message\/(?:rfc822|global)$/;
/** Breaks a line in some reader, or is not text at all: an API may copy it into a header. */
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
/** RFC 2045 §7: like a Message-ID, which is ASCII without controls (RFC 5322 §3.6.4). */
const ID_TEXT = /^[ -~]*$/;
const PLAIN_ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary']);
/** The fields allowed in a part. */
const PART_FIELDS: ReadonlySet<string> = new Set(
  `content-type content-transfer-encoding content-disposition content-id content-description content-md5
  content-length`.split(/\s+/),
);

/** An entity's position in the tree, which decides what it may be. */
type Place = 'top' | 'body' | 'alternative' | 'related';

/** What was found so far. */
interface Found {
  text: string | null;
  html: string | null;
  readonly files: Entity[];
  /** The {@link files} that belong to the HTML. */
  readonly related: Set<Entity>;
}

/** Splits a message (CRLF lines) into its parts. Linear in its size; parts are at most four levels deep. */
export function* readParts(message: Buffer): Sliced<ReadParts> {
  try {
    const entity = readEntity(message);
    if (entity === null) throw new Refused('header');
    const header = readMessageHeader(entity.header);
    const found: Found = { text: null, html: null, files: [], related: new Set() };
    yield* readTop(entity, found);
    if (found.files.length > MAX_FILES) throw new Refused('too_many_parts');
    const { text, html } = found;
    const files = yield* readFiles(found);
    return { ok: true, parts: { ...header, text: text === '' && html !== null ? null : text, html, files } };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, because: error.because };
    throw error;
  }
}

function* readTop(entity: Entity, found: Found): Sliced<void> {
  checkKind(entity);
  if (entity.type !== 'multipart/mixed') {
    if (isText(entity) || entity.type.startsWith(MULTIPART)) yield* readBody(entity, found, 'top');
    else addFile(entity, found);
    return;
  }
  for (const [index, part] of (yield* childrenOf(entity)).entries()) {
    if (index === 0 && (isText(part) || part.type.startsWith(MULTIPART)))
      yield* readBody(part, found, 'body');
    else addFile(part, found);
  }
}

/** Reads the body: a text, or the texts of an alternative, each with what it refers to. */
function* readBody(entity: Entity, found: Found, place: Place): Sliced<void> {
  if (entity.type === 'multipart/alternative' && place !== 'alternative') {
    const [first, second, ...others] = yield* childrenOf(entity);
    if (first === undefined || others.length > 0) throw new Refused('alternatives');
    if (second !== undefined) {
      if (first.type !== 'text/plain' || second.type === 'text/plain') throw new Refused('alternatives');
      yield* readBody(first, found, 'alternative');
    }
    yield* readBody(second ?? first, found, place === 'related' ? 'related' : 'alternative');
  } else if (entity.type === 'multipart/related' && place !== 'related') {
    yield* readRelated(entity, found, place);
  } else {
    yield* readText(entity, found, place);
  }
}

/** The HTML comes first (RFC 2387 §3.2: it is the root unless `start` says otherwise). */
function* readRelated(entity: Entity, found: Found, place: Place): Sliced<void> {
  const [root, ...members] = yield* childrenOf(entity);
  if (root === undefined) throw new Refused('structure');
  const start = entity.parameters.get('start');
  const isRoot = start === undefined || start === `<${root.contentId}>` || start === root.contentId;
  if (!isRoot || entity.parameters.has('start-info')) throw new Refused('place');
  if (place === 'alternative' && root.type.startsWith(MULTIPART)) throw new Refused('structure');
  yield* readBody(root, found, 'related');
  if (found.html === null && members.length > 0) throw new Refused('place');
  for (const member of members) {
    if (member.contentId === null) throw new Refused('place');
    addFile(member, found);
    found.related.add(member);
  }
}

function* readText(entity: Entity, found: Found, place: Place): Sliced<void> {
  if (!isText(entity)) {
    const isThird = place === 'alternative' && !entity.type.startsWith(MULTIPART);
    throw new Refused(isThird ? 'alternatives' : 'structure');
  }
  if (entity.filename !== null || entity.disposition === 'attachment') throw new Refused('place');
  const isDescribed = entity.header.fields.some(({ lowerName }) => lowerName === 'content-description');
  if (isDescribed) throw new Refused('content_fields');
  if ((entity.type === 'text/plain' ? found.text : found.html) !== null) throw new Refused('alternatives');
  const text = yield* decodeText(entity);
  if (entity.type === 'text/plain') found.text = text;
  else found.html = text;
}

function addFile(entity: Entity, found: Found): void {
  // A text is shown in place unless marked otherwise; other multiparts have a meaning of their own.
  if (entity.type.startsWith(MULTIPART) || (isText(entity) && entity.disposition !== 'attachment'))
    throw new Refused('place');
  const isAttached = ATTACHED_MESSAGE.test(entity.type) && entity.disposition === 'attachment';
  if (MESSAGE_PART.test(entity.type) && !isAttached) throw new Refused('message_part');
  found.files.push(entity);
}

function* readFiles({ files, related, html }: Found): Sliced<FilePart[]> {
  const referred = html === null ? new Set<string>() : yield* referredIds(html);
  const parts: FilePart[] = [];
  const ids = new Set<string>();
  for (const entity of files) {
    const { filename, type, parameters, disposition, contentId } = entity;
    if (filename === null || filename === '') throw new Refused('attachment_name');
    const description = entity.header.fields.find(({ lowerName }) => lowerName === 'content-description');
    if (description !== undefined && description.value !== filename) throw new Refused('content_fields');
    if (contentId !== null && ids.has(contentId)) throw new Refused('structure');
    if (contentId !== null) ids.add(contentId);
    const isReferred = contentId !== null && (related.has(entity) || referred.has(contentId));
    const isInline = isReferred || disposition === 'inline';
    const kept = [...parameters].filter(([name]) => !name.startsWith('x-'));
    const keptId = isInline ? contentId : null;
    const written = [filename, ...kept.map(([, value]) => value)];
    if (written.some((text) => CONTROL.test(text)) || !ID_TEXT.test(keptId ?? ''))
      throw new Refused('content_fields');
    parts.push({
      filename,
      type,
      parameters: new Map(kept),
      disposition: isInline ? 'inline' : 'attachment',
      contentId: keptId,
      bytes: yield* decodeBytes(entity),
    });
  }
  return parts;
}

function isText({ type }: Entity): boolean {
  return type === 'text/plain' || type === 'text/html';
}

function* childrenOf(entity: Entity): Sliced<Entity[]> {
  if (!PLAIN_ENCODINGS.has(entity.encoding)) throw new Refused('structure');
  const split = yield* splitMultipart(entity.body, entity.parameters.get('boundary') ?? '');
  if (split === null || split.close.length === 0) throw new Refused('structure');
  if (split.parts.length > MAX_FILES) throw new Refused('too_many_parts');
  return split.parts.map(({ part }) => childOf(part));
}

function childOf(part: Buffer): Entity {
  const entity = readEntity(part);
  if (entity === null) throw new Refused('structure');
  const isLost = entity.header.fields.some(
    ({ lowerName }) => lowerName.startsWith('content-') && !PART_FIELDS.has(lowerName),
  );
  if (isLost) throw new Refused('content_fields');
  checkKind(entity);
  return entity;
}

/** Refuses kinds that are not allowed anywhere. */
function checkKind({ type }: Entity): void {
  if (SIGNED.test(type)) throw new Refused('signed');
  if (type === 'multipart/report') throw new Refused('message_part');
}

// What a stored message's header says, in the terms of such an API: addresses, subject, all other fields.

/** A header that can be rebuilt. Names of mailboxes are decoded. */
export interface MessageHeader {
  readonly from: Mailbox;
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly replyTo: readonly Mailbox[];
  /** Decoded; empty when there is none. */
  readonly subject: string;
  /** With its angle brackets; null when there is none. */
  readonly messageId: string | null;
  /** Unchanged; null if there is none. */
  readonly date: string | null;
  /**
   * All others in their order: unfolded, ASCII, encoded words unchanged. Without those that describe the message's
   * route (Received, Return-Path, Delivered-To, Received-SPF, Authentication-Results, ARC), those that a rebuild breaks
   * or writes itself (DKIM-Signature, DomainKey-Signature, MIME-Version, Content-Type and the like), a Sender equal to
   * the author, and blind copies.
   */
  readonly others: readonly HeaderField[];
}

/** More than a message may have recipients. */
const MAX_ADDRESSES = 2000;
/** An empty group (RFC 5322 §3.4), as in `undisclosed-recipients:;`. */
const EMPTY_GROUP = /^[^:;,<>@"]*:[\t ]*;$/;
/** RFC 5322 §3.6, and fields of which only the first would be read here. */
const ONCE: ReadonlySet<string> = new Set(
  `date from sender reply-to to cc message-id in-reply-to references subject mime-version`.split(' '),
);
/** Fields with a member of their own in {@link MessageHeader}. */
const READ: ReadonlySet<string> = new Set(`date from sender reply-to to cc message-id subject`.split(' '));
const LEFT_OUT: ReadonlySet<string> = new Set(
  `mime-version content-type content-transfer-encoding content-disposition content-id content-md5 content-length
  lines dkim-signature domainkey-signature received received-spf return-path delivered-to x-original-to
  authentication-results`.split(/\s+/),
);
const NOT_ASCII = /[^\0-\x7f]/;
/** Control characters but the tab. */
const UNWRITABLE = /[\0-\x08\x0a-\x1f\x7f]/;
const LEFT_OUT_PREFIX = 'arc-';
/** Fields of a single part, which a rebuilt message lacks. `Content-Language` may be a message's field as well. */
const CONTENT_PREFIX = 'content-';
const CONTENT_LANGUAGE = 'content-language';

/** Reads a header. Throws {@link Refused}. */
function readMessageHeader({ fields }: HeaderBlock): MessageHeader {
  checkFields(fields);
  const [from, ...coauthors] = addresses(fields, 'from');
  if (from === undefined || coauthors.length > 0) throw new Refused('authors');
  checkSender(fields, from);
  const to = addresses(fields, 'to');
  const cc = addresses(fields, 'cc');
  const named = [...to, ...cc].map(({ address }) => address.toLowerCase());
  if (new Set(named).size < named.length) throw new Refused('address_repeated');
  return {
    from,
    to,
    cc,
    replyTo: addresses(fields, 'reply-to'),
    subject: decoded(fieldValue(fields, 'subject') ?? ''),
    messageId: plainValue(fields, 'message-id'),
    date: plainValue(fields, 'date'),
    others: fields.filter(isOther).map(plainField),
  };
}

function checkFields(fields: readonly FieldSpan[]): void {
  const seen = new Set<string>();
  for (const { lowerName } of fields) {
    if (lowerName === MAILBOX_LINE) throw new Refused('header');
    if (lowerName.startsWith('resent-')) throw new Refused('resent');
    if (ONCE.has(lowerName) && seen.has(lowerName)) throw new Refused('header_repeated');
    const isContent = lowerName.startsWith(CONTENT_PREFIX) && lowerName !== CONTENT_LANGUAGE;
    if (isContent && !LEFT_OUT.has(lowerName)) throw new Refused('content_fields');
    seen.add(lowerName);
  }
}

function isOther(field: FieldSpan): boolean {
  const { lowerName } = field;
  if (isBlind(field) || READ.has(lowerName) || LEFT_OUT.has(lowerName)) return false;
  return !lowerName.startsWith(LEFT_OUT_PREFIX);
}

/** A field handed over unchanged: text that every API can put into a header. */
function plainField({ name, value }: FieldSpan): HeaderField {
  if (NOT_ASCII.test(value)) throw new Refused('header_eight_bit');
  if (UNWRITABLE.test(value)) throw new Refused('header');
  return [name, value];
}

function plainValue(fields: readonly FieldSpan[], wanted: string): string | null {
  const field = fields.find(({ lowerName }) => lowerName === wanted);
  return field === undefined ? null : plainField(field)[1] || null;
}

/** No API can express it. One that equals the author adds nothing. */
function checkSender(fields: readonly FieldSpan[], from: Mailbox): void {
  const [sender, ...others] = addresses(fields, 'sender');
  if (sender === undefined) return;
  if (others.length > 0 || sender.address.toLowerCase() !== from.address.toLowerCase())
    throw new Refused('sender');
}

function addresses(fields: readonly FieldSpan[], lowerName: string): Mailbox[] {
  const text = fieldValue(fields, lowerName) ?? '';
  if (EMPTY_GROUP.test(text)) return [];
  const parsed = parseAddressList(text, MAX_ADDRESSES);
  if (!parsed.ok) throw new Refused('address_form');
  return parsed.value.map((mailbox) => ({
    ...mailbox,
    name: mailbox.name === null ? null : decoded(mailbox.name),
  }));
}

function decoded(text: string): string {
  const read = decodedText(text);
  if (read === null) throw new Refused('header_words');
  return read;
}

const REFERENCE = /cid:([^"'<>()\s]{1,900})/gi;
/** Most references of one text; further ones are ignored. */
const MAX_REFERENCES = 10_000;

/** The Content-IDs that an HTML text refers to by `cid:` (RFC 2392), unescaped. */
function* referredIds(html: string): Sliced<ReadonlySet<string>> {
  const ids = new Set<string>();
  REFERENCE.lastIndex = 0;
  for (let from = 0; from < html.length; from += SLICE_BYTES) {
    if (from > 0) yield;
    // A reference that begins in this slice may end in the next.
    const text = html.slice(from, from + SLICE_BYTES + 1000);
    for (const [, id = ''] of text.matchAll(REFERENCE)) {
      if (ids.size >= MAX_REFERENCES) return ids;
      ids.add(withoutUrlEscapes(id));
    }
  }
  return ids;
}
