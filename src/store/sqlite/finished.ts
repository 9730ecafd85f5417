import { type DeliveryState, deriveStatus } from '../../domain/delivery.ts';
import type { Transition } from '../../domain/settle.ts';
import type { AcceptRecord } from '../accepting.ts';
import type { Fact } from '../applying.ts';
import { BYTES_GAUGE, gaugeOf, type Kept } from '../counting.ts';
import { classOf, lastErrorOf } from '../last-error.ts';
import type { Settlement, Stamp } from '../store.ts';
import type { AttemptLog } from './attempts.ts';
import type { Books } from './books.ts';
import type { Ending, Inserter } from './insert.ts';

/** How a message ended whose whole story is in the facts that are being written: accepted, tried once, and over. */
interface Finished {
  readonly settlement: Settlement;
  readonly at: Stamp;
}

/** Such messages, by their ids. */
export type FinishedMessages = ReadonlyMap<string, Finished>;

/** What is known of a message while facts are looked through. */
interface Story {
  readonly record: AcceptRecord;
  begunAt: number | null;
  end: Finished | null;
  /** Something was told of it that only the verbs know how to write. */
  isOdd: boolean;
}

/**
 * The messages among facts that one attempt finished, whatever its outcomes: the one set of rows that they come to is
 * written at once, instead of three times. All others are left to the verbs.
 */
export function finishedIn(facts: readonly Fact[]): FinishedMessages {
  const stories = new Map<string, Story>();
  for (const fact of facts) read(fact, stories);
  const finished = new Map<string, Finished>();
  for (const [id, { end, isOdd }] of stories) if (end !== null && !isOdd) finished.set(id, end);
  return finished;
}

function read(fact: Fact, stories: Map<string, Story>): void {
  switch (fact.verb) {
    case 'accept':
      for (const { record, leased } of fact.batch)
        if (leased.every(Boolean)) stories.set(record.id, { record, begunAt: null, end: null, isOdd: false });
      return;
    case 'begin':
      for (const unit of fact.units) {
        const story = stories.get(unit.messageId);
        if (story === undefined) continue;
        story.begunAt = fact.at.now;
        story.isOdd ||= unit.indexes.length !== story.record.deliveries.length;
      }
      return;
    case 'settle':
      for (const settlement of fact.batch) {
        const story = stories.get(settlement.unit.messageId);
        if (story === undefined) continue;
        story.isOdd ||= story.end !== null || !isPlain(settlement, story);
        story.end = { settlement, at: fact.at };
      }
  }
}

/** Whether a settlement ends a message, all of it, in a way that leaves nothing to be looked at. */
function isPlain(
  { unit, attempt, transitions, report, refund, delayReported }: Settlement,
  story: Story,
): boolean {
  if (attempt.startedAt !== story.begunAt || unit.indexes.length !== story.record.deliveries.length)
    return false;
  if (report !== null || refund !== null || delayReported.length > 0) return false;
  return transitions.every(({ state, possibleDuplicate }) => state !== 'retrying' && !possibleDuplicate);
}

/** Writes finished messages. */
export class FinishedWriter {
  readonly #books: Books;
  readonly #attempts: AttemptLog;
  readonly #inserter: Inserter;

  constructor(books: Books, attempts: AttemptLog, inserter: Inserter) {
    this.#books = books;
    this.#attempts = attempts;
    this.#inserter = inserter;
  }

  /** Writes a message that was accepted at `acceptedAt`, as the verbs would have left it. */
  write(record: AcceptRecord, acceptedAt: Stamp, { settlement, at }: Finished): void {
    const { attempt, transitions } = settlement;
    const { tallies } = this.#books;
    const ending = endingOf(record, settlement, at);
    const seq = this.#inserter.insertEnded(record, acceptedAt, ending);
    this.#attempts.append({ seq, attempts: 0 }, attempt, false, at);
    const gauge = gaugeOf(ending.status, true);
    if (gauge !== null) tallies.gauge(gauge, 1);
    tallies.gauge(BYTES_GAUGE[ending.kept], record.content.length);
    if (ending.status === 'delivered' || ending.status === 'failed') tallies.count(ending.status, at);
    for (const [place, { state }] of transitions.entries()) {
      const relay = record.deliveries[settlement.unit.indexes[place] ?? 0]?.relay;
      if (relay !== undefined && relay !== null)
        tallies.count(state === 'delivered' ? 'relay_delivered' : 'relay_failed', at, 1, relay);
    }
  }
}

function endingOf(record: AcceptRecord, { unit, attempt, transitions }: Settlement, at: Stamp): Ending {
  const counts: Record<DeliveryState, number> = {
    queued: 0,
    processing: 0,
    retrying: 0,
    delivered: 0,
    failed: 0,
  };
  const byIndex = new Map<number, Transition>();
  let captured = 0;
  let lastError = null;
  for (const [place, transition] of transitions.entries()) {
    const index = unit.indexes[place] ?? 0;
    byIndex.set(index, transition);
    counts[transition.state]++;
    if (transition.outcome === 'captured') captured++;
    const address = record.deliveries[index]?.recipient.address ?? '';
    if (transition.state !== 'delivered')
      lastError = lastErrorOf(transition.reply, classOf(attempt, index), address);
  }
  const kept: Kept = counts.failed === 0 && captured === counts.delivered ? 'captured' : 'sent';
  return { at, status: deriveStatus(counts), counts, kept, lastError, byIndex };
}
