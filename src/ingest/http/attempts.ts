import type { Attempt, AttemptResult } from '../../domain/attempt.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { formatTimestamp } from '../../lib/timestamp.ts';
import type { RecipientRecord, Views } from '../../store/views.ts';
import type { Call, Endpoint } from './call.ts';
import { findReadable } from './find-message.ts';
import { NO_PARAMETERS, readParameters } from './query.ts';

/** `GET /api/v1/messages/{id}/attempts`: every try to hand a message on, with its evidence (contract §3.1). */

/** The endpoint over `views`. */
export function attemptsEndpoint(views: Pick<Views, 'message' | 'attempts'>): Endpoint {
  return {
    scopes: ['messages:read', 'messages:read_all'],
    window: 'read',
    scheme: 'bearer',
    handle: (call) => answerAttempts(call, views),
  };
}

async function answerAttempts(
  { exchange, caller, params }: Call,
  views: Pick<Views, 'message' | 'attempts'>,
): Promise<void> {
  readParameters(exchange.query, NO_PARAMETERS);
  const { message, recipients } = await findReadable(params['id'] ?? '', caller.key, views);
  const attempts = await views.attempts(message.id);
  exchange.json(200, attemptsJson(attempts, recipients));
}

/** Attempts, oldest first, as the API shows them; the shape is constant. */
export function attemptsJson(attempts: readonly Attempt[], recipients: readonly RecipientRecord[]) {
  const addresses = new Map(recipients.map(({ index, address }) => [index, address]));
  return { attempts: attempts.map((attempt, place) => attemptJson(attempt, place + 1, addresses)) };
}

function attemptJson(attempt: Attempt, number: number, addresses: ReadonlyMap<number, string>) {
  const { host, address, tls, reused, timings, steps } = attempt.evidence;
  return {
    number,
    startedAt: formatTimestamp(attempt.startedAt),
    relay: attempt.relay,
    host,
    address,
    tls,
    reused,
    timings,
    steps,
    results: attempt.results.map((result) => resultJson(result, addresses.get(result.index) ?? '')),
  };
}

function resultJson({ outcome }: AttemptResult, recipient: string) {
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
} as const satisfies Record<Outcome['kind'], string>;
