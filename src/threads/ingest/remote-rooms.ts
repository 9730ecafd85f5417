import type { IngestRooms } from '../../app/mail-parts.ts';
import type { Config } from '../../config/schema.ts';
import { maxRequestBytes } from '../../dashboard/calls.ts';
import type { ContentPart, ContentRef } from '../../domain/message.ts';
import type { Intake } from '../../engine/contract.ts';
import type { AdminDoor, AdminProgress, LanesSeen } from '../../ingest/service.ts';
import type { Finding } from '../../preflight/contract.ts';
import type { SpoolContent } from '../../spool/spool.ts';
import { type Line, remote } from './line.ts';
import type { FromIngest, ToIngest } from './messages.ts';

type EngineLine = Line<FromIngest, ToIngest>;

/** The rest of the service as an ingest thread sees it: the delivering thread answers all calls. */
export function remoteRooms(
  line: EngineLine,
  intake: Intake,
  steps: StepsHeard,
  config: () => Config,
): IngestRooms {
  const room = <Room extends object>(name: string) => remote<Room>((...asked) => line.ask(...asked), name);
  return {
    intake,
    views: room('views'),
    acts: room('acts'),
    desk: room('desk'),
    dmarcDesk: room('dmarcDesk'),
    keyring: room('keyring'),
    signing: room('signing'),
    suppressions: room('suppressions'),
    templates: room('templates'),
    requests: room('requests'),
    readWords: (message) => line.ask('words', 'read', [message]) as ReturnType<IngestRooms['readWords']>,
    preflight: {
      message: async (sizeBytes, load, way, asker) =>
        (await line.ask('preflight', 'message', [sizeBytes, await load(), way, asker])) as readonly Finding[],
    },
    outlook: (messages) => line.ask('outlook', 'look', [messages]) as Promise<LanesSeen>,
    spool: { read: (ref, part = null) => readRemote(ref, part, line) },
    admin: remoteAdmin(line, steps, config),
  };
}

/** The progress listeners of operations, by the number of the call. */
export type StepsHeard = Map<number, AdminProgress['tell']>;

function remoteAdmin(line: EngineLine, steps: StepsHeard, config: () => Config): AdminDoor {
  let lastCall = 0;
  return {
    maxRequestBytes: (operation) => maxRequestBytes(operation, config().api.maxMessageBytes),
    call: async (caller, operation, request, { tell, signal }) => {
      const call = ++lastCall;
      const abort = () => line.tell({ kind: 'abort', call });
      steps.set(call, tell);
      try {
        // Begun before it can be aborted: within one message, notes are heard before calls.
        await line.ask('admin', 'begin', [call]);
        if (signal.aborted) abort();
        signal.addEventListener('abort', abort, { once: true });
        return await line.ask('admin', 'call', [call, caller, operation, request]);
      } finally {
        steps.delete(call);
        signal.removeEventListener('abort', abort);
      }
    },
    act: (caller, operation, request) => line.ask('admin', 'act', [caller, operation, request]),
  };
}

/** Contents opened at the other end. */
export interface OpenedContent {
  readonly handle: number;
  readonly sizeBytes: number;
}

async function readRemote(
  ref: ContentRef,
  part: ContentPart | null,
  line: EngineLine,
): Promise<SpoolContent> {
  const { handle, sizeBytes } = (await line.ask('spool', 'open', [ref, part])) as OpenedContent;
  return {
    sizeBytes,
    async *chunks() {
      try {
        for (;;) {
          const piece = (await line.ask('spool', 'next', [handle])) as Uint8Array | null;
          if (piece === null) return;
          yield piece;
        }
      } finally {
        await line.ask('spool', 'close', [handle]);
      }
    },
  };
}
