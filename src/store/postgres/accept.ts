import type { Queries } from '../../postgres/database.ts';
import type { AcceptAnswer, AcceptRecord, AcceptWish, Foresight, QueueLimits } from '../accepting.ts';
import type { Stamp } from '../store.ts';
import { type Contents, weightOf } from './contents.ts';
import type { Call, Work } from './work.ts';
import { Repeats, Room } from './work.ts';

/** A call of the verb `accept`, with the contents that its records refer to unless they are written already. */
export function acceptCall(
  batch: readonly AcceptRecord[],
  at: Stamp,
  limits: QueueLimits | undefined,
  contents?: Contents,
): Call<AcceptAnswer[]> {
  const deliveries = batch.reduce((sum, record) => sum + record.deliveries.length, 0);
  return {
    at,
    contents,
    weight: deliveries + (contents === undefined ? 0 : weightOf(contents)),
    needs: {
      lanes: batch.flatMap(shortLanes),
      repeats: batch,
      room: limits === undefined ? null : batch.map(({ keyId }) => keyId),
    },
    decide: (work) => batch.map((record) => acceptOne(work, record, limits)),
  };
}

function acceptOne(work: Work, record: AcceptRecord, limits: QueueLimits | undefined): AcceptAnswer {
  const { repeats, room, desk, at } = work;
  const wish = { keyId: record.keyId, sizeBytes: record.content.length, idempotency: record.idempotency };
  const refusal = repeats.refusalOf(wish, at.now) ?? (limits ? room.refusalOf(wish, limits) : null);
  if (refusal !== null) return refusal;
  repeats.remember(wish, record.id, at.now);
  room.take(wish);
  return { kind: 'accepted', leased: desk.enter(record, at) };
}

/** The verb `foresee`. It locks nothing: others may be quicker, and `accept` decides. */
export async function foresee(
  db: Queries,
  wishes: readonly AcceptWish[],
  now: number,
  limits: QueueLimits,
): Promise<Foresight[]> {
  const repeats = new Repeats(db);
  const room = new Room(db);
  await repeats.look(wishes);
  await room.look(wishes.map(({ keyId }) => keyId));
  return wishes.map((wish): Foresight => {
    const answer =
      repeats.refusalOf(wish, now) ?? room.refusalOf(wish, limits) ?? ({ kind: 'fits' } as const);
    if (answer.kind === 'fits') room.take(wish);
    return { answer, ...room.left(wish.keyId, limits) };
  });
}

function shortLanes({ deliveries }: AcceptRecord): string[] {
  return deliveries.flatMap(({ lane, fence }) => (lane !== null && fence !== null ? [lane] : []));
}
