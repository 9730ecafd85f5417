import { z } from 'zod';
import { formatTimestamp } from '../../lib/clock.ts';
import type { Shown } from '../../operations/operation.ts';
import type { RequestLog, RequestPage, RequestPlace, StoredRequest } from '../../store/request-log.ts';
import { SMTP_REFUSALS } from '../smtp/refusal-codes.ts';
import type { Call } from './call.ts';
import { LIST_PARAMETERS, nextLink } from './list.ts';
import { FAULTS } from './openapi/fault-codes.ts';
import { PROBLEMS } from './openapi/problem-codes.ts';
import { invalidQuery, parameterFault, readParameters, TIMESTAMP_RULE, timestampSchema } from './query.ts';
import type { loggedRequestSchema, requestsPageSchema } from './request-answers.ts';

/** `GET /api/v1/requests`: what became of the calling key's requests. */

/** Which requests a page may be about. */
const KINDS_OF_REQUESTS = ['refused', 'accepted'] as const;

const { limit } = LIST_PARAMETERS;

/** Lines that are looked at for a page, as for one of messages. */
export const MAX_LOOKED_AT = 20_000;

/** The endpoint's parameters. */
// biome-ignore format: a table
export const REQUESTS_PARAMETERS = {
  only: { schema: z.enum(KINDS_OF_REQUESTS).optional(), code: 'unknown_status', rule: `one of ${KINDS_OF_REQUESTS.join(', ')}`, meaning: 'Only requests that were refused, or came to nothing; or only the others.', example: 'refused' },
  since: { schema: timestampSchema.optional(), code: 'timestamp', rule: TIMESTAMP_RULE, meaning: 'Only requests answered at this time or later (RFC 3339).', example: '2026-11-20T00:00:00Z' },
  until: { schema: timestampSchema.optional(), code: 'timestamp', rule: TIMESTAMP_RULE, meaning: 'Only requests answered before this time (RFC 3339).', example: '2026-11-21T00:00:00Z' },
  limit: { ...limit, meaning: 'The most requests that a page may have.' },
  cursor: { schema: z.string().optional(), code: 'bad_cursor', rule: 'the nextCursor of a page of this list', meaning: 'Continues after a page: its nextCursor, with the same parameters.', example: '1795780835000.4711' },
};

/** Answers with a page. */
export async function answerRequests(
  { exchange, caller }: Call,
  { requests }: { readonly requests: Pick<RequestLog, 'requests'> },
): Promise<void> {
  const { only, since, until, limit, cursor } = readParameters(exchange.query, REQUESTS_PARAMETERS);
  const { id, name } = caller.key;
  const after = cursor === undefined ? null : placeIn(cursor);
  if (cursor !== undefined && after === null)
    throw invalidQuery([parameterFault('cursor', 'bad_cursor', BAD_CURSOR)]);
  const page = requestsJson(
    await requests.requests({
      of: { keyId: id },
      refused: only === undefined ? null : only === 'refused',
      kind: 'api',
      sourceAddress: null,
      messageId: null,
      since: since ?? 0,
      until: until ?? null,
      after,
      limit,
      looksAt: MAX_LOOKED_AT,
    }),
    () => name,
  );
  exchange.json(200, page, nextLink(exchange.path, exchange.query, page.nextCursor));
}

/** What a wrong cursor is told. */
export const BAD_CURSOR = 'Must be the nextCursor of a page of this list.';

/** Where a page starts; null: it is no cursor. */
export function placeIn(cursor: string): RequestPlace | null {
  const [, at, number] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? [];
  return at === undefined ? null : { at: Number(at), number: Number(number) };
}

/** A page as it is shown; `nameOf` gives the name of a key by its id. */
function requestsJson(
  { lines, next }: RequestPage,
  nameOf: (keyId: string) => string,
): Shown<typeof requestsPageSchema> {
  return pageJson(
    lines.map((line) => requestJson(line, line.keyId === null ? null : nameOf(line.keyId))),
    next,
  );
}

/** Lines, and where to go on. */
export function pageJson<Line>(requests: readonly Line[], next: RequestPlace | null) {
  if (next === null) return { requests, hasMore: false };
  return { requests, hasMore: true, nextCursor: `${next.at}.${next.number}` };
}

type LoggedRequest = Shown<typeof loggedRequestSchema>;

/** A line as it is shown, with the name of its key. */
export function requestJson(line: StoredRequest, key: string | null): LoggedRequest {
  const { at, method, path, status, code, durationMs, requestId, weight, session } = line;
  return {
    at: formatTimestamp(at),
    key,
    method,
    path,
    status,
    code,
    ...(session === null ? explained(code, MEANINGS) : explainedOverSmtp(code)),
    faults: faultsOf(line),
    durationMs,
    requestId,
    standsFor: weight,
  };
}

/** As the log has them: `/to/0 address_syntax, /subject required`. */
function faultsOf({ faults }: StoredRequest): LoggedRequest['faults'] {
  return (faults ?? '').split(', ').flatMap((text) => {
    const [pointer = '', code] = text.split(' ');
    return code === undefined ? [] : [{ pointer, code, ...explained(code, FAULT_MEANINGS) }];
  });
}

interface Explained {
  readonly meaning: string;
  readonly cure: string;
}

/** Codes that no answer of our own API has: those of providers' APIs, and what the log alone tells. */
// biome-ignore format: a table
const OTHERS: Readonly<Record<string, Explained>> = {
  client_left: { meaning: 'The client closed its connection before the answer. What it asked for may have been done.', cure: 'Let it wait longer. With an `Idempotency-Key` a repeat sends nothing twice.' },
  signature_missing: { meaning: 'The request is not signed, as those to SES are.', cure: 'Give the SDK the access key id and the secret access key of `waybill keys create NAME --ses`.' },
  signature_incomplete: { meaning: 'The signature is not of AWS Signature Version 4 for `ses`, or leaves out headers that it must cover.', cure: 'Sign with an AWS SDK, in the header Authorization.' },
  signature_expired: { meaning: 'The request was signed more than 15 minutes ago, or ahead.', cure: 'Set the client’s clock.' },
  signature_wrong: { meaning: 'The signature is not the one that the secret access key makes.', cure: 'Check the secret access key; behind a proxy that changes Host, `api.public_hosts`.' },
  body_not_signed: { meaning: 'The body is not the one that was signed.', cure: 'Look for a proxy that changes bodies.' },
  access_key_unknown: { meaning: 'The access key id is unknown, or its key is revoked or expired.', cure: 'Use one of `waybill keys create NAME --ses`.' },
  address_invalid: { meaning: 'A sender or recipient is in the domain `invalid`.', cure: 'Use an address that gets mail.' },
  inactive_recipients: { meaning: 'Every recipient is on the suppression list. Nothing was accepted.', cure: 'See the list: `waybill suppressions list --address ADDRESS`.' },
  no_templates: { meaning: 'The request names a template, and there are none here.', cure: 'Send the subject and the text.' },
  too_many_messages: { meaning: 'The batch has too many messages.', cure: 'Divide it.' },
  bounce_not_found: { meaning: 'There is no such bounce, or its event is no longer kept.', cure: 'List the bounces again.' },
};

const FAULT_MEANINGS: ReadonlyMap<string, Explained> = new Map(Object.entries(FAULTS));
const MEANINGS: ReadonlyMap<string, Explained> = new Map<string, Explained>([
  ...Object.entries(OTHERS),
  ...FAULT_MEANINGS,
  ...Object.entries(PROBLEMS),
]);

const OVER_SMTP: ReadonlyMap<string, Explained> = new Map(Object.entries(SMTP_REFUSALS));

/** What a code means over SMTP, and its cure; null for a code that this version does not know. */
export function explainedOverSmtp(code: string | null) {
  return explained(code, OVER_SMTP);
}

/** What a code of a refusal means, and its cure: as the API has it, if it does. */
export function explainedCode(code: string) {
  return explained(code, MEANINGS.has(code) ? MEANINGS : OVER_SMTP);
}

function explained(code: string | null, meanings: ReadonlyMap<string, Explained>) {
  const { meaning = null, cure = null } = meanings.get(code ?? '') ?? {};
  return { meaning, cure };
}
