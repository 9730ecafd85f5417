import { PRIORITIES, type Priority } from '../../domain/message.ts';
import { isTag } from '../../domain/tag.ts';
import { parseTimestamp } from '../../lib/timestamp.ts';
import { checkHeader, checkHeaderTotals, checkSenderDomain, checkSubject } from '../../mail/headers.ts';
import { type Faults, tooMany, withSetting } from './faults.ts';
import type { Fields, NamedValue } from './fields.ts';
import type { IngestLimits } from './limits.ts';

/** The rules for each field that is neither an address nor an attachment (contract §2). */

const TAG_RULE = 'A tag is 1 to 128 printable characters.';
/** `__proto__` would be a name like any other, were it not for the programs that read it. */
const METADATA_NAME = /^(?!__proto__$)[A-Za-z0-9_.-]{1,64}$/;
const MAX_METADATA_NAME = 64;
const MAX_METADATA_VALUE_BYTES = 4096;
const MAX_AHEAD_MS = 30 * 24 * 60 * 60 * 1000;

/** Subject and bodies. */
export function checkBody(fields: Fields, faults: Faults): void {
  const subject = checkSubject(fields.subject);
  if (subject !== null) faults.add(subject, 'subject');
  const empty = fields.text === null && fields.html === null && fields.attachments.length === 0;
  if (empty && !faults.has('text', 'html', 'attachments'))
    faults.add({ code: 'required', detail: 'At least one of text, html and attachments is needed.' }, 'text');
}

/** Custom header fields, each by itself and all together. `fromDomain` is null when From is faulty. */
export function checkHeaders(
  headers: readonly NamedValue[],
  fromDomain: string | null,
  limits: Pick<IngestLimits, 'maxHeaders' | 'maxHeaderBytes'>,
  faults: Faults,
): void {
  if (headers.length === 0) return;
  const totals = checkHeaderTotals(headers, limits);
  if (totals !== null) faults.add(withSetting(totals), 'headers');
  // The totals bound the work: what is over them is not looked at one by one.
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
    for (const [place, tag] of tags.entries())
      if (!isTag(tag)) faults.add({ code: 'tag', detail: TAG_RULE }, 'tags', place);
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
  for (const [name, value] of metadata) {
    if (!METADATA_NAME.test(name))
      faults.add({ code: 'metadata_name', detail: metadataNameRule(name) }, 'metadata', name);
    const bytes = Buffer.byteLength(value);
    if (bytes > MAX_METADATA_VALUE_BYTES) {
      const detail = `A value has at most ${MAX_METADATA_VALUE_BYTES} bytes; this one has ${bytes}. Keep it elsewhere, and its key here.`;
      faults.add({ code: 'too_long', detail }, 'metadata', name);
    }
  }
  return Object.fromEntries(metadata);
}

/** The rule for a metadata name, with the nearest name that keeps it. */
function metadataNameRule(name: string): string {
  const mended = name.slice(0, MAX_METADATA_NAME).replace(/[^A-Za-z0-9_.-]+/g, '_');
  const instead = METADATA_NAME.test(mended) ? `, such as "${mended}"` : '';
  return `A name is 1 to ${MAX_METADATA_NAME} characters of A-Z a-z 0-9 _ . -${instead}, and not "__proto__".`;
}

/** When to send, in wall ms; null for now, which a time in the past means as well. */
export function checkSendAt(sendAt: string | null, now: number, faults: Faults): number | null {
  if (sendAt === null) return null;
  const at = parseTimestamp(sendAt);
  if (at === null)
    faults.add(
      { code: 'timestamp', detail: 'Must be a date, a time and its zone, such as 2026-11-20T11:15:00Z.' },
      'sendAt',
    );
  else if (at > now + MAX_AHEAD_MS)
    faults.add(
      { code: 'too_far_ahead', detail: 'Must be at most 30 days ahead; send it nearer to its time.' },
      'sendAt',
    );
  return at !== null && at > now ? at : null;
}

/** The priority; normal when none was given. */
export function checkPriority(priority: string | null, faults: Faults): Priority {
  const known = PRIORITIES.find((one) => one === priority);
  if (known === undefined && priority !== null)
    faults.add({ code: 'priority', detail: 'Must be "high", "normal" or "bulk".' }, 'priority');
  return known ?? 'normal';
}
