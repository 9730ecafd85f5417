import { toSubmission } from '../client/message.ts';
import type { Verdict } from '../client/types.ts';
import type { Waybill } from '../client/waybill.ts';
import type { MessageOperations, StatusRecord, Submitted } from '../control/operations.ts';
import type { Clock } from '../lib/clock.ts';
import type { Draft } from './draft.ts';
import { Exit } from './exit.ts';
import { taken } from './remote.ts';

/** Where `waybill send` hands a message: the installation here, or a server far away. */
export interface Outbox {
  /** Why messages handed over now would not be delivered yet; null when they would. */
  readonly idle: string | null;
  send(draft: Draft, idempotencyKey: string | undefined): Promise<Submitted>;
  /** Checks a message as if it were sent. */
  check(draft: Draft): Promise<Verdict>;
  /** The message's record once it is final, or as it stands when the time is over. */
  wait(id: string, waitMs: number): Promise<StatusRecord>;
}

const POLL_MS = 200;

/** The installation here; `running` tells whether its server does. */
export function localOutbox(operations: MessageOperations, running: boolean, clock: Clock): Outbox {
  return {
    idle: running ? null : 'The server does not run; delivery begins when it starts.',
    send: async (draft, idempotencyKey) => {
      if (idempotencyKey !== undefined) throw needsUrl('--idempotency-key');
      return await operations.submit({ message: await submissionOf(draft) });
    },
    check: async (draft) => await operations.checkMessage({ message: await submissionOf(draft) }),
    wait: async (id, waitMs) => {
      const deadline = clock.mono() + waitMs;
      for (;;) {
        const record = await operations.message({ id });
        const isFinal = record.status === 'delivered' || record.status === 'failed';
        if (isFinal || clock.mono() >= deadline) return record;
        await clock.sleep(POLL_MS);
      }
    },
  };
}

/** A server far away. */
export function remoteOutbox(client: Waybill): Outbox {
  return {
    idle: null,
    send: async (draft, idempotencyKey) => {
      const options = { idempotencyKey };
      if (draft.kind === 'message') return taken(await client.send(draft.message, options));
      return taken(await client.sendRaw(draft.content, draft.envelope, options));
    },
    check: async (draft) => {
      if (draft.kind === 'raw') throw new Exit(2, '--dry-run does not go with --raw.');
      return taken(await client.check(draft.message));
    },
    // Sound because both are the API's own JSON.
    wait: async (id, waitMs) => taken(await client.wait(id, { timeoutMs: waitMs })) as StatusRecord,
  };
}

async function submissionOf(draft: Draft): Promise<unknown> {
  if (draft.kind === 'raw') throw needsUrl('--raw');
  return await toSubmission(draft.message);
}

function needsUrl(option: string): Exit {
  return new Exit(2, `${option} goes through the API: name a server with --url and --key-file.`);
}
