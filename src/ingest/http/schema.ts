import type { z } from 'zod';
import { type FieldFault, pointerToken, quote } from '../../http/problem.ts';
import { Suggester } from '../../http/suggest.ts';
import { decodeBase64 } from '../../lib/decode.ts';
import {
  type AddressField,
  type AttachmentField,
  type FieldName,
  type Fields,
  firstFaults,
  type NamedValue,
  NO_ADDRESSES,
  type PointTo,
  type ReadFields,
} from './fields.ts';
import { attachmentSchema, submissionSchema } from './submission-schema.ts';
import { unknownField } from './unknown-field.ts';

/**
 * The JSON submission (contract §2): its fields and their types. Only types and unknown names are checked here; the
 * rules for values hold for every media type and are in `submission.ts`.
 */

const partialSchema = submissionSchema.partial();

type PartialJson = z.infer<typeof partialSchema>;

/**
 * Reads a submission from parsed JSON. Faulty fields are reported and left out, so that the rest is checked too and all
 * faults are reported at once. The submissions of one request share a `suggester`.
 */
export function fieldsFromJson(body: unknown, suggester: Suggester = new Suggester()): ReadFields {
  const whole = submissionSchema.safeParse(body, { reportInput: true });
  if (whole.success) return wholeFields(whole.data);
  // An empty value of the wrong type is treated as absent too: PHP writes an empty map as a list.
  const filled = isObject(body) ? withoutEmpty(body) : body;
  const again = filled === body ? whole : submissionSchema.safeParse(filled, { reportInput: true });
  if (again.success) return wholeFields(again.data);
  const { issues } = again.error;
  const faulty = new Set(issues.map((issue) => String(issue.path[0] ?? '')));
  const { json, places } = isObject(filled) ? withoutFaulty(filled, FIELD_NAMES, issues) : NOTHING_LEFT;
  return {
    fields: toFields(partialSchema.parse(json)),
    // A body that is not an object lacks no fields.
    faulty: new Set(isObject(body) ? FIELD_NAMES.filter((name) => faulty.has(name)) : FIELD_NAMES),
    faults: firstFaults(schemaFaults(issues, suggester)),
    pointTo: pointIntoJson(places),
  };
}

const NONE: ReadonlySet<FieldName> = new Set();
const NO_PLACES: Left['places'] = new Map();
const NOTHING_LEFT: Left = { json: {}, places: NO_PLACES };
const FIELD_NAMES = submissionSchema.keyof().options;

/** `places` has the original indices of a list's remaining elements. */
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

/** A body without its empty fields, or the body itself if none is empty; unknown fields stay, to be named in faults. */
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

/** Empty texts, lists, headers and metadata count as absent, like `null` (contract §2); a subject may be empty. */
function toFields(json: PartialJson): Fields {
  return {
    from: json.from || null,
    to: toAddresses(json.to),
    cc: toAddresses(json.cc),
    bcc: toAddresses(json.bcc),
    subject: json.subject ?? '',
    text: json.text || null,
    html: json.html || null,
    template: json.template || null,
    variables: json.variables ?? null,
    headers: toNamed(json.headers),
    attachments: json.attachments ? json.attachments.map(toAttachment) : [],
    tags: json.tags ?? [],
    sendAt: json.sendAt || null,
    metadata: toNamed(json.metadata),
    priority: json.priority || null,
    stream: json.stream || null,
    suppression: json.suppression || null,
    // An empty stream is a fault: without one, mail would go out that nobody can unsubscribe from.
    unsubscribe: json.unsubscribe ? (json.unsubscribe.stream ?? '') : null,
    box: json.box || null,
    requireTls: json.requireTls ?? false,
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
    // Decoded at once: the text would stay in memory, uncounted, until the message is composed.
    content: decodeBase64(json.content) ?? { rule: base64Rule(json.content) },
    contentType: json.contentType || null,
    contentId: json.contentId || null,
    disposition: json.disposition || null,
  };
}

/** The rule for base64, with the likeliest reason why a text breaks it. */
export function base64Rule(text: string): string {
  const rule = 'Must be base64 with padding and without line breaks (RFC 4648)';
  if (text.startsWith('data:')) return `${rule}: remove everything up to and including "base64,".`;
  if (/[\r\n]/.test(text)) return `${rule}: join its lines.`;
  if (/^[A-Za-z0-9_-]+=*$/.test(text) && /[_-]/.test(text))
    return `${rule}: this is base64url, write "+" for "-" and "/" for "_".`;
  if (/^[A-Za-z0-9+/]+$/.test(text) && text.length % 4 !== 1)
    return `${rule}: end it in "${'='.repeat((4 - (text.length % 4)) % 4)}".`;
  return `${rule}: encode the file's bytes, not its text.`;
}

// What can still be checked of a JSON submission with schema faults: a list's valid elements, an attachment's other
// properties. So all faults are reported at once (contract §5).

type Path = readonly PropertyKey[];

/** The checkable rest of a body. */
interface Left {
  /** By field, in the right shape. */
  readonly json: Readonly<Record<string, unknown>>;
  /** For lists that lost elements: the original index of each remaining one. */
  readonly places: ReadonlyMap<string, readonly number[]>;
}

/** Removes everything that `issues` are about, and everything outside `fields`. */
function withoutFaulty(body: object, fields: readonly string[], issues: readonly z.core.$ZodIssue[]): Left {
  const paths = issues.flatMap((issue) => faultyPaths(issue));
  const json: Record<string, unknown> = {};
  const places = new Map<string, readonly number[]>();
  for (const field of fields) {
    const inside = below(paths, field);
    if (!Object.hasOwn(body, field) || isFaulty(inside)) continue;
    const value: unknown = Reflect.get(body, field);
    if (inside.length === 0) json[field] = value;
    else if (Array.isArray(value)) {
      const kept = goodElements(value, inside);
      json[field] = kept.map(({ element }) => element);
      places.set(
        field,
        kept.map(({ place }) => place),
      );
    } else json[field] = goodProperties(value, inside);
  }
  return { json, places };
}

/** Where the faults of an issue are. */
function faultyPaths(issue: z.core.$ZodIssue, above: Path = []): Path[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => [...path, key]);
  if (issue.code !== 'invalid_union') return [path];
  // As in `schemaFaults`: faults inside are reported where they are; without any, the whole is.
  const deeper = issue.errors.flat().filter((inner) => inner.path.length > 0);
  return deeper.length > 0 ? deeper.flatMap((inner) => faultyPaths(inner, path)) : [path];
}

function below(paths: readonly Path[], name: PropertyKey): Path[] {
  return paths.filter(([first]) => first === name).map((path) => path.slice(1));
}

/** Whether one of the paths ends here. */
function isFaulty(paths: readonly Path[]): boolean {
  return paths.some((path) => path.length === 0);
}

function goodElements(list: readonly unknown[], paths: readonly Path[]) {
  // Grouped once for all elements: a list may have as many elements as there are faults.
  const byPlace = Map.groupBy(paths, ([place]) => place);
  return list.flatMap((element, place) => {
    const inside = (byPlace.get(place) ?? []).map((path) => path.slice(1));
    if (isFaulty(inside)) return [];
    return [{ place, element: inside.length === 0 ? element : goodProperties(element, inside) }];
  });
}

/** Properties that an attachment, or `unsubscribe`, must have. */
const REQUIRED_INSIDE = ['content', 'stream'];

/** An object without its faulty properties. A faulty one that is required becomes empty. */
function goodProperties(value: unknown, paths: readonly Path[]): unknown {
  const faulty = new Set(paths.map(([name]) => String(name)));
  const good = Object.entries(Object(value)).filter(([name]) => !faulty.has(name));
  return Object.fromEntries([
    ...good,
    ...REQUIRED_INSIDE.filter((name) => faulty.has(name)).map((name) => [name, '']),
  ]);
}

// The schema's issues of a submission, in the API's terms: the rule, and how the field is written.

type IssuePath = readonly PropertyKey[];

const KNOWN_FIELDS = submissionSchema.keyof().options;
const ATTACHMENT_NAMES = attachmentSchema.keyof().options;

const MAILBOX = '"Jane Doe <jane@example.com>"';

/** An example of each field; `*` is an element or a value inside it. */
const EXAMPLES: Readonly<Record<string, string>> = {
  '': '{"from": "jane@example.com", "to": ["bob@example.org"], "subject": "Hello", "text": "Hi."}',
  from: MAILBOX,
  to: `[${MAILBOX}]`,
  'to/*': MAILBOX,
  cc: `[${MAILBOX}]`,
  'cc/*': MAILBOX,
  bcc: `[${MAILBOX}]`,
  'bcc/*': MAILBOX,
  subject: '"Hello"',
  text: '"Hi."',
  html: '"<p>Hi.</p>"',
  template: '"welcome"',
  variables: '{"name": "Ann"}',
  headers: '{"X-Campaign": "spring"}',
  'headers/*': '"spring"',
  attachments: '[{"filename": "report.pdf", "content": "JVBERi0="}]',
  'attachments/*': '{"filename": "report.pdf", "content": "JVBERi0="}',
  'attachments/*/filename': '"report.pdf"',
  'attachments/*/content': '"JVBERi0=", the file as base64',
  'attachments/*/contentType': '"application/pdf"',
  'attachments/*/contentId': '"logo" for cid:logo',
  'attachments/*/disposition': '"inline"',
  tags: '["welcome"]',
  'tags/*': '"welcome"; put a name with a value into metadata',
  sendAt: '"2026-11-20T11:15:00Z"',
  metadata: '{"order": "4711"}',
  'metadata/*': '"4711", in quotes',
  priority: '"high"',
  stream: '"news"',
  suppression: '"ignore"',
  unsubscribe: '{"stream": "news"}',
  'unsubscribe/*': '"news"',
  box: '"worker-1"',
};

/**
 * The schema's issues as faults; `above` is the path of the checked value. Generates one fault at a time: a request may
 * hold tens of thousands, and only the first are reported.
 */
function* schemaFaults(
  issues: readonly z.core.$ZodIssue[],
  suggester: Suggester,
  above: IssuePath = [],
): Generator<FieldFault, void> {
  for (const issue of issues) {
    const path = [...above, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) yield unknownAt(path, key, suggester);
    } else if (issue.code === 'invalid_union') {
      // A union's issue reports the branch that got furthest.
      const deeper = issue.errors.flat().filter((inner) => inner.path.length > 0);
      if (deeper.length === 0) yield typeFault(path, 'a string or an array of strings');
      yield* schemaFaults(deeper, suggester, path);
    } else yield typeOrMissing(issue, path);
  }
}

function typeOrMissing(issue: z.core.$ZodIssue, path: IssuePath): FieldFault {
  if (issue.code !== 'invalid_type') return typeFault(path, 'of the wrong type');
  const isMissing = issue.input === undefined || issue.input === null;
  if (!isMissing || path.length === 0) return typeFault(path, TYPES[issue.expected] ?? 'of the wrong type');
  return { pointer: toPointer(path), code: 'required', detail: `Is required${suchAs(path)}.` };
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  boolean: 'true or false, without quotes',
};

function typeFault(path: IssuePath, expected: string): FieldFault {
  return { pointer: toPointer(path), code: 'type', detail: `Must be ${expected}${suchAs(path)}.` };
}

function unknownAt(path: IssuePath, name: string, suggester: Suggester): FieldFault {
  const pointer = toPointer([...path, name]);
  if (path.length === 0) return { pointer, ...unknownField(name, KNOWN_FIELDS, 'json', suggester) };
  if (path[0] === 'unsubscribe')
    return { pointer, code: 'unknown_field', detail: `There is no field ${quote(name)}. Use "stream".` };
  return { pointer, ...unknownField(name, ATTACHMENT_NAMES, 'attachment', suggester) };
}

function suchAs(path: IssuePath): string {
  const place = path.map((token, depth) => (depth === 1 ? '*' : String(token))).join('/');
  return Object.hasOwn(EXAMPLES, place) ? `, such as ${EXAMPLES[place]}` : '';
}

function toPointer(path: IssuePath): string {
  return path.map((token) => `/${pointerToken(String(token))}`).join('');
}
