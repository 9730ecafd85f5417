import type { z } from 'zod';
import { pointerToken } from '../../http/problem.ts';
import { Suggester } from '../../http/suggest.ts';
import { decodeBase64 } from '../../lib/decode.ts';
import { firstFaults } from './faults.ts';
import {
  type AddressField,
  type AttachmentField,
  type FieldName,
  type Fields,
  type NamedValue,
  NO_ADDRESSES,
  type PointTo,
  type ReadFields,
} from './fields.ts';
import { schemaFaults } from './schema-faults.ts';
import { type attachmentSchema, submissionSchema } from './submission-schema.ts';
import { type Left, withoutFaulty } from './without-faulty.ts';

/**
 * The JSON submission (contract §2): which fields there are and of what type. Types and unknown names are all
 * that is decided here; what the values must be holds for every form alike and stands in `submission.ts`.
 */

const partialSchema = submissionSchema.partial();

type PartialJson = z.infer<typeof partialSchema>;

/**
 * Reads a submission from parsed JSON. What is faulty is reported and left out, so that all else can be
 * checked as well and all faults be told at once. The submissions of one request share a `suggester`.
 */
export function fieldsFromJson(body: unknown, suggester: Suggester = new Suggester()): ReadFields {
  const whole = submissionSchema.safeParse(body, { reportInput: true });
  if (whole.success) return wholeFields(whole.data);
  // An empty value of another type than the field's equals an absent one as well: PHP writes an empty map as a list.
  const filled = isObject(body) ? withoutEmpty(body) : body;
  const again = filled === body ? whole : submissionSchema.safeParse(filled, { reportInput: true });
  if (again.success) return wholeFields(again.data);
  const { issues } = again.error;
  const faulty = new Set(issues.map((issue) => String(issue.path[0] ?? '')));
  const { json, places } = isObject(filled) ? withoutFaulty(filled, FIELD_NAMES, issues) : NOTHING_LEFT;
  return {
    fields: toFields(partialSchema.parse(json)),
    // Of what is no object at all, no field is missing.
    faulty: new Set(isObject(body) ? FIELD_NAMES.filter((name) => faulty.has(name)) : FIELD_NAMES),
    faults: firstFaults(schemaFaults(issues, suggester)),
    pointTo: pointIntoJson(places),
  };
}

const NONE: ReadonlySet<FieldName> = new Set();
const NO_PLACES: Left['places'] = new Map();
const NOTHING_LEFT: Left = { json: {}, places: NO_PLACES };
const FIELD_NAMES = submissionSchema.keyof().options;

/** `places` tells where the elements of a list stood that has lost some. */
function pointIntoJson(places: Left['places']): PointTo {
  return (field, place, property) => {
    if (place === undefined) return `/${field}`;
    const token = typeof place === 'number' ? (places.get(field)?.[place] ?? place) : pointerToken(place);
    const inner = `/${field}/${token}`;
    return property === undefined ? inner : `${inner}/${property}`;
  };
}

function wholeFields(json: PartialJson): ReadFields {
  return { fields: toFields(json), faulty: NONE, faults: [], pointTo: pointIntoJson(NO_PLACES) };
}

/** A body without those of its fields that are empty, itself if none is; what is no field of ours stays, to be named. */
function withoutEmpty(body: object): object {
  const empty = new Set<string>(FIELD_NAMES.filter((name) => isEmpty(Reflect.get(body, name))));
  if (empty.size === 0) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !empty.has(name)));
}

function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Empty texts and lists equal absent ones, as `null` does (contract §2), headers and metadata too; a subject may be empty. */
function toFields(json: PartialJson): Fields {
  return {
    from: json.from || null,
    to: toAddresses(json.to),
    cc: toAddresses(json.cc),
    bcc: toAddresses(json.bcc),
    subject: json.subject ?? '',
    text: json.text || null,
    html: json.html || null,
    headers: toNamed(json.headers),
    attachments: json.attachments ? json.attachments.map(toAttachment) : [],
    tags: json.tags ?? [],
    sendAt: json.sendAt || null,
    metadata: toNamed(json.metadata),
    priority: json.priority || null,
    dryRun: json.dryRun ?? false,
    capture: false,
    dkim: null,
  };
}

function toAddresses(value: string | readonly string[] | null | undefined): AddressField {
  if (!value) return NO_ADDRESSES;
  return typeof value === 'string' ? { texts: [value], lists: true } : { texts: value, lists: false };
}

function toNamed(value: Readonly<Record<string, string | null>> | null | undefined): readonly NamedValue[] {
  if (!value) return [];
  const given: NamedValue[] = [];
  for (const [name, text] of Object.entries(value)) if (text) given.push([name, text]);
  return given;
}

function toAttachment(json: z.infer<typeof attachmentSchema>): AttachmentField {
  return {
    filename: json.filename || null,
    // At once: as text it would be kept, uncounted, until the message is made.
    content: decodeBase64(json.content) ?? { rule: base64Rule(json.content) },
    contentType: json.contentType || null,
    contentId: json.contentId || null,
    disposition: json.disposition || null,
  };
}

/** The rule for base64, with the likeliest reason why a text breaks it. */
function base64Rule(text: string): string {
  const rule = 'Must be base64 with padding and without line breaks (RFC 4648)';
  if (text.startsWith('data:')) return `${rule}: leave out what stands before and with "base64,".`;
  if (/[\r\n]/.test(text)) return `${rule}: join its lines.`;
  if (/^[A-Za-z0-9_-]+=*$/.test(text) && /[_-]/.test(text))
    return `${rule}: this is base64url, write "+" for "-" and "/" for "_".`;
  if (/^[A-Za-z0-9+/]+$/.test(text) && text.length % 4 !== 1)
    return `${rule}: end it in "${'='.repeat((4 - (text.length % 4)) % 4)}".`;
  return `${rule}: encode the file's bytes, not its text.`;
}
