import type { IngestRooms } from '../../app/mail-parts.ts';
import type { ContentPart, ContentRef } from '../../domain/message.ts';
import type { RouteFacts } from '../../domain/route-match.ts';
import type { AdminCaller, AdminDoor } from '../../ingest/service.ts';
import type { Way } from '../../preflight/contract.ts';
import type { Spool, SpoolContent } from '../../spool/spool.ts';
import type { Rooms } from './line.ts';
import { type PackedSubmission, unpackSubmission } from './messages.ts';
import type { OpenedContent } from './remote-rooms.ts';

/** Contents that one ingest thread may have open at once; beyond it, the least recently read is closed. */
const MAX_OPEN_CONTENTS = 2_000;

/** The operations that one ingest thread waits for, by its number for the call. */
export type CallsUnderWay = Map<number, AbortController>;

/** What one ingest thread may ask of the service: {@link IngestRooms}, as far as values can be sent. */
export function engineRooms(
  rooms: IngestRooms,
  calls: CallsUnderWay,
  tellStep: (call: number, step: unknown) => void,
): Rooms {
  const { intake, views, acts, desk, dmarcDesk, keyring, signing, suppressions, templates, requests } = rooms;
  return {
    views,
    acts,
    desk,
    dmarcDesk,
    keyring,
    signing,
    suppressions,
    templates,
    requests,
    intake: {
      accept: (packed: readonly PackedSubmission[], together: boolean) =>
        intake.accept(packed.map(unpackSubmission), together),
      plan: (packed: PackedSubmission) => intake.plan(unpackSubmission(packed)),
      explain: (facts: RouteFacts) => intake.explain(facts),
    },
    words: { read: rooms.readWords },
    preflight: {
      message: (sizeBytes: number, bytes: Uint8Array, way: Way, asker: string) =>
        rooms.preflight.message(sizeBytes, () => bytes, way, asker),
    },
    outlook: { look: rooms.outlook },
    spool: servedContents(rooms.spool),
    admin: servedAdmin(rooms.admin, calls, tellStep),
  };
}

function servedAdmin(
  admin: AdminDoor,
  calls: CallsUnderWay,
  tellStep: (call: number, step: unknown) => void,
): object {
  return {
    begin: async (call: number) => void calls.set(call, new AbortController()),
    call: async (call: number, caller: AdminCaller, operation: string, request: unknown) => {
      const { signal } = calls.get(call) ?? new AbortController();
      try {
        const progress = { tell: (step: unknown) => tellStep(call, step), signal };
        return await admin.call(caller, operation, request, progress);
      } finally {
        calls.delete(call);
      }
    },
    act: (caller: AdminCaller, operation: string, request: unknown) => admin.act(caller, operation, request),
  };
}

/** Returns contents piece by piece, on demand. */
function servedContents(spool: Pick<Spool, 'read'>): object {
  const open = new Map<number, SpoolContent>();
  const begun = new Map<number, Iterator<Uint8Array> | AsyncIterator<Uint8Array>>();
  let lastHandle = 0;
  const close = async (handle: number) => {
    const pieces = begun.get(handle);
    begun.delete(handle);
    open.delete(handle);
    await pieces?.return?.();
  };
  return {
    open: async (ref: ContentRef, part: ContentPart | null): Promise<OpenedContent> => {
      const content = await spool.read(ref, part);
      const handle = ++lastHandle;
      open.set(handle, content);
      const [oldest] = open.keys();
      if (open.size > MAX_OPEN_CONTENTS && oldest !== undefined) await close(oldest);
      return { handle, sizeBytes: content.sizeBytes };
    },
    next: async (handle: number): Promise<Uint8Array | null> => {
      const content = open.get(handle);
      if (content === undefined) throw new Error('this content is open no longer');
      // Deleted and set again, so that the map's order is that of the last read.
      open.delete(handle);
      open.set(handle, content);
      const pieces = begun.get(handle) ?? piecesOf(content);
      begun.set(handle, pieces);
      const { done, value } = await pieces.next();
      // A piece may be part of a larger buffer, which would be sent along.
      return done === true ? null : new Uint8Array(value);
    },
    close,
  };
}

function piecesOf(content: SpoolContent): Iterator<Uint8Array> | AsyncIterator<Uint8Array> {
  const chunks = content.chunks();
  return Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
}
