import { isUtf8 as isUtf8Bytes } from 'node:buffer';

/** One faulty field of a request. */
export interface FieldFault {
  /** JSON pointer (RFC 6901) to the field, or the multipart field's name as one. */
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

/** What a {@link Problem} may carry besides its code and detail. */
export interface ProblemExtras {
  /** Every faulty field, all at once. */
  readonly errors?: readonly FieldFault[];
  /** Headers the answer must have: `Allow`, `Accept`, `Retry-After`, `WWW-Authenticate`, … */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the answer (RFC 9457 §3.2). */
  readonly members?: Readonly<Record<string, unknown>>;
}

const URN = 'urn:waybill:problem:';
const MAX_SHORT = 160;

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Not authenticated',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  406: 'Not acceptable',
  408: 'Request timed out',
  409: 'Conflict',
  413: 'Content too large',
  414: 'Target too long',
  415: 'Unsupported media type',
  417: 'Expectation failed',
  421: 'Misdirected request',
  429: 'Too many requests',
  431: 'Request header too large',
  500: 'Internal error',
  501: 'Not implemented',
  503: 'Service unavailable',
  505: 'HTTP version not supported',
};

/**
 * A refusal as an answer (RFC 9457, contract §5). Thrown by code that reads a request and refuses it, or answered
 * directly; the server turns a thrown one into its response.
 */
export class Problem extends Error {
  /** HTTP status. */
  readonly status: number;
  /** Searchable, stable: the last part of the problem's type. */
  readonly code: string;
  /** A sentence for the client. Never an internal error's text. */
  readonly detail: string;
  readonly errors: readonly FieldFault[];
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, unknown>>;

  constructor(status: number, code: string, detail: string, extras: ProblemExtras = {}) {
    super(detail);
    this.name = 'Problem';
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.errors = extras.errors ?? [];
    this.headers = extras.headers ?? {};
    this.members = extras.members ?? {};
  }
}

/** The meaning of a status in words: the title of its problems. */
export function titleOf(status: number): string {
  return TITLES[status] ?? 'Error';
}

/** The refusal of one field, repeated in `errors`. */
export function fieldProblem(status: number, fault: FieldFault): Problem {
  return new Problem(status, fault.code, fault.detail, { errors: [fault] });
}

/** The answer to a bug of ours, without details. */
export function internalError(): Problem {
  return new Problem(500, 'internal_error', 'Something went wrong in the server.');
}

/** The content type of {@link problemBody}. */
export const PROBLEM_TYPE = 'application/problem+json';

/** The JSON text of a problem for one request. */
export function problemBody(problem: Problem, requestId: string): string {
  return JSON.stringify({ ...problemJson(problem), requestId });
}

/** The members of a problem that do not depend on the request. */
export function problemJson({ status, code, detail, errors, members }: Problem) {
  const title = titleOf(status);
  return {
    type: URN + code,
    title,
    status,
    detail,
    code,
    error: shorten(detail, MAX_SHORT),
    errors,
    ...members,
  };
}

const MAX_QUOTED = 64;
/** Longer than any accepted name. */
const MAX_TOKEN = 128;

/** Text from the client, cut so that an answer never outgrows its request; an ellipsis marks the cut. */
function shorten(text: string, maxCharacters: number): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters - 1).toWellFormed()}…` : text;
}

/** A name from the client, bounded, for an error's text. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text, MAX_QUOTED));
}

/** One reference token of a JSON pointer, escaped (RFC 6901 §3); an overlong name is cut. */
export function pointerToken(text: string): string {
  return shorten(text, MAX_TOKEN).replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Decodes bytes that must be UTF-8 (a byte order mark stays). Throws the problem 400 `invalid_utf8`. */
export function decodeUtf8(bytes: Buffer, what: string): string {
  if (!isUtf8Bytes(bytes))
    throw new Problem(400, 'invalid_utf8', `${what} is not valid UTF-8; encode it as UTF-8.`);
  return bytes.toString('utf8');
}
