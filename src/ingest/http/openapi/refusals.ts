import { titleOf } from '../../../http/problem.ts';
import { type Json, schemaRef } from './json-schema.ts';
import {
  EVERY_ANSWER,
  type Operation,
  type ProblemsByStatus,
  RATE_HEADERS,
  REFUSAL_HEADERS,
} from './operation.ts';
import type { ProblemRow } from './problem-codes.ts';
import { PROBLEMS, type ProblemCode } from './problem-codes.ts';

/** Which refusals a request may get, and how they are described. */

/** Refusals of requests that could not be read: decided before anything is looked for. */
// biome-ignore format: a table
export const UNREADABLE: ProblemsByStatus = {
  400: ['malformed_request', 'host_missing', 'host_malformed', 'header_repeated', 'tls_on_plain_port', 'plain_on_tls_port'],
  408: ['request_timeout'],
  414: ['target_too_long'],
  417: ['expectation_failed'],
  431: ['header_too_large', 'too_many_headers'],
  501: ['unsupported_method'],
  503: ['too_many_connections'],
  505: ['unsupported_http_version'],
};

/** Whatever is asked for. */
const EVERY_REQUEST: ProblemsByStatus = { 403: ['source_not_allowed'], 500: ['internal_error'] };

/** With a key. */
const WITH_KEY: ProblemsByStatus = {
  400: ['invalid_query'],
  401: ['unauthorized'],
  403: ['key_source_not_allowed', 'scope_missing'],
  429: ['rate_limited'],
  503: ['disk_full', 'store_unavailable'],
};

/** Where the scope `admin` is enough. */
const ADMINISTERING: ProblemsByStatus = { 409: ['test_key'] };

/** With a body. */
const WITH_BODY: ProblemsByStatus = {
  408: ['body_too_slow'],
  413: ['content_too_large'],
  415: ['unsupported_content_encoding'],
  501: ['unsupported_transfer_coding'],
  503: ['overloaded'],
};

/** With a JSON body. */
// biome-ignore format: a table
export const JSON_PROBLEMS: ProblemsByStatus = {
  400: ['malformed_json', 'invalid_utf8', 'lone_surrogate', 'duplicate_name', 'forbidden_name', 'json_too_complex'],
  415: ['unsupported_media_type'],
};

/** Where nothing need be said. */
export const NO_BODY_PROBLEMS: ProblemsByStatus = mergeProblems(JSON_PROBLEMS, { 400: ['body_not_empty'] });

/** With a multipart form. */
// biome-ignore format: a table
export const MULTIPART_PROBLEMS: ProblemsByStatus = {
  400: ['malformed_multipart', 'too_many_parts', 'too_many_part_headers', 'part_header_too_large', 'unsupported_part_encoding', 'unsupported_charset', 'invalid_utf8'],
  413: ['field_too_large'],
  415: ['unsupported_media_type'],
};

/** When a message is to be accepted. */
export const INTAKE_PROBLEMS: ProblemsByStatus = { 503: ['shutting_down', 'queue_limit'] };

/** When a submission is checked. */
export const SUBMISSION_PROBLEMS: ProblemsByStatus = {
  400: ['invalid_submission', 'unsubscribe_unavailable'],
  403: ['sender_not_allowed'],
  409: ['idempotency_mismatch', 'idempotency_in_progress'],
  413: ['message_too_large'],
};

/** Puts sets of codes together, each code once. */
export function mergeProblems(...sets: readonly ProblemsByStatus[]): ProblemsByStatus {
  const merged = new Map<string, Set<ProblemCode>>();
  for (const [status, codes = []] of sets.flatMap(Object.entries<readonly ProblemCode[] | undefined>))
    merged.set(status, new Set([...(merged.get(status) ?? []), ...codes]));
  return Object.fromEntries([...merged].map(([status, codes]) => [status, [...codes]]));
}

/** Every code that an operation may answer with, by status. */
export function problemsOf({ access, body, problems }: Operation): ProblemsByStatus {
  return mergeProblems(
    UNREADABLE,
    EVERY_REQUEST,
    access === null ? {} : WITH_KEY,
    access?.scopes.includes('admin') === true ? ADMINISTERING : {},
    body === null ? {} : WITH_BODY,
    problems,
  );
}

/** The document's response for codes of one status; `operation` is null where there is none. */
export function refusal(status: number, codes: readonly ProblemCode[], operation: Operation | null): Json {
  const lines = codes.map((code) => `- \`${code}\`: ${PROBLEMS[code].meaning} ${PROBLEMS[code].cure}`);
  const headers = [...EVERY_ANSWER, ...(REFUSAL_HEADERS[status] ?? [])];
  const early = UNREADABLE[status] ?? [];
  const isEarly = codes.every((code) => early.includes(code));
  return {
    description: `${titleOf(status)}.\n\n${lines.join('\n')}`,
    headers: headerRefs(operation?.access && !isEarly ? [...headers, ...RATE_HEADERS] : headers),
    content: problemContent(status, codes),
  };
}

/** References to header fields of answers. */
export function headerRefs(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function problemContent(status: number, codes: readonly ProblemCode[]): Json {
  const known = { properties: { status: { const: status }, code: { enum: codes } } };
  return {
    'application/problem+json': {
      schema: { allOf: [schemaRef('Problem'), known] },
      examples: Object.fromEntries(codes.map((code) => [code, problemExampleRef(status, code)])),
    },
  };
}

// One example of each refusal, made of the table of codes; the details of real ones name the field and figures.

/** Faults as they come with the codes that have them. */
const FAULTS: Readonly<Partial<Record<ProblemCode, readonly Json[]>>> = {
  invalid_submission: [
    {
      pointer: '/to/1',
      code: 'address_syntax',
      detail:
        'bob(at)example.org is not an address of the form local@domain, such as "Jane Doe <jane@example.com>".',
    },
    {
      pointer: '/sendAt',
      code: 'too_far_ahead',
      detail: 'Must be at most 30 days ahead; send it nearer to its time.',
    },
  ],
  invalid_query: [
    { pointer: '/limit', code: 'out_of_range', detail: 'Must be an integer from 1 to 200, not "500".' },
  ],
};

/** An example of each of these codes with each of its statuses, by name. */
export function problemExamples(codes: ReadonlySet<ProblemCode>): Readonly<Record<string, Json>> {
  const entries = Object.entries(PROBLEMS) as [ProblemCode, ProblemRow][];
  return Object.fromEntries(
    entries.flatMap(([code, { statuses }]) =>
      (codes.has(code) ? statuses : []).map((status) => [
        exampleName(status, code),
        problemExample(status, code),
      ]),
    ),
  );
}

/** A reference to one of them. */
function problemExampleRef(status: number, code: ProblemCode): Json {
  return { $ref: `#/components/examples/${exampleName(status, code)}` };
}

function exampleName(status: number, code: ProblemCode): string {
  return PROBLEMS[code].statuses.length > 1 ? `${code}_${status}` : code;
}

function problemExample(status: number, code: ProblemCode): Json {
  const { meaning, cure } = PROBLEMS[code];
  const value = {
    type: `urn:waybill:problem:${code}`,
    title: titleOf(status),
    status,
    detail: `${meaning} ${cure}`,
    code,
    error: meaning,
    errors: FAULTS[code] ?? [],
    requestId: 'kD3vQ9sZt1mA-2f',
  };
  return { summary: meaning, value };
}
