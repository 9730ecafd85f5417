import type { Parsed } from '../../domain/address-entry.ts';
import {
  addressKey,
  formatMailbox,
  listTooLong,
  type Mailbox,
  maxListLength,
  parseAddressList,
  parseMailbox,
} from '../../domain/mailbox.ts';
import type { Priority, Recipient, RecipientKind } from '../../domain/message.ts';
import { streamKey } from '../../domain/suppression.ts';
import { withDecodedName } from '../../mail/field-values.ts';
import { BOX_FIELD } from '../../mail/finished.ts';
import {
  checkHeader,
  checkHeaderTotals,
  checkSenderDomain,
  checkSubject,
  findHeader,
} from '../../mail/headers.ts';
import {
  boxFault,
  ignoresSuppression,
  metadataFaults,
  readPriority,
  readSendAt,
  STREAM_RULE,
  SUPPRESSION_RULE,
  TWO_BOXES,
  TWO_STREAMS,
  tagFault,
  tooMany,
} from '../message-rules.ts';
import { labelFault } from '../unsubscribing.ts';
import type { Fields, NamedValue } from './fields.ts';
import { type Faults, withSetting } from './fields.ts';
import type { IngestLimits } from './options.ts';

/** Sender and recipients: as the header names them, and as the envelope carries them. */
export interface Addresses {
  /** Null only when a fault was reported. */
  readonly from: Mailbox | null;
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly bcc: readonly Mailbox[];
  /** Each address once, in the order of first mention. */
  readonly recipients: readonly Recipient[];
}

const FROM_REQUIRED = 'Is required, such as "Jane Doe <jane@example.com>".';
const AROUND = /^[ \t]|[ \t]$/;
const IN_BRACKETS = /<[ \t][^<]*>$|[ \t]>$/;
const KINDS: readonly RecipientKind[] = ['to', 'cc', 'bcc'];

/** Parses every address of a submission; each is parsed only here, once. */
export function checkAddresses(fields: Fields, maxRecipients: number, faults: Faults): Addresses {
  const from = checkFrom(fields.from, faults);
  const [to = [], cc = [], bcc = []] = KINDS.map((kind) => checkList(fields, kind, maxRecipients, faults));
  const recipients = envelopeOf({ to, cc, bcc });
  if (recipients.length > maxRecipients) faults.add(tooManyRecipients(maxRecipients), 'to');
  if (recipients.length === 0 && !faults.has(...KINDS))
    faults.add({ code: 'required', detail: 'At least one recipient is needed, in to, cc or bcc.' }, 'to');
  return { from, to, cc, bcc, recipients };
}

function checkFrom(text: string | null, faults: Faults): Mailbox | null {
  if (text === null) {
    if (!faults.has('from')) faults.add({ code: 'required', detail: FROM_REQUIRED }, 'from');
    return null;
  }
  const parsed = parseOne(text);
  if (parsed.ok) return withDecodedName(parsed.value);
  faults.add(parsed, 'from');
  return null;
}

/** One mailbox. Unlike in a list, blanks around it are a mistake, and are reported. */
function parseOne(text: string): Parsed<Mailbox> {
  const parsed = parseMailbox(text);
  if (!parsed.ok || !(AROUND.test(text) || IN_BRACKETS.test(text))) return parsed;
  const detail = `There are blanks before or after the address; remove them: ${formatMailbox(parsed.value)}`;
  return { ok: false, code: 'address_syntax', detail };
}

/** Reads at most `maxRecipients` mailboxes of a field, repeats included, and one more to notice the excess. */
function checkList(fields: Fields, kind: RecipientKind, maxRecipients: number, faults: Faults): Mailbox[] {
  const { texts, lists } = fields[kind];
  const mailboxes: Mailbox[] = [];
  if (texts.length > maxRecipients) {
    faults.add(tooManyRecipients(maxRecipients), kind);
    return mailboxes;
  }
  const maxLength = maxListLength(maxRecipients);
  if (!lists && texts.reduce((sum, text) => sum + text.length, 0) > maxLength) {
    faults.add(listTooLong(maxLength), kind);
    return mailboxes;
  }
  for (const [place, text] of texts.entries()) {
    const parsed = lists ? parseAddressList(text, maxRecipients - mailboxes.length) : parseOne(text);
    if (!parsed.ok && lists && parsed.code === 'address_count') {
      faults.add(tooManyRecipients(maxRecipients), kind);
      return mailboxes;
    }
    if (!parsed.ok) faults.add(parsed, kind, lists && texts.length === 1 ? undefined : place);
    else if (Array.isArray(parsed.value))
      for (const mailbox of parsed.value) mailboxes.push(withDecodedName(mailbox));
    else mailboxes.push(withDecodedName(parsed.value));
  }
  return mailboxes;
}

/** The first mention of an address decides how it counts: To before Cc before Bcc. */
function envelopeOf(lists: Readonly<Record<RecipientKind, readonly Mailbox[]>>): Recipient[] {
  const recipients = new Map<string, Recipient>();
  for (const kind of KINDS)
    for (const { address } of lists[kind]) {
      const key = addressKey(address);
      if (!recipients.has(key)) recipients.set(key, { address, kind, notify: null, orcpt: null });
    }
  return [...recipients.values()];
}

function tooManyRecipients(maxRecipients: number) {
  const detail = `There may be at most ${maxRecipients} recipients. Send to the others in another message, or ask the operator to raise api.max_recipients.`;
  return { code: 'too_many_recipients', detail };
}

// The rules for each field that is neither an address nor an attachment (contract §2).

/** Subject and bodies. */
export function checkBody(fields: Fields, faults: Faults): void {
  const subject = checkSubject(fields.subject);
  if (subject !== null) faults.add(subject, 'subject');
  const empty = fields.text === null && fields.html === null && fields.attachments.length === 0;
  if (empty && !faults.has('text', 'html', 'attachments'))
    faults.add({ code: 'required', detail: 'At least one of text, html and attachments is needed.' }, 'text');
}

/** Checks custom header fields, each by itself and all together. `fromDomain` is null when From is faulty. */
export function checkHeaders(
  headers: readonly NamedValue[],
  fromDomain: string | null,
  limits: Pick<IngestLimits, 'maxHeaders' | 'maxHeaderBytes'>,
  faults: Faults,
): void {
  if (headers.length === 0) return;
  const totals = checkHeaderTotals(headers, limits);
  if (totals !== null) faults.add(withSetting(totals), 'headers');
  // The totals bound the work: beyond them, fields are not checked one by one.
  if (totals !== null) return;
  for (const [name, value] of headers) {
    const fault = checkHeader(name, value);
    if (fault !== null) faults.add(fault, 'headers', name);
  }
  const sender = fromDomain === null ? null : checkSenderDomain(headers, fromDomain);
  if (sender !== null) faults.add(sender, 'headers', 'Sender');
}

/** Tags, each once. */
export function checkTags(tags: readonly string[], maxTags: number, faults: Faults): readonly string[] {
  if (tags.length === 0) return tags;
  if (tags.length > maxTags) faults.add(tooMany(tags.length, 'tags', maxTags, 'api.max_tags'), 'tags');
  else
    for (const [place, tag] of tags.entries()) {
      const fault = tagFault(tag);
      if (fault !== null) faults.add(fault, 'tags', place);
    }
  return [...new Set(tags)];
}

/** The client's own names and values. */
export function checkMetadata(
  metadata: readonly NamedValue[],
  maxMetadata: number,
  faults: Faults,
): Readonly<Record<string, string>> {
  if (metadata.length > maxMetadata) {
    const given = metadata.length;
    faults.add(tooMany(given, 'entries of metadata', maxMetadata, 'api.max_metadata'), 'metadata');
    return {};
  }
  for (const [name, value] of metadata)
    for (const fault of metadataFaults(name, value)) faults.add(fault, 'metadata', name);
  return Object.fromEntries(metadata);
}

/** When to send, in wall ms; null for now, which a past time means as well. */
export function checkSendAt(sendAt: string | null, now: number, faults: Faults): number | null {
  if (sendAt === null) return null;
  const at = readSendAt(sendAt, now);
  if (!at.ok) faults.add(at, 'sendAt');
  return at.ok ? at.value : null;
}

/** The stream of the message by its fields; and the one, as written, from which recipients can unsubscribe. */
export function checkStream(
  { stream: asked, unsubscribe }: Pick<Fields, 'stream' | 'unsubscribe'>,
  faults: Faults,
): { readonly stream: string | null; readonly unsubscribe: string | null } {
  const stream = asked === null ? null : streamKey(asked);
  if (asked !== null && stream === null) faults.add(STREAM_RULE, 'stream');
  if (unsubscribe === null || faults.has('unsubscribe')) return { stream, unsubscribe: null };
  const label = labelFault(unsubscribe);
  if (label !== null) faults.add(label, 'unsubscribe');
  else if (stream !== null && stream !== streamKey(unsubscribe)) faults.add(TWO_STREAMS, 'stream');
  return { stream: streamKey(unsubscribe), unsubscribe };
}

/** Whether only complaints stop the message. */
export function checkSuppression({ suppression }: Pick<Fields, 'suppression'>, faults: Faults): boolean {
  const ignores = ignoresSuppression(suppression);
  if (ignores === null) faults.add(SUPPRESSION_RULE, 'suppression');
  return ignores ?? false;
}

/** The fields, with the box that a header names as the field `box`: the header is never sent. */
export function withBox(fields: Fields, faults: Faults): Fields {
  const named = findHeader(fields.headers, BOX_FIELD);
  if (named === null) return fields;
  const headers = fields.headers.filter(([name]) => name.toLowerCase() !== BOX_FIELD);
  if (fields.box !== null && fields.box !== named) faults.add(TWO_BOXES, 'box');
  return { ...fields, headers, box: named };
}

/** The box; null for none. */
export function checkBox({ box }: Pick<Fields, 'box'>, faults: Faults): string | null {
  const fault = box === null ? null : boxFault(box);
  if (fault !== null) faults.add(fault, 'box');
  return box;
}

/** The priority; normal when none was given. */
export function checkPriority(priority: string | null, faults: Faults): Priority {
  if (priority === null) return 'normal';
  const known = readPriority(priority);
  if (!known.ok) faults.add(known, 'priority');
  return known.ok ? known.value : 'normal';
}
