import type { z } from 'zod';
import type { FieldFault } from '../../http/problem.ts';
import { pointerToken } from '../../http/problem.ts';
import type { Suggester } from '../../http/suggest.ts';
import { attachmentSchema, submissionSchema } from './submission-schema.ts';
import { unknownField } from './unknown-field.ts';

/** What the schema of a submission finds wrong, in the API's words: the rule, and how the field is written. */

type Path = readonly PropertyKey[];

const FIELD_NAMES = submissionSchema.keyof().options;
const ATTACHMENT_NAMES = attachmentSchema.keyof().options;

const MAILBOX = '"Jane Doe <jane@example.com>"';

/** How each field is written; `*` is an element or a value inside it. */
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
  'tags/*': '"welcome"; a name with a value belongs into metadata',
  sendAt: '"2026-11-20T11:15:00Z"',
  metadata: '{"order": "4711"}',
  'metadata/*': '"4711", in quotes',
  priority: '"high"',
};

/**
 * Issues of the schema as faults; `above` is where the value stood in which they were found. The faults are made one by
 * one: a request may hold tens of thousands, of which only the first are told.
 */
export function* schemaFaults(
  issues: readonly z.core.$ZodIssue[],
  suggester: Suggester,
  above: Path = [],
): Generator<FieldFault, void> {
  for (const issue of issues) {
    const path = [...above, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) yield unknownAt(path, key, suggester);
    } else if (issue.code === 'invalid_union') {
      // A union's issue speaks of the branch that got furthest.
      const deeper = issue.errors.flat().filter((inner) => inner.path.length > 0);
      if (deeper.length === 0) yield typeFault(path, 'a string or an array of strings');
      yield* schemaFaults(deeper, suggester, path);
    } else yield typeOrMissing(issue, path);
  }
}

function typeOrMissing(issue: z.core.$ZodIssue, path: Path): FieldFault {
  if (issue.code !== 'invalid_type') return typeFault(path, 'of another type');
  const isMissing = issue.input === undefined || issue.input === null;
  if (!isMissing || path.length === 0) return typeFault(path, TYPES[issue.expected] ?? 'of another type');
  return { pointer: toPointer(path), code: 'required', detail: `Is required${suchAs(path)}.` };
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  boolean: 'true or false, without quotes',
};

function typeFault(path: Path, expected: string): FieldFault {
  return { pointer: toPointer(path), code: 'type', detail: `Must be ${expected}${suchAs(path)}.` };
}

function unknownAt(path: Path, name: string, suggester: Suggester): FieldFault {
  const pointer = toPointer([...path, name]);
  if (path.length === 0) return { pointer, ...unknownField(name, FIELD_NAMES, 'json', suggester) };
  return { pointer, ...unknownField(name, ATTACHMENT_NAMES, 'attachment', suggester) };
}

function suchAs(path: Path): string {
  const place = path.map((token, depth) => (depth === 1 ? '*' : String(token))).join('/');
  return Object.hasOwn(EXAMPLES, place) ? `, such as ${EXAMPLES[place]}` : '';
}

function toPointer(path: Path): string {
  return path.map((token) => `/${pointerToken(String(token))}`).join('');
}
