import type { ClientError } from './result.ts';
import type {
  AttemptsPage,
  BatchReceipt,
  FieldFault,
  MessagesPage,
  Receipt,
  StatusRecord,
  Verdict,
} from './types.ts';

/** Answers as values. What is not the API's own is told from what is; a whole schema is not held against it. */

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

/** A refusal as an error. */
export function errorOf(
  answer: Answer,
  retryAfterMs: number | null,
  key: { readonly idempotencyKey?: string },
): ClientError {
  const { status, headers } = answer;
  const body = jsonOf(answer);
  if (!isProblem(body)) {
    const message = `What answered with status ${status} is not the API; check the URL and what stands between.`;
    return { kind: 'protocol', status, message, ...key };
  }
  const { code, detail } = body;
  const errors = Array.isArray(body['errors']) ? body['errors'].filter(isFieldFault) : [];
  const faults = errors.map((fault) => `${fault.pointer} ${fault.detail}`);
  const message = [detail, ...faults].join(' ');
  const requestId = textOr(body['requestId'], headers.get('x-request-id'));
  return { kind: 'problem', status, code, detail, errors, message, requestId, retryAfterMs, ...key };
}

/** The answer's JSON; `null` when it has none. */
export function jsonOf({ bytes }: Answer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
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
