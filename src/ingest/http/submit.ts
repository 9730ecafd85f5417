import { INBOX } from '../../domain/relay.ts';
import type { Intake, Suspension } from '../../engine/intake.ts';
import { Problem } from '../../http/problem.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import type { Semaphore } from '../../lib/semaphore.ts';
import type { Views } from '../../store/views.ts';
import type { Call, Endpoint } from './call.ts';
import type { IngestOptions } from './options.ts';
import { type FieldReaders, readFields, SUBMIT_READERS } from './read-fields.ts';
import { buildSubmission } from './submission.ts';

/** `POST /api/v1/messages`: a request becomes a submission, the submission a message (contract §2). */

/** What submitting needs. */
export interface SubmitDeps {
  readonly intake: Intake;
  readonly views: Pick<Views, 'message'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly options: Pick<IngestOptions, 'hostname' | 'limits'>;
  /** Bytes of bodies in memory. */
  readonly budget: Semaphore;
  /** Makes the unique part of a Message-ID. */
  readonly nextToken: () => string;
}

/** What the client gets for a message that is now ours. */
export interface Receipt {
  readonly id: string;
  /** The Message-ID with its angle brackets. */
  readonly messageId: string;
  readonly message: string;
  /** It is the first answer's once more (`Idempotency-Key`). */
  readonly replayed: boolean;
}

const QUEUED = 'Queued for delivery.';
const CAPTURED = 'Captured in the local inbox; nothing will be sent.';

/** The endpoint. */
export function submitEndpoint(deps: SubmitDeps): Endpoint {
  return {
    scopes: ['messages:send'],
    window: 'send',
    scheme: 'bearer',
    handle: async (call) => {
      const { id, message, replayed } = await submit(call, SUBMIT_READERS, deps);
      const location = { Location: `/api/v1/messages/${id}` };
      const headers = replayed ? { ...location, 'Idempotency-Replayed': 'true' } : location;
      call.exchange.json(202, { id, message, status: 'queued' }, headers);
    },
  };
}

/**
 * Reads, checks and hands over one submission; resolves when the message is durable. Throws a `Problem`: 503
 * suspended, 415, 413, 400, 403, 409, in this order.
 */
export async function submit(call: Call, readers: FieldReaders, deps: SubmitDeps): Promise<Receipt> {
  const { exchange, caller, sourceAddress } = call;
  const suspension = deps.intake.suspended(caller.key.id);
  if (suspension !== null) throw suspended(suspension);
  const { options, budget, clock, random } = deps;
  const { hostname, limits } = options;
  const read = await readFields(exchange, readers, { limits, budget });
  const submission = buildSubmission(
    read,
    {
      key: caller.key,
      sourceAddress,
      requestId: exchange.requestId,
      secure: exchange.secure,
      now: clock.wall(),
      random,
      hostname,
      token: deps.nextToken(),
      idempotencyKey: exchange.headers['idempotency-key']?.toString() ?? null,
    },
    limits,
  );
  const [answer] = await deps.intake.accept([submission]);
  const { messageId } = submission.header;
  switch (answer?.kind) {
    case 'accepted':
      return { id: answer.id, messageId, message: answer.captured ? CAPTURED : QUEUED, replayed: false };
    case 'replayed':
      return firstReceipt(answer.id, messageId, deps.views);
    case 'idempotency_mismatch':
      throw new Problem(409, 'idempotency_mismatch', 'This Idempotency-Key was used for another submission.');
    case 'suspended':
      throw suspended(answer.suspension);
    default:
      throw new Error('the intake gave no answer');
  }
}

/** The first answer once more, told from what was stored then. */
async function firstReceipt(id: string, messageId: string, views: SubmitDeps['views']): Promise<Receipt> {
  const first = await views.message(id);
  const captured =
    first !== null && (first.message.test || first.recipients.every(({ relay }) => relay === INBOX));
  return {
    id,
    messageId: first?.message.header.messageId ?? messageId,
    message: captured ? CAPTURED : QUEUED,
    replayed: true,
  };
}

function suspended({ code, detail, retryAfterSeconds }: Suspension): Problem {
  return new Problem(503, code, detail, { headers: { 'Retry-After': String(retryAfterSeconds) } });
}
