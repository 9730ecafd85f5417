import type { LogPlace } from '../../domain/log-place.ts';
import { type Fact, factOf, type QueueUse } from '../applying.ts';
import { type Settlement, type Stamp, StoreError, type UnitRef } from '../store.ts';
import type { AttemptLog } from './attempts.ts';
import type { Books } from './books.ts';
import type { Deliveries } from './deliveries.ts';
import { type FinishedMessages, FinishedWriter, finishedIn } from './finished.ts';
import { Inserter } from './insert.ts';
import { Settling } from './settle.ts';

/** Builds the verbs `apply` and `logMark`. */
export function applyVerbs(books: Books, deliveries: Deliveries, attempts: AttemptLog) {
  const inserter = new Inserter(books);
  const settling = new Settling(books, deliveries, attempts, inserter);
  const ender = new FinishedWriter(books, attempts, inserter);
  const mark = prepareMark(books.db);

  const begin = (units: readonly UnitRef[], at: Stamp, finished: FinishedMessages) => {
    for (const unit of units)
      if (!finished.has(unit.messageId) && !deliveries.begin(unit, at)) throw contradiction('begun', unit);
    books.ledger.discard();
  };
  const settle = (batch: readonly Settlement[], at: Stamp, finished: FinishedMessages) => {
    for (const settlement of batch)
      if (!finished.has(settlement.unit.messageId) && settling.settle(settlement, at).kind === 'stale')
        throw contradiction('settled', settlement.unit);
    books.ledger.flush(at);
  };
  const write = (fact: Fact, finished: FinishedMessages) => {
    switch (fact.verb) {
      case 'accept':
        for (const { record, leased } of fact.batch) {
          const end = finished.get(record.id);
          if (end === undefined) inserter.insertAs(record, leased, fact.at);
          else ender.write(record, fact.at, end);
        }
        return;
      case 'begin':
        return begin(fact.units, fact.at, finished);
      case 'settle':
        return settle(fact.batch, fact.at, finished);
    }
  };

  return {
    apply: (
      facts: readonly string[],
      from: LogPlace | null,
      end: LogPlace,
      keyIds: readonly string[],
    ): QueueUse => {
      const [segment, offset] = mark.get.get() ?? [];
      if (from?.segment !== segment || from?.offset !== offset)
        throw new StoreError('store_busy', 'what comes before it in the log has not been applied');
      const read = facts.map(factOf);
      const finished = finishedIn(read);
      for (const fact of read) write(fact, finished);
      mark.put.run(end.segment, end.offset);
      return {
        bytes: books.tallies.gaugeNow('queued_bytes'),
        messages: keyIds.map((keyId) => [keyId, books.tallies.queuedNow(keyId)] as const),
      };
    },
    logMark: (): LogPlace | null => {
      const [segment, offset] = mark.get.get() ?? [];
      return segment === undefined || offset === undefined ? null : { segment, offset };
    },
  };
}

function contradiction(what: string, { messageId, lane, fence }: UnitRef): StoreError {
  return new StoreError(
    'store_failed',
    `the log says that ${messageId} was ${what} on ${lane} under fence ${fence}, where the database has it otherwise`,
  );
}

function prepareMark(db: Books['db']) {
  return {
    put: db.prepare<[segment: number, offset: number]>('INSERT OR REPLACE INTO log_mark VALUES (1, ?, ?)'),
    get: db.prepare<[], [segment: number, offset: number]>('SELECT segment, "offset" FROM log_mark'),
  };
}
