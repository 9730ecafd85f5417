import { type DeliveryState, deriveStatus } from '../../domain/delivery.ts';
import type { LogPlace } from '../../domain/log-place.ts';
import type { Transition } from '../../domain/settle.ts';
import type { AcceptRecord } from '../accepting.ts';
import { type Contradiction, type Fact, factOf, type QueueUse } from '../applying.ts';
import { classOf, lastErrorOf } from '../columns.ts';
import { BYTES_GAUGE, eventsOf, gaugeOf, type Kept } from '../counting.ts';
import type { UnitRef } from '../leased.ts';
import { type Settlement, type Stamp, StoreError } from '../store.ts';
import type { Books } from './books.ts';
import type { Deliveries } from './deliveries.ts';
import { type Ending, Inserter } from './insert.ts';
import { type AttemptLog, Settling } from './settle.ts';

/** The end of a message whose whole life is in the facts being written: accepted, attempted once, and final. */
interface Finished {
  readonly settlement: Settlement;
  readonly at: Stamp;
}

/** Such messages, by their ids. */
type FinishedMessages = ReadonlyMap<string, Finished>;

/** What is known of a message while facts are scanned. */
interface Story {
  readonly record: AcceptRecord;
  begunAt: number | null;
  end: Finished | null;
  /** It has facts that only the verbs know how to write. */
  isOdd: boolean;
}

/**
 * The messages among these facts that one attempt finished, whatever its outcomes: their final rows are written at once
 * instead of three times. All others are left to the verbs.
 */
function finishedIn(facts: readonly Fact[]): FinishedMessages {
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

/** Whether a settlement ends the whole message, in a way that leaves nothing to look up. */
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
class FinishedWriter {
  readonly #books: Books;
  readonly #attempts: AttemptLog;
  readonly #inserter: Inserter;

  constructor(books: Books, attempts: AttemptLog, inserter: Inserter) {
    this.#books = books;
    this.#attempts = attempts;
    this.#inserter = inserter;
  }

  /** Writes a message accepted at `acceptedAt`, as the verbs would have left it. */
  write(record: AcceptRecord, acceptedAt: Stamp, { settlement, at }: Finished): void {
    const { attempt, transitions } = settlement;
    const { tallies, events, stopping } = this.#books;
    const ending = endingOf(record, settlement, at);
    const seq = this.#inserter.insertEnded(record, acceptedAt, ending);
    this.#attempts.append({ seq, attempts: 0 }, attempt, false, at);
    const gauge = gaugeOf(ending.status, true);
    if (gauge !== null) tallies.gauge(gauge, 1);
    tallies.gauge(BYTES_GAUGE[ending.kept], record.content.length);
    for (const event of eventsOf(ending.status, ending.kept)) tallies.count(event, at);
    for (const [place, transition] of transitions.entries()) {
      const index = settlement.unit.indexes[place] ?? 0;
      const relay = record.deliveries[index]?.relay ?? null;
      events.moved(seq, index, 1, transition, relay, at.now);
      // Captured mail says nothing of an address.
      if (transition.state === 'delivered' && transition.outcome !== 'captured')
        stopping.delivered(record.deliveries[index]?.recipient.address ?? '', record.id);
      if (relay !== null)
        tallies.count(transition.state === 'delivered' ? 'relay_delivered' : 'relay_failed', at, 1, relay);
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
  // A test key's mail lies in the inbox once anybody got it, whatever outcome was played for the others.
  const isCaptured = record.test
    ? counts.delivered > 0
    : counts.failed === 0 && captured === counts.delivered;
  const kept: Kept = isCaptured ? 'captured' : 'sent';
  return { at, status: deriveStatus(counts), counts, kept, lastError, byIndex };
}

/** Called with a fact that contradicts the database, which writes nothing of it. */
type Refused = (contradiction: Contradiction) => void;

/** Builds what writes facts, in order. */
function factWriter(books: Books, deliveries: Deliveries, attempts: AttemptLog) {
  const inserter = new Inserter(books);
  const settling = new Settling(books, deliveries, attempts, inserter);
  const ender = new FinishedWriter(books, attempts, inserter);

  const begin = (units: readonly UnitRef[], at: Stamp, finished: FinishedMessages, refused: Refused) => {
    for (const unit of units)
      if (!finished.has(unit.messageId) && !deliveries.begin(unit, at)) refused({ verb: 'begin', unit });
    books.ledger.discard();
  };
  const settle = (batch: readonly Settlement[], at: Stamp, finished: FinishedMessages, refused: Refused) => {
    for (const settlement of batch) {
      const { unit } = settlement;
      if (!finished.has(unit.messageId) && settling.settle(settlement, at).kind === 'stale')
        refused({ verb: 'settle', unit });
    }
    books.ledger.flush(at);
  };
  const write = (fact: Fact, finished: FinishedMessages, refused: Refused) => {
    switch (fact.verb) {
      case 'accept':
        for (const { record, leased } of fact.batch) {
          const end = finished.get(record.id);
          if (end === undefined) inserter.insertAs(record, leased, fact.at);
          else ender.write(record, fact.at, end);
        }
        return;
      case 'begin':
        return begin(fact.units, fact.at, finished, refused);
      case 'settle':
        return settle(fact.batch, fact.at, finished, refused);
    }
  };

  return (facts: readonly Fact[], refused: Refused) => {
    const finished = finishedIn(facts);
    for (const fact of facts) write(fact, finished, refused);
  };
}

/** Builds the verbs `apply`, `applyLeft` and `logMark`. */
export function applyVerbs(books: Books, deliveries: Deliveries, attempts: AttemptLog) {
  const write = factWriter(books, deliveries, attempts);
  const mark = prepareMark(books.db);
  const flagDuplicate = books.db.prepare<[id: string]>(
    'UPDATE messages SET possible_duplicate = 1 WHERE id = ? AND possible_duplicate = 0',
  );

  const writeAll = (facts: readonly string[], from: LogPlace | null, end: LogPlace, refused: Refused) => {
    const [segment, offset] = mark.get.get() ?? [];
    if (from?.segment !== segment || from?.offset !== offset)
      throw new StoreError('store_busy', 'earlier facts of the log have not been applied');
    write(facts.map(factOf), refused);
    mark.put.run(end.segment, end.offset);
  };

  return {
    apply: (
      facts: readonly string[],
      from: LogPlace | null,
      end: LogPlace,
      keyIds: readonly string[],
    ): QueueUse => {
      writeAll(facts, from, end, (contradiction) => {
        throw failureOf(contradiction);
      });
      return {
        bytes: books.tallies.gaugeNow('queued_bytes'),
        messages: keyIds.map((keyId) => [keyId, books.tallies.queuedNow(keyId)] as const),
      };
    },
    applyLeft: (facts: readonly string[], from: LogPlace | null, end: LogPlace): readonly Contradiction[] => {
      const left: Contradiction[] = [];
      writeAll(facts, from, end, (contradiction) => left.push(contradiction));
      // Not by the ledger, which would decide anew what a final message is kept as; and only now is none open there.
      for (const { unit } of left)
        books.tallies.gauge('possible_duplicates', flagDuplicate.run(unit.messageId));
      return left;
    },
    logMark: (): LogPlace | null => {
      const [segment, offset] = mark.get.get() ?? [];
      return segment === undefined || offset === undefined ? null : { segment, offset };
    },
  };
}

function failureOf({ verb, unit: { messageId, lane, fence } }: Contradiction): StoreError {
  const said = verb === 'begin' ? 'begun' : 'settled';
  return new StoreError(
    'store_failed',
    `the log says that an attempt of ${messageId} was ${said} on ${lane} under fence ${fence}, but the database disagrees. The next start of the server goes on without that, and marks the message as a possible duplicate.`,
  );
}

function prepareMark(db: Books['db']) {
  return {
    put: db.prepare<[segment: number, offset: number]>('INSERT OR REPLACE INTO log_mark VALUES (1, ?, ?)'),
    get: db.prepare<[], [segment: number, offset: number]>('SELECT segment, "offset" FROM log_mark'),
  };
}
