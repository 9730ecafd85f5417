import { z } from 'zod';
import type { Attempt, AttemptResult, AttemptTimings } from '../../domain/attempt.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { formatTimestamp } from '../../lib/clock.ts';
import type { Shown } from '../../operations/operation.ts';
import type { AttemptPage, RecipientRecord, Views } from '../../store/views.ts';
import type { attemptsPageSchema } from './attempt-answers.ts';
import type { Call } from './call.ts';
import { type Findable, findReadable } from './find-message.ts';
import { MAX_LIMIT, nextLink, nextPage } from './list.ts';
import { asInteger, readParameters } from './query.ts';

/** `GET /api/v1/messages/{id}/attempts`: every delivery attempt with its evidence (contract §3.1). */

/** The endpoint's parameters. */
// biome-ignore format: a table
export const ATTEMPTS_PARAMETERS = {
  limit: { schema: z.int().min(1).max(MAX_LIMIT).default(MAX_LIMIT), fromText: asInteger, code: 'out_of_range', rule: `an integer from 1 to ${MAX_LIMIT}`, meaning: 'The most attempts that a page may have. Large ones make it end earlier.', example: '50' },
  cursor: { schema: z.int().min(1).optional(), fromText: asInteger, code: 'bad_cursor', rule: "the nextCursor of a page of this message's attempts", meaning: 'Continues after a page: its nextCursor.', example: '200' },
};

/** Answers with a page of attempts. */
export async function answerAttempts(
  { exchange, caller, params }: Call,
  views: Findable & Pick<Views, 'attempts'>,
): Promise<void> {
  const { limit, cursor: after = 0 } = readParameters(exchange.query, ATTEMPTS_PARAMETERS);
  const { message, recipients } = await findReadable(params['id'] ?? '', caller.key, views);
  const page = attemptsJson(await views.attempts(message.id, { after, limit }), after, recipients);
  exchange.json(200, page, nextLink(exchange.path, exchange.query, page.nextCursor));
}

type AttemptsJson = Shown<typeof attemptsPageSchema>;
type AttemptJson = AttemptsJson['attempts'][number];

/** The attempts after number `after`, oldest first, as the API shows them; every attempt has the same members. */
export function attemptsJson(
  { attempts, next }: AttemptPage,
  after: number,
  recipients: readonly RecipientRecord[],
): AttemptsJson {
  const addresses = new Map(recipients.map(({ index, address }) => [index, address]));
  return {
    attempts: attempts.map((attempt, place) => attemptJson(attempt, after + place + 1, addresses)),
    ...nextPage(next === null ? undefined : String(next)),
  };
}

function attemptJson(attempt: Attempt, number: number, addresses: ReadonlyMap<number, string>): AttemptJson {
  const { host, address, tls, reused, localAddress, security, dns, timings, steps } = attempt.evidence;
  return {
    number,
    startedAt: formatTimestamp(attempt.startedAt),
    relay: attempt.relay,
    host,
    address,
    // Attempts recorded by older versions lack the members that have a fallback here.
    localAddress: localAddress ?? null,
    tls,
    security: security ?? null,
    dns: dns ?? [],
    reused,
    timings: timingsJson(timings),
    steps,
    results: attempt.results.map((result) => resultJson(result, addresses.get(result.index) ?? '')),
  };
}

function timingsJson(timings: AttemptTimings): AttemptJson['timings'] {
  const { queueMs = null, dnsMs, connectMs, tlsMs, mailMs = null, transferMs, replyMs = null } = timings;
  return { queueMs, dnsMs, connectMs, tlsMs, mailMs, transferMs, replyMs, totalMs: timings.totalMs };
}

function resultJson({ outcome }: AttemptResult, recipient: string): AttemptJson['results'][number] {
  const { kind, reply } = outcome;
  return {
    recipient,
    outcome: kind,
    class: CLASSES[kind],
    code: reply.code,
    enhancedCode: reply.enhanced,
    reply: reply.text,
    providerMessageId: outcome.kind === 'delivered' ? outcome.providerMessageId : null,
  };
}

/** What an outcome means for trying again. */
const CLASSES = {
  delivered: 'success',
  deferred: 'transient',
  rejected: 'permanent',
  unknown: 'unknown',
} as const satisfies Readonly<Record<Outcome['kind'], string>>;
