import type { Exchange } from '../../../../http/exchange.ts';
import { type FieldFault, Problem } from '../../../../http/problem.ts';
import { faultsText } from '../submitting.ts';

/** Postmark's errors: `{"ErrorCode", "Message"}`, from which its SDK makes its classes of errors (contract-2 §C3). */

interface Row {
  readonly status: number;
  readonly errorCode: number;
}

/** By our codes. */
// biome-ignore format: a table
export const BY_CODE: Readonly<Record<string, Row>> = {
  malformed_json:        { status: 422, errorCode: 402 },
  invalid_utf8:          { status: 422, errorCode: 402 },
  json_too_complex:      { status: 422, errorCode: 402 },
  duplicate_name:        { status: 422, errorCode: 402 },
  forbidden_name:        { status: 422, errorCode: 402 },
  lone_surrogate:        { status: 422, errorCode: 402 },
  sender_not_allowed:    { status: 422, errorCode: 400 },
  message_not_found:     { status: 404, errorCode: 701 },
  bounce_not_found:      { status: 404, errorCode: 407 },
  complaint:             { status: 422, errorCode: 300 },
  // Asked for where there is one: the key may not change it.
  suppression_not_found: { status: 403, errorCode: 10 },
  inactive_recipients:   { status: 422, errorCode: 406 },
  too_many_messages:     { status: 422, errorCode: 410 },
  template_missing:      { status: 422, errorCode: 1101 },
};

/** By our statuses, where the code says nothing else. */
// biome-ignore format: a table
export const BY_STATUS: Readonly<Record<number, Row>> = {
  400: { status: 422, errorCode: 300 },
  401: { status: 401, errorCode: 10 },
  403: { status: 403, errorCode: 10 },
  409: { status: 409, errorCode: 300 },
  413: { status: 413, errorCode: 413 },
  415: { status: 415, errorCode: 409 },
  429: { status: 429, errorCode: 429 },
  503: { status: 503, errorCode: 100 },
};

const INVALID: Row = { status: 422, errorCode: 300 };
const WRONG_TYPES: Row = { status: 422, errorCode: 403 };
const NO_TEMPLATE: Row = { status: 422, errorCode: 1101 };
const WRONG_ATTACHMENT: Row = { status: 422, errorCode: 411 };

/** Answers a refusal as Postmark does. */
export function refuseAsPostmark(exchange: Exchange, problem: Problem): void {
  const { status, ...body } = refusalOf(problem, hasNoBody(exchange));
  exchange.json(status, body, problem.headers);
}

/** The same as one of the answers to a batch. */
export function refusalInBatch(problem: Problem): Told {
  const { status: _, ...body } = refusalOf(problem, false);
  return body;
}

interface Told {
  readonly ErrorCode: number;
  readonly Message: string;
}

function refusalOf(problem: Problem, isEmpty: boolean): Told & { readonly status: number } {
  const { code, detail, errors } = problem;
  const { status, errorCode } = rowOf(problem, isEmpty);
  const isOfFields = problem.status === 400 && errors.length > 0 && BY_CODE[code] === undefined;
  return { status, ErrorCode: errorCode, Message: isOfFields ? faultsText(errors) : detail };
}

function rowOf({ status, code, errors }: Problem, isEmpty: boolean): Row {
  if (isEmpty && code === 'malformed_json') return INVALID;
  const row = BY_CODE[code] ?? BY_STATUS[status] ?? { status, errorCode: 0 };
  if (row !== BY_STATUS[400] || errors.length === 0) return row;
  if (errors.some((fault) => /^template_not_/.test(fault.code))) return NO_TEMPLATE;
  if (errors.every(({ pointer }) => pointer.startsWith('/TemplateModel/'))) return WRONG_TYPES;
  if (errors.every((fault) => fault.code === 'type')) return WRONG_TYPES;
  return errors.every(isOfType) ? WRONG_ATTACHMENT : row;
}

/** Of the media type of an attachment. */
function isOfType({ code }: FieldFault): boolean {
  return code === 'attachment_content_type';
}

function hasNoBody({ headers }: Exchange): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/** All recipients are on the suppression list. SDKs read the addresses out of the text. */
export function inactiveRecipients(addresses: readonly string[]): Problem {
  const detail = `You tried to send to recipient(s) that have been marked as inactive. Found inactive addresses: ${addresses.join(', ')}. Inactive recipients are on the suppression list.`;
  return new Problem(400, 'inactive_recipients', detail);
}

/** Who complained is to get mail again. */
export function complained(address: string): Problem {
  const detail = `${address} complained about mail. An administrator has to confirm that they ask for mail.`;
  return new Problem(409, 'complaint', detail);
}

/** A list has more than it may. */
export function tooManyMessages(max: number): Problem {
  return new Problem(400, 'too_many_messages', `A batch may have at most ${max} messages.`);
}

/** Mail is to be made of a template, and names none. */
export function noTemplate(): Problem {
  const detail = "The 'TemplateId' or 'TemplateAlias' of the template is missing.";
  return new Problem(400, 'template_missing', detail);
}
