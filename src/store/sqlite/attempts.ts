import { type Attempt, type AttemptResult, type Evidence, NO_EVIDENCE } from '../../domain/attempt.ts';
import { fromJson } from '../columns.ts';
import type { Stamp } from '../store.ts';
import { type AttemptPage, type AttemptRange, MAX_EVIDENCE_BYTES } from '../views.ts';
import type { Books } from './books.ts';
import type { Driver } from './driver.ts';
import type { OpenMessage } from './ledger.ts';
import type { InSnapshot } from './snapshot.ts';

/** A row of `attempts` without its key. */
type AttemptRow = [startedAt: number, relay: string, evidence: string, results: string];

/** The append-only record of attempts. */
export class AttemptLog {
  readonly #books: Books;
  readonly #insert;

  constructor(books: Books) {
    this.#books = books;
    this.#insert = books.db.prepare<[seq: number, number: number, ...AttemptRow]>(
      'INSERT INTO attempts (message, number, started_at, relay, evidence, results) VALUES (?, ?, ?, ?, ?, ?)',
    );
  }

  /** Adds an attempt to an open message; `deferred` when it left some recipient waiting. */
  append(
    message: Pick<OpenMessage, 'seq' | 'attempts'>,
    attempt: Attempt,
    deferred: boolean,
    at: Stamp,
  ): void {
    message.attempts++;
    this.#insert.run(
      message.seq,
      message.attempts,
      attempt.startedAt,
      attempt.relay,
      JSON.stringify(attempt.evidence),
      JSON.stringify(attempt.results),
    );
    if (deferred) this.#books.tallies.count('retried', at);
  }
}

/** Builds the view of attempts: one is read at a time, so that no more is read than a page holds. */
export function attemptsView(db: Driver, inSnapshot: InSnapshot) {
  const seqOf = db.prepare<[id: string], [seq: number]>('SELECT seq FROM messages WHERE id = ?');
  const byNumber = db.prepare<[seq: number, number: number], AttemptRow>(
    'SELECT started_at, relay, evidence, results FROM attempts WHERE message = ? AND number = ?',
  );
  return (id: string, { after, limit }: AttemptRange): AttemptPage =>
    inSnapshot(() => {
      const attempts: Attempt[] = [];
      const seq = seqOf.get(id)?.[0];
      if (seq === undefined) return { attempts, next: null };
      let bytes = 0;
      for (let number = after + 1; ; number++) {
        const row = byNumber.get(seq, number);
        if (row === undefined) return { attempts, next: null };
        if (attempts.length === limit || bytes >= MAX_EVIDENCE_BYTES) return { attempts, next: number - 1 };
        const [, , evidence, results] = row;
        bytes += evidence.length + results.length;
        attempts.push(attemptOf(row));
      }
    });
}

/** Reads a row back. What was not recorded yet when it was written is as if it had not happened. */
function attemptOf([startedAt, relay, evidence, results]: AttemptRow): Attempt {
  const { timings, ...found } = fromJson<Evidence>(evidence);
  return {
    startedAt,
    relay,
    evidence: { ...NO_EVIDENCE, ...found, timings: { ...NO_EVIDENCE.timings, ...timings } },
    results: fromJson<AttemptResult[]>(results).map(({ index, outcome }) => ({
      index,
      outcome: outcome.kind === 'delivered' ? { ...NOT_PASSED, ...outcome } : outcome,
    })),
  };
}

const NOT_PASSED = { dsnPassed: false } as const;
