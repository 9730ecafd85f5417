import type { Exchange } from '../../../../http/exchange.ts';
import type { Problem } from '../../../../http/problem.ts';
import { MESSAGE_POINTER } from '../../raw.ts';
import { faultsText } from '../submitting.ts';

/** SES's answers, and its errors: a name in `x-amzn-errortype`, of which SDKs make an error's class (contract-2 §C6). */

/** Answers with a success. */
export function answerAsSes(exchange: Exchange, value: object): void {
  exchange.json(200, value, marks(exchange));
}

/** What every answer has. */
function marks({ requestId }: Exchange) {
  return { 'x-amzn-requestid': requestId };
}

interface Row {
  /** Ours unless given. */
  readonly status?: number;
  readonly name: string;
}

/** By our codes. */
// biome-ignore format: a table
export const BY_CODE: Readonly<Record<string, Row>> = {
  signature_missing:       { name: 'MissingAuthenticationTokenException' },
  signature_incomplete:    { name: 'IncompleteSignatureException' },
  signature_expired:       { name: 'RequestExpired' },
  signature_wrong:         { name: 'SignatureDoesNotMatch' },
  body_not_signed:         { name: 'InvalidSignatureException' },
  access_key_unknown:      { name: 'UnrecognizedClientException' },
  sender_not_allowed:      { status: 400, name: 'MessageRejected' },
  address_invalid:         { name: 'MessageRejected' },
  // SDKs try again, and then get the first answer.
  idempotency_in_progress: { status: 429, name: 'TooManyRequestsException' },
};

/** By our statuses, where the code says nothing else. */
// biome-ignore format: a table
export const BY_STATUS: Readonly<Record<number, Row>> = {
  400: { name: 'BadRequestException' },
  403: { name: 'AccessDeniedException' },
  404: { name: 'NotFoundException' },
  405: { name: 'UnknownOperationException' },
  409: { name: 'ConflictException' },
  413: { name: 'BadRequestException' },
  415: { name: 'BadRequestException' },
  429: { name: 'TooManyRequestsException' },
  500: { name: 'InternalServiceErrorException' },
  503: { name: 'ServiceUnavailable' },
};

/** Answers a refusal as SES does. */
export function refuseAsSes(exchange: Exchange, problem: Problem): void {
  const { status = problem.status, name } = rowOf(problem);
  const message = messageOf(problem);
  exchange.json(
    status,
    { message, __type: name },
    { ...problem.headers, ...marks(exchange), 'x-amzn-errortype': name },
  );
}

/** What a refusal says. */
export function messageOf({ status, detail, errors }: Problem): string {
  return status !== 400 || errors.length === 0 ? detail : faultsText(errors);
}

/** The name of a refusal: what is wrong in the message, as opposed to the fields beside it, is `MessageRejected`. */
export function rowOf({ status, code, errors }: Problem): Row {
  const isContent = errors.length > 0 && errors.every(({ pointer }) => pointer.startsWith(MESSAGE_POINTER));
  if (isContent) return { name: 'MessageRejected' };
  return BY_CODE[code] ?? BY_STATUS[status] ?? { name: 'InternalServiceErrorException' };
}
