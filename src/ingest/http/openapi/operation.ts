import type { Access } from '../call.ts';
import type { OperationId } from '../endpoints.ts';
import type { ParameterTable } from '../query.ts';
import type { Json, SchemaName } from './json-schema.ts';
import type { ProblemCode } from './problem-codes.ts';

/** What the document says of an endpoint, besides what `endpoints.ts` declares. */
export interface Description {
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly requestHeaders?: readonly RequestHeader[];
  readonly body?: RequestBody;
  readonly answers: readonly Success[];
  /** Codes by the status they come with, besides those that every request may get. */
  readonly problems?: ProblemsByStatus;
}

/** Descriptions of some endpoints. */
export type Descriptions = Readonly<Partial<Record<OperationId, Description>>>;

/** An endpoint with all that the document says of it. */
export interface Operation extends Required<Omit<Description, 'body'>> {
  readonly operationId: OperationId;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With named segments in braces. */
  readonly path: string;
  /** What it asks of a key; null when it needs none. */
  readonly access: Access | null;
  readonly query: ParameterTable;
  readonly body: RequestBody | null;
}

/** Groups of operations. */
export type Tag =
  | 'Sending'
  | 'Reading'
  | 'Inbox'
  | 'Acting'
  | 'Suppressions'
  | 'Templates'
  | 'Webhooks'
  | 'Routing'
  | 'Queue'
  | 'Administering'
  | 'Service';

/** Codes by status. */
export type ProblemsByStatus = Readonly<Partial<Record<number, readonly ProblemCode[]>>>;

/** A body, in each of the media types that are taken. */
export interface RequestBody {
  readonly required: boolean;
  readonly description: string;
  readonly content: Readonly<Record<string, Media>>;
}

/** A body in one media type. */
export interface Media {
  /** A named schema, or one that is not worth a name. */
  readonly schema: SchemaName | Json;
  /** For forms: how fields are written. */
  readonly encoding?: Json;
  readonly examples: Readonly<Record<string, Example>>;
}

/** A real example. */
export interface Example {
  readonly summary: string;
  readonly value: unknown;
}

/** An answer that is no refusal. */
export interface Success {
  readonly status: number;
  readonly description: string;
  /** Besides those of every answer. */
  readonly headers: readonly AnswerHeader[];
  readonly content: Readonly<Record<string, Media>>;
}

/** An answer in JSON. */
export function jsonAnswer(
  schema: Media['schema'],
  description: string,
  examples: Media['examples'],
  { status = 200, headers = [] }: Partial<Pick<Success, 'status' | 'headers'>> = {},
): Success {
  return { status, description, headers, content: { 'application/json': { schema, examples } } };
}

/** A body in JSON, which must be given. */
export function jsonBody(
  schema: Media['schema'],
  description: string,
  examples: Media['examples'],
): RequestBody {
  return { required: true, description, content: { 'application/json': { schema, examples } } };
}

/** Of operations that need nothing said: no body, or an empty object. */
export const EMPTY_BODY: RequestBody = {
  required: false,
  description: 'Nothing, or an empty object.',
  content: {
    'application/json': {
      schema: { type: 'object', additionalProperties: false },
      examples: { empty: { summary: 'Nothing more to say', value: {} } },
    },
  },
};

// Header fields of requests and answers that mean something to this API.

interface HeaderRow {
  readonly description: string;
  readonly schema: Json;
  readonly example: string | number;
  /** It is in every answer that names it. */
  readonly required: boolean;
}

const text = { type: 'string' };
const whole = { type: 'integer', minimum: 0 };

function header(description: string, example: string | number, schema: Json = text): HeaderRow {
  return { description, schema, example, required: true };
}

function sometimes(description: string, example: string | number, schema: Json = text): HeaderRow {
  return { description, schema, example, required: false };
}

/** Header fields of answers. */
// biome-ignore format: a table
export const ANSWER_HEADERS = {
  'X-Request-Id': header('Identifies this request in the server’s log: the request’s own X-Request-Id if it had a valid one.', 'kD3vQ9sZt1mA-2f', { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' }),
  Location: header('Where the message’s status is.', '/api/v1/messages/msg_01k9f5y7f0e2c4a8b6d0e2f4g6'),
  'Idempotency-Replayed': sometimes('`true`: this is the first answer again; nothing new was accepted.', 'true', { const: 'true' }),
  Link: sometimes('The next page, with `rel="next"`, when there is one.', '</api/v1/messages?cursor=bXNn>; rel="next"'),
  'Retry-After': sometimes('Seconds after which to try again.', 12, whole),
  'WWW-Authenticate': header('How to send a key.', 'Bearer'),
  Allow: header('The methods that the path takes.', 'GET, HEAD, POST, OPTIONS'),
  Accept: sometimes('The media types that are accepted.', 'application/json, multipart/form-data'),
  'Accept-Encoding': sometimes('`identity`: only uncompressed bodies are accepted.', 'identity'),
  'Content-Disposition': header('A file name for the message.', 'attachment; filename="msg_01k9f5y7f0e2c4a8b6d0e2f4g6.eml"'),
  'Content-Security-Policy': header('Browsers must not run it.', 'sandbox'),
  ETag: header('Names this version of the document, for `If-None-Match`.', '"5d41402abc4b2a76"'),
  'Cache-Control': sometimes('How long it may be kept.', 'no-cache'),
  'X-Accel-Buffering': sometimes('With a stream: a proxy should pass on each event at once.', 'no', { const: 'no' }),
  'ratelimit-limit': sometimes('Requests a minute that the key may make; absent for a key without a limit.', 100, whole),
  'ratelimit-remaining': sometimes('How many of them are left.', 99, whole),
  'ratelimit-reset': sometimes('Seconds until more are left.', 60, whole),
  'RateLimit-Policy': sometimes('The same as a structured field: quota and window in seconds.', '"send";q=100;w=60'),
  RateLimit: sometimes('The same as a structured field: what is left, and seconds until more is.', '"send";r=99;t=60'),
} as const satisfies Readonly<Record<string, HeaderRow>>;

/** Name of a header field of answers. */
type AnswerHeader = keyof typeof ANSWER_HEADERS;

/** Every answer has it. */
export const EVERY_ANSWER: readonly AnswerHeader[] = ['X-Request-Id'];

/** Every answer to a key with a limit has them. */
export const RATE_HEADERS: readonly AnswerHeader[] = [
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'RateLimit-Policy',
  'RateLimit',
];

/** Header fields that a refusal must or may have, by its status. */
export const REFUSAL_HEADERS: Readonly<Partial<Record<number, readonly AnswerHeader[]>>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  409: ['Retry-After'],
  415: ['Accept', 'Accept-Encoding'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** Header fields of requests, besides Authorization and Content-Type. */
// biome-ignore format: a table
export const REQUEST_HEADERS = {
  'Idempotency-Key': { description: 'Makes it safe to send a request again: within 24 hours, the same key with an equal submission gets the first answer and nothing is sent twice. 1 to 256 printable ASCII characters, such as a UUID.', schema: { type: 'string', minLength: 1, maxLength: 256 }, example: '5f2c0c1e-8c0f-4d5e-9b39-6f1c6a0f6d11' },
  From: { description: 'The envelope’s sender, in place of the parameter `from`.', schema: text, example: 'orders@example.com' },
  To: { description: 'Recipients as an address list, besides those of the parameter `to`.', schema: text, example: 'bob@example.org, ann@example.net' },
  'Last-Event-ID': { description: 'Where a stream goes on: the id of the last event that arrived, in place of the parameter `after`. Clients for server-sent events send it by themselves when they connect again.', schema: { type: 'string', pattern: '^(?:0|[1-9]\\d{0,14})$' }, example: '4711' },
  'If-None-Match': { description: 'An `ETag` that you have: the answer is 304 while it is still current.', schema: text, example: '"5d41402abc4b2a76"' },
} as const;

/** Name of a header field of requests. */
export type RequestHeader = keyof typeof REQUEST_HEADERS;
