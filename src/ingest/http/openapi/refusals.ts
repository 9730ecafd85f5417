import { titleOf } from '../../../http/problem.ts';
import { EVERY_ANSWER, RATE_HEADERS, REFUSAL_HEADERS } from './headers.ts';
import { type Json, schemaRef } from './json-schema.ts';
import type { Operation, ProblemsByStatus } from './operation.ts';
import { PROBLEMS, type ProblemCode } from './problem-codes.ts';
import { problemExampleRef } from './problem-examples.ts';

/** Which refusals a request may get, and how they are described. */

/** Refusals of requests that could not be read: decided before anything is looked for, and never in Mailgun's shape. */
export const UNREADABLE: ProblemsByStatus = {
  400: [
    'malformed_request',
    'host_missing',
    'host_malformed',
    'header_repeated',
    'tls_on_plain_port',
    'plain_on_tls_port',
  ],
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

/** With a body. */
const WITH_BODY: ProblemsByStatus = {
  408: ['body_too_slow'],
  413: ['content_too_large'],
  415: ['unsupported_content_encoding'],
  501: ['unsupported_transfer_coding'],
  503: ['overloaded'],
};

/** With a JSON body. */
export const JSON_PROBLEMS: ProblemsByStatus = {
  400: [
    'malformed_json',
    'invalid_utf8',
    'lone_surrogate',
    'duplicate_name',
    'forbidden_name',
    'json_too_complex',
  ],
  415: ['unsupported_media_type'],
};

/** Where nothing need be said. */
export const NO_BODY_PROBLEMS: ProblemsByStatus = mergeProblems(JSON_PROBLEMS, { 400: ['body_not_empty'] });

/** With a multipart form. */
export const MULTIPART_PROBLEMS: ProblemsByStatus = {
  400: [
    'malformed_multipart',
    'too_many_parts',
    'too_many_part_headers',
    'part_header_too_large',
    'unsupported_part_encoding',
    'unsupported_charset',
    'invalid_utf8',
  ],
  413: ['field_too_large'],
  415: ['unsupported_media_type'],
};

/** With a urlencoded form. */
export const URLENCODED_PROBLEMS: ProblemsByStatus = {
  400: ['malformed_form', 'too_many_fields', 'invalid_utf8'],
  415: ['unsupported_media_type'],
};

/** When a message is to be accepted. */
export const INTAKE_PROBLEMS: ProblemsByStatus = {
  503: ['shutting_down', 'queue_limit'],
};

/** When a submission is checked. */
export const SUBMISSION_PROBLEMS: ProblemsByStatus = {
  400: ['invalid_submission'],
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
    content:
      operation?.tag === 'Mailgun' && !isEarly
        ? mailgunContent(
            status,
            codes.filter((code) => !early.includes(code)),
            codes.filter((code) => early.includes(code)),
          )
        : problemContent(status, codes),
  };
}

/** The response to a method that a path does not take, be it of our own or in Mailgun's shape. */
export function unknownMethod(): Json {
  const own = refusal(405, ['method_not_allowed'], null);
  return {
    ...own,
    content: { ...Object(own['content']), ...mailgunContent(405, ['method_not_allowed'], []) },
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

function mailgunContent(status: number, codes: readonly ProblemCode[], early: readonly ProblemCode[]): Json {
  const [code] = codes;
  const value = { message: code === undefined ? '' : PROBLEMS[code].meaning };
  return {
    'application/json': {
      schema: schemaRef('MailgunProblem'),
      examples: { refused: { summary: 'A refusal, in Mailgun’s shape', value } },
    },
    ...(early.length > 0 && problemContent(status, early)),
  };
}
