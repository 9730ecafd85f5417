import type { Priority } from '../../domain/message.ts';
import { parseTimestamp } from '../../lib/timestamp.ts';
import { checkHeader, checkHeaderTotals, checkSenderDomain, checkSubject } from '../../mail/headers.ts';
import type { Faults } from './faults.ts';
import type { Fields, NamedValue } from './fields.ts';

/** The rules for each field that is neither an address nor an attachment (contract §2). */

const HEADER_LIMITS = { maxHeaders: 50, maxHeaderBytes: 64 * 1024 };
const MAX_TAGS = 10;
/** 1 to 128 characters, none of them a control, a line end or half a surrogate pair. */
const TAG = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,128}$/u;
const MAX_METADATA = 20;
/** `__proto__` would be a name like any other, were it not for the programs that read it. */
const METADATA_NAME = /^(?!__proto__$)[A-Za-z0-9_.-]{1,64}$/;
const MAX_METADATA_VALUE_BYTES = 4096;
const MAX_AHEAD_MS = 30 * 24 * 60 * 60 * 1000;
const PRIORITIES: readonly Priority[] = ['high', 'normal', 'bulk'];
const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,254}[\x21-\x7e])?$/;

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
  faults: Faults,
): void {
  if (headers.length === 0) return;
  const totals = checkHeaderTotals(headers, HEADER_LIMITS);
  if (totals !== null) faults.add(totals, 'headers');
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
export function checkTags(tags: readonly string[], faults: Faults): readonly string[] {
  if (tags.length === 0) return tags;
  if (tags.length > MAX_TAGS) faults.add({ code: 'too_many', detail: `At most ${MAX_TAGS} tags.` }, 'tags');
  else
    for (const [place, tag] of tags.entries())
      if (!TAG.test(tag))
        faults.add({ code: 'tag', detail: 'A tag is 1 to 128 printable characters.' }, 'tags', place);
  return [...new Set(tags)];
}

/** The client's own names and values. */
export function checkMetadata(
  metadata: readonly NamedValue[],
  faults: Faults,
): Readonly<Record<string, string>> {
  if (metadata.length > MAX_METADATA) {
    faults.add({ code: 'too_many', detail: `At most ${MAX_METADATA} entries.` }, 'metadata');
    return {};
  }
  for (const [name, value] of metadata) {
    if (!METADATA_NAME.test(name))
      faults.add(
        { code: 'metadata_name', detail: 'A name is 1 to 64 of A-Z a-z 0-9 _ . - .' },
        'metadata',
        name,
      );
    if (Buffer.byteLength(value) > MAX_METADATA_VALUE_BYTES)
      faults.add(
        { code: 'too_long', detail: `A value has at most ${MAX_METADATA_VALUE_BYTES} bytes.` },
        'metadata',
        name,
      );
  }
  return Object.fromEntries(metadata);
}

/** When to send, in wall ms; null for now, which a time in the past means as well. */
export function checkSendAt(sendAt: string | null, now: number, faults: Faults): number | null {
  if (sendAt === null) return null;
  const at = parseTimestamp(sendAt);
  if (at === null)
    faults.add({ code: 'timestamp', detail: 'Must be a time as in 2026-11-20T11:15:00Z.' }, 'sendAt');
  else if (at > now + MAX_AHEAD_MS)
    faults.add({ code: 'too_far_ahead', detail: 'Must be at most 30 days ahead.' }, 'sendAt');
  return at !== null && at > now ? at : null;
}

/** The priority; normal when none was given. */
export function checkPriority(priority: string | null, faults: Faults): Priority {
  const known = PRIORITIES.find((one) => one === priority);
  if (known === undefined && priority !== null)
    faults.add({ code: 'priority', detail: 'Must be high, normal or bulk.' }, 'priority');
  return known ?? 'normal';
}

/** Not built yet, so it is refused: taken silently, it would send what was meant to be tried. */
export function checkDryRun(dryRun: boolean, faults: Faults): void {
  if (dryRun) faults.add({ code: 'not_supported', detail: 'A dry run is not supported yet.' }, 'dryRun');
}

/** The request's header `Idempotency-Key`; told with the faults of the body. */
export function checkIdempotencyKey(key: string | null, faults: Faults): void {
  if (key === null || IDEMPOTENCY_KEY.test(key)) return;
  const detail = 'Must be 1 to 256 printable ASCII characters.';
  faults.addHeader('Idempotency-Key', { code: 'idempotency_key', detail });
}
