import { expect } from 'vitest';
import { deriveStatus, isFinal } from '../../../src/domain/delivery.ts';
import type { LaneDepth, WaitingQuery } from '../../../src/store/views.ts';
import { attemptsOf, read, type Subject } from './fixtures.ts';

/** What of a store's history its deliveries do not tell. */
export interface History {
  /** Of every message. Their contents lie in segment 1. */
  readonly ids: readonly string[];
  /** How many messages reached the status, today. */
  readonly ended: Readonly<Record<'delivered' | 'failed', number>>;
}

/** Compares what the store keeps by differences with what its deliveries say at `now` (wall ms). */
export async function expectDerived(subject: Subject, { ids, ended }: History, now: number): Promise<void> {
  const { views, store } = subject;
  const messages = { incoming: 0, processing: 0, failed: 0 };
  const queues = new Map<string, number>();
  const bytes = { queued: 0, sent: 0, captured: 0 };
  let live = 0;
  for (const id of ids) {
    const { message: record, recipients } = await read(views, id);
    const counts = { queued: 0, processing: 0, retrying: 0, delivered: 0, failed: 0 };
    for (const { state } of recipients) counts[state]++;
    const status = deriveStatus(counts);
    expect(record.status).toBe(status);
    const { content, keyId, outcome } = record;
    if (content !== null) live++;
    if (status === 'processing') messages.processing++;
    else if (status === 'failed') messages.failed += content === null ? 0 : 1;
    else if (status !== 'delivered') messages.incoming++;
    const share = !isFinal(status) ? 'queued' : outcome === 'captured' ? 'captured' : 'sent';
    bytes[share] += content?.length ?? 0;
    if (share === 'queued' && keyId !== null) queues.set(keyId, (queues.get(keyId) ?? 0) + 1);
    expect(await attemptsOf(views, record.id)).toHaveLength(record.attempts);
    const listed = await views.list({ owner: 'all', statuses: [status], before: null, limit: 200 });
    expect(listed.messages.map((one) => one.id)).toContain(record.id);
  }
  const figures = await views.figures(now);
  expect(figures.spool).toEqual(messages);
  expect(figures.queuedBytes).toBe(bytes.queued);
  expect(figures.today).toMatchObject({ received: ids.length, ...ended });
  const books = await subject.books();
  expect(books).toMatchObject({ sentBytes: bytes.sent, capturedBytes: bytes.captured });
  expect(new Map([...books.queues].filter(([, count]) => count !== 0))).toEqual(queues);
  expect(await store.liveSegments([1])).toEqual(new Map([[1, live]]));
  await expectLanes(subject, ids, figures.oldestDueAt, now);
}

/** Lanes are named like their relays here. */
async function expectLanes(
  { views }: Subject,
  ids: readonly string[],
  oldestDueAt: number | null,
  now: number,
): Promise<void> {
  const depths = new Map<string, Omit<LaneDepth, 'lane'>>();
  const waiting = new Map<string | null, string[]>([[null, []]]);
  for (const id of ids)
    for (const { index, state, relay, dueAt } of (await read(views, id)).recipients) {
      const waits = state === 'queued' || state === 'retrying';
      expect(dueAt !== null).toBe(waits);
      if (waits) waiting.set(relay, [...(waiting.get(relay) ?? []), `${id}/${index}`]);
      if (relay === null || isFinal(state)) continue;
      const old = depths.get(relay) ?? { waiting: 0, processing: 0, oldestDueAt: null };
      depths.set(relay, {
        waiting: old.waiting + (waits ? 1 : 0),
        processing: old.processing + (waits ? 0 : 1),
        oldestDueAt: earlier(old.oldestDueAt, dueAt),
      });
    }
  const lanes = await views.lanes(null, 9);
  expect(new Map(lanes.map(({ lane, ...rest }) => [lane, rest]))).toEqual(depths);
  const oldest = [...depths.values()].reduce<number | null>(
    (first, one) => earlier(first, one.oldestDueAt),
    null,
  );
  expect(oldestDueAt).toBe(oldest !== null && oldest <= now ? oldest : null);
  const shown = async (lane: WaitingQuery['lane']) =>
    (await views.waiting({ lane, after: null, limit: 1_000 })).deliveries
      .map(({ messageId, index }) => `${messageId}/${index}`)
      .sort();
  expect(await shown('all')).toEqual([...waiting.values()].flat().sort());
  for (const [relay, wanted] of waiting)
    expect(await shown(relay === null ? 'none' : { name: relay })).toEqual(wanted.sort());
}

function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
