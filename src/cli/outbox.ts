import { toSubmission } from '../client/message.ts';
import type { Verdict } from '../client/types.ts';
import type { Waybill } from '../client/waybill.ts';
import { isFinal } from '../domain/delivery.ts';
import type { Clock } from '../lib/clock.ts';
import { OperationError } from '../operations/call.ts';
import type { MessageOperations, StatusRecord, SubmitOperations, Submitted } from '../operations/messages.ts';
import type { Draft } from './draft.ts';
import { Exit } from './exit.ts';
import { sentBy, taken } from './remote.ts';

/** Where `waybill send` hands a message: the installation here, or a server far away. */
export interface Outbox {
  /** Why messages handed over now would not be delivered yet; null when they would. */
  readonly idle: string | null;
  send(draft: Draft, idempotencyKey: string | undefined): Promise<Submitted>;
  /** Checks a message as if it were sent. */
  check(draft: Draft): Promise<Verdict>;
  /**
   * The message's record once it is final, or as it was last seen when the time is over. Throws when it was never
   * seen.
   */
  wait(id: string, waitMs: number): Promise<StatusRecord>;
}

/** What sending here, and waiting for the end, takes. */
type LocalOperations = SubmitOperations & Pick<MessageOperations, 'message'>;

const POLL_MS = 200;

/** The installation here; `running` tells whether its server does. */
export function localOutbox(operations: LocalOperations, running: boolean, clock: Clock): Outbox {
  return {
    idle: running ? null : 'The server does not run; delivery begins when it starts.',
    send: async (draft, idempotencyKey) => {
      if (idempotencyKey !== undefined) throw needsUrl('--idempotency-key');
      return await operations.submit({ message: await submissionOf(draft) });
    },
    check: async (draft) => await operations.checkMessage({ message: await submissionOf(draft) }),
    wait: (id, waitMs) => waitHere(id, waitMs, operations, clock),
  };
}

/** Asks until the message is final or the time is over, also while the server is on its way down and up again. */
async function waitHere(
  id: string,
  waitMs: number,
  operations: LocalOperations,
  clock: Clock,
): Promise<StatusRecord> {
  const endsAt = clock.mono() + waitMs;
  let last: StatusRecord | null = null;
  for (;;) {
    try {
      last = await operations.message({ id });
      if (isFinal(last.status)) return last;
    } catch (error) {
      const passing = error instanceof OperationError && error.code === 'unavailable';
      if (!passing || (last === null && clock.mono() >= endsAt)) throw error;
    }
    if (last !== null && clock.mono() >= endsAt) return last;
    await clock.sleep(POLL_MS);
  }
}

/** A server far away. */
export function remoteOutbox(client: Waybill): Outbox {
  return {
    idle: null,
    send: async (draft, idempotencyKey) => {
      const options = { idempotencyKey };
      if (draft.kind === 'message') return sentBy(await client.send(draft.message, options));
      return sentBy(await client.sendRaw(draft.content, draft.envelope, options));
    },
    check: async (draft) => {
      if (draft.kind === 'message') return taken(await client.check(draft.message));
      return taken(await client.checkRaw(draft.content, draft.envelope));
    },
    // Sound because both are the API's own JSON.
    wait: async (id, waitMs) => taken(await client.wait(id, { timeoutMs: waitMs })) as StatusRecord,
  };
}

async function submissionOf(draft: Draft): Promise<unknown> {
  if (draft.kind === 'raw') throw needsUrl('--raw');
  return await toSubmission(draft.message);
}

/** The refusal of an option that an installation here cannot do. */
export function needsUrl(option: string): Exit {
  return new Exit(2, `${option} goes through the API: name a server with --url and --key-file.`);
}
