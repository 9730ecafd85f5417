import type { Parsed } from '../domain/address-entry.ts';
import { BOX_RULE, isBox } from '../domain/box.ts';
import { isTag, PRIORITIES, type Priority, type TlsDemand } from '../domain/message.ts';
import { streamKey } from '../domain/suppression.ts';
import { parseTimestamp } from '../lib/clock.ts';
import { listIdOf } from '../mail/field-values.ts';
import type { FieldSpan } from '../mail/header-block.ts';
import type { Fault } from '../mail/headers.ts';

/** Rules for what a client may ask for besides its message (contract §2), over HTTP and SMTP alike. */

/** `__proto__` is excluded for the sake of programs that read it. */
const METADATA_NAME = /^(?!__proto__$)[A-Za-z0-9_.-]{1,64}$/;
const MAX_METADATA_NAME = 64;
const MAX_METADATA_VALUE_BYTES = 4096;
const MAX_AHEAD_MS = 30 * 24 * 60 * 60 * 1000;
const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,254}[\x21-\x7e])?$/;

/** The fault of a tag; null if it is valid. */
export function tagFault(tag: string): Fault | null {
  return isTag(tag) ? null : { code: 'tag', detail: 'A tag is 1 to 128 printable characters.' };
}

/** All faults of a metadata name and its value. */
export function metadataFaults(name: string, value: string): readonly Fault[] {
  const faults: Fault[] = [];
  if (!METADATA_NAME.test(name)) faults.push({ code: 'metadata_name', detail: metadataNameRule(name) });
  const bytes = Buffer.byteLength(value);
  if (bytes > MAX_METADATA_VALUE_BYTES) {
    const detail = `A value may have at most ${MAX_METADATA_VALUE_BYTES} bytes; this one has ${bytes}. Store it elsewhere, and put its key here.`;
    faults.push({ code: 'too_long', detail });
  }
  return faults;
}

/** The rule for a metadata name, with the nearest valid name. */
function metadataNameRule(name: string): string {
  const mended = name.slice(0, MAX_METADATA_NAME).replace(/[^A-Za-z0-9_.-]+/g, '_');
  const instead = METADATA_NAME.test(mended) ? `, such as "${mended}"` : '';
  return `A name is 1 to ${MAX_METADATA_NAME} characters of A-Z a-z 0-9 _ . -${instead}, and not "__proto__".`;
}

/** When to send, in wall ms; null for now, which a past time means as well. */
export function readSendAt(text: string, now: number): Parsed<number | null> {
  const at = parseTimestamp(text);
  if (at === null) {
    const detail = 'Must be a date, a time and its zone, such as 2026-11-20T11:15:00Z.';
    return { ok: false, code: 'timestamp', detail };
  }
  if (at > now + MAX_AHEAD_MS) {
    const detail = 'Must be at most 30 days ahead; send it nearer to its time.';
    return { ok: false, code: 'too_far_ahead', detail };
  }
  return { ok: true, value: at > now ? at : null };
}

/** Parses a priority. */
export function readPriority(text: string): Parsed<Priority> {
  const value = PRIORITIES.find((one) => one === text);
  return value === undefined
    ? { ok: false, code: 'priority', detail: 'Must be "high", "normal" or "bulk".' }
    : { ok: true, value };
}

/** The fault of a stream that `streamKey` cannot read. */
export const STREAM_RULE: Fault = {
  code: 'stream',
  detail: 'A stream is 1 to 255 printable characters, such as "news".',
};
/** The fault of a stream that is not the one to unsubscribe from. */
export const TWO_STREAMS: Fault = {
  code: 'stream',
  detail: 'A message has one stream; leave this out, or give the one of unsubscribe.',
};

/** The value that lets a message pass the suppression list. */
const IGNORE = 'ignore';
/** The only value of `suppression`. */
export const SUPPRESSION_VALUES = [IGNORE] as const;
/** The fault of any other. */
export const SUPPRESSION_RULE: Fault = {
  code: 'suppression',
  detail: 'Must be "ignore", or be left out.',
};
/** The refusal of a client that may not ask for it. */
export const SUPPRESSION_SCOPE =
  'To ignore the suppression list, the key needs the scope suppressions:write; leave suppression out, or use another key.';

/** Whether a value of `suppression` says to ignore the list; null for a value that says nothing. */
export function ignoresSuppression(text: string | null): boolean | null {
  if (text === null) return false;
  return text === IGNORE ? true : null;
}

/** The stream of a message: the one that was asked for, else its list by the List-ID field, else none. */
export function streamOf(asked: string | null, listId: string | null | undefined): string | null {
  return asked ?? (listId ? streamKey(listIdOf(listId)) : null);
}

const TLS_REQUIRED = 'tls-required';
/** The only value of that field. */
const NO = /^\s*no\s*$/i;

/**
 * What a message demands of the way, as a part of its submission. REQUIRETLS outranks the header field TLS-Required (RFC
 * 8689 §4.1). A field that is given twice, or says anything but `No`, says nothing.
 */
export function tlsDemandOf(
  requireTls: boolean,
  fields: readonly Pick<FieldSpan, 'lowerName' | 'value'>[],
): { readonly tls?: TlsDemand } {
  if (requireTls) return { tls: 'required' };
  const [field, another] = fields.filter(({ lowerName }) => lowerName === TLS_REQUIRED);
  return field !== undefined && another === undefined && NO.test(field.value) ? { tls: 'optional' } : {};
}

/** The fault of a box's name; null if it is valid. */
export function boxFault(box: string): Fault | null {
  return isBox(box) ? null : { code: 'box', detail: `Must be ${BOX_RULE}, such as "worker-1".` };
}

/** The fault of a message whose header names another box than its options. */
export const TWO_BOXES: Fault = {
  code: 'box',
  detail: 'A message has one box, and its header X-Waybill-Box names another; leave one of them out.',
};

/** The fault of an `Idempotency-Key`; null if it is valid. */
export function idempotencyKeyFault(key: string): Fault | null {
  if (IDEMPOTENCY_KEY.test(key)) return null;
  const detail =
    'Must be 1 to 256 printable ASCII characters, without leading or trailing blanks, such as a UUID.';
  return { code: 'idempotency_key', detail };
}

/** The fault of a list longer than the limit in `setting`. */
export function tooMany(given: number, things: string, max: number, setting: string): Fault {
  const detail = `There are ${given} ${things}; at most ${max} are accepted. Remove some, or ask the operator to raise ${setting}.`;
  return { code: 'too_many', detail };
}
