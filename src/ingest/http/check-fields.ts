import type { Priority } from '../../domain/message.ts';
import { checkHeader, checkHeaderTotals, checkSenderDomain, checkSubject } from '../../mail/headers.ts';
import { metadataFaults, readPriority, readSendAt, tagFault, tooMany } from '../message-rules.ts';
import { type Faults, withSetting } from './faults.ts';
import type { Fields, NamedValue } from './fields.ts';
import type { IngestLimits } from './limits.ts';

/** The rules for each field that is neither an address nor an attachment (contract §2). */

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

/** When to send, in wall ms; null for now, which a time in the past means as well. */
export function checkSendAt(sendAt: string | null, now: number, faults: Faults): number | null {
  if (sendAt === null) return null;
  const at = readSendAt(sendAt, now);
  if (!at.ok) faults.add(at, 'sendAt');
  return at.ok ? at.value : null;
}

/** The priority; normal when none was given. */
export function checkPriority(priority: string | null, faults: Faults): Priority {
  if (priority === null) return 'normal';
  const known = readPriority(priority);
  if (!known.ok) faults.add(known, 'priority');
  return known.ok ? known.value : 'normal';
}
