import type { Failure } from './result.ts';
import type {
  AttemptsPage,
  BatchReceipt,
  FieldFault,
  MessagesPage,
  Receipt,
  StatusRecord,
  Template,
  Templates,
  Verdict,
} from './types.ts';

/** Answers as values. What is not the API's own is told from what is; a whole schema is not held against it. */

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

/** How many faults a message for people names, and how many characters it has at most. */
const FAULTS_TOLD = 5;
const MESSAGE_LENGTH = 1000;

/** Whether a status says that what was asked was done. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** A refusal, or what is none of the API's, as an error. */
export function refusalOf(answer: Answer, retryAfterMs: number | null): Failure {
  const { status, headers } = answer;
  const body = jsonOf(answer);
  if (!isProblem(body)) return strange(status, headers.get('location'));
  const { code, detail } = body;
  const errors = Array.isArray(body['errors']) ? body['errors'].filter(isFieldFault) : [];
  const requestId = textOr(body['requestId'], headers.get('x-request-id'));
  const message = bounded(errors.length === 0 ? detail : listed(errors));
  return { kind: 'problem', status, code, detail, errors, message, requestId, retryAfterMs };
}

/** An answer that is not the API's, perhaps one that leads elsewhere. */
export function strange(status: number, location: string | null = null): Failure {
  const message =
    location === null
      ? `What answered with status ${status} is not the API; check the URL and what stands between.`
      : `The server sends its callers elsewhere, to ${location}: check the URL; the client follows nowhere.`;
  return { kind: 'protocol', status, message: bounded(message) };
}

/** The faults that there are, each with its place; their detail is the problem's too, so that is left out. */
function listed(errors: readonly FieldFault[]): string {
  const told = errors.slice(0, FAULTS_TOLD).map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`);
  const more = errors.length - told.length;
  return [...told, ...(more > 0 ? [`(and ${more} more)`] : [])].join(' ');
}

function bounded(text: string): string {
  return text.length <= MESSAGE_LENGTH ? text : `${text.slice(0, MESSAGE_LENGTH - 1)}…`;
}

/** The answer's JSON; `null` when it has none. */
export function jsonOf({ bytes }: Answer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
}

/** The answer as text. */
export function textOf({ bytes }: Answer): string {
  return new TextDecoder().decode(bytes);
}

/** Whether JSON is the answer to an accepted message. */
export function isReceipt(body: unknown): body is Receipt {
  return isObject(body) && typeof body['id'] === 'string' && typeof body['message'] === 'string';
}

/** Whether JSON is the answer to a dry run. */
export function isVerdict(body: unknown): body is Verdict {
  return isObject(body) && body['dryRun'] === true && Array.isArray(body['recipients']);
}

/** Whether JSON is the answer to a batch. */
export function isBatchReceipt(body: unknown): body is BatchReceipt {
  return isObject(body) && Array.isArray(body['results']);
}

/** Whether JSON is a message with its recipients. */
export function isStatusRecord(body: unknown): body is StatusRecord {
  return isObject(body) && typeof body['status'] === 'string' && Array.isArray(body['recipients']);
}

/** Whether JSON is a page of messages. */
export function isMessagesPage(body: unknown): body is MessagesPage {
  return isObject(body) && Array.isArray(body['messages']) && typeof body['hasMore'] === 'boolean';
}

/** Whether JSON is a message's attempts. */
export function isAttemptsPage(body: unknown): body is AttemptsPage {
  return isObject(body) && Array.isArray(body['attempts']);
}

/** Whether JSON is a list of templates. */
export function isTemplates(body: unknown): body is Templates {
  return isObject(body) && Array.isArray(body['templates']);
}

/** Whether JSON is a template with its versions. */
export function isTemplate(body: unknown): body is Template {
  return isObject(body) && typeof body['alias'] === 'string' && Array.isArray(body['versions']);
}

function isProblem(body: unknown): body is { code: string; detail: string; [name: string]: unknown } {
  return isObject(body) && typeof body['code'] === 'string' && typeof body['detail'] === 'string';
}

function isFieldFault(value: unknown): value is FieldFault {
  return isObject(value) && typeof value['pointer'] === 'string' && typeof value['detail'] === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOr(value: unknown, other: string | null): string | null {
  return typeof value === 'string' ? value : other;
}
