import type { Attempt, AttemptResult, Evidence } from '../../domain/attempt.ts';
import type { Stamp } from '../store.ts';
import type { Books } from './books.ts';
import type { OpenMessage } from './ledger.ts';
import { fromJson } from './rows.ts';

/** A row of `attempts` without its key. */
export type AttemptRow = [startedAt: number, relay: string, evidence: string, results: string];

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
  append(message: OpenMessage, attempt: Attempt, deferred: boolean, at: Stamp): void {
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

/** Reads a row back. */
export function attemptOf([startedAt, relay, evidence, results]: AttemptRow): Attempt {
  return {
    startedAt,
    relay,
    evidence: fromJson<Evidence>(evidence),
    results: fromJson<AttemptResult[]>(results),
  };
}
