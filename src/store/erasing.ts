import type { Person } from '../domain/erasing.ts';
import { PERSONAL_DATA } from './personal-data.ts';

/** Erasing people: who is to be erased, how far that has come, and the slices of the work. Errors are `StoreError`. */
export interface Erasures {
  /** The newest, at most `limit`. */
  erasures(limit: number): Promise<Erasure[]>;
  /** One of them, or null. */
  erasure(id: string): Promise<Erasure | null>;
  /** The oldest that is not finished; null: nothing is left to do. */
  nextErasure(): Promise<Erasure | null>;
  /**
   * Adds one, unless one of the same person is under way. `full`: {@link MAX_UNFINISHED} are under way. Removes finished
   * ones beyond {@link MAX_ERASURES}, the oldest first.
   */
  addErasure(erasure: Erasure): Promise<'added' | 'under_way' | 'full'>;
  /** Writes how far one has come, and that it is finished. */
  advanceErasure(erasure: Pick<Erasure, 'id' | 'sealed' | 'finishedAt' | 'progress'>): Promise<void>;
}

/** Most erasures that are under way or wait, and most that are kept in all. */
export const MAX_UNFINISHED = 1_000;
export const MAX_ERASURES = 10_000;

/** One person to be erased. Times are wall ms. */
export interface Erasure {
  /** `era_…` */
  readonly id: string;
  readonly pseudonym: string;
  /** The address, sealed; null once it is finished. */
  readonly sealed: string | null;
  readonly requestedAt: number;
  readonly finishedAt: number | null;
  readonly progress: ErasureProgress;
}

/** How far an erasure has come. */
export interface ErasureProgress {
  /** One of {@link ERASING_STEPS}, or `spool`, `database`, `done`. */
  readonly step: string;
  /** Where the step goes on, as the store said; null: at its beginning. */
  readonly after: string | null;
  /** Rows that were rewritten, or removed, by table. */
  readonly changed: Readonly<Record<string, number>>;
  /** Messages to the person that were still being sent when they were last looked for. */
  readonly waiting: number;
  /** Segments that held contents of erased messages. */
  readonly segments: readonly number[];
  /** Not before (wall ms): it waits for messages to end, or for room. */
  readonly notBefore: number;
  /** Why it cannot go on for now; null: it can. */
  readonly trouble: string | null;
}

/** Where an erasure begins. */
export const BEGINNING: ErasureProgress = {
  step: 'messages',
  after: null,
  changed: {},
  waiting: 0,
  segments: [],
  notBefore: 0,
  trouble: null,
};

/** The tables to walk, in this order: a message is found by what the others still say of it. */
export const ERASING_STEPS: readonly string[] = [
  'messages',
  ...Object.entries(PERSONAL_DATA).flatMap(([table, { text, base64 }]) =>
    table !== 'messages' && (text !== undefined || base64 !== undefined) ? [table] : [],
  ),
];

/** See `Store.erase`. */
export interface EraseRequest {
  readonly person: Person;
  /** A table of `PERSONAL_DATA`. */
  readonly step: string;
  /** Where the last slice of the step ended; null: the first. */
  readonly after: string | null;
  /** Rows to look at. */
  readonly limit: number;
}

/** See `Store.erase`. */
export interface EraseAnswer {
  /** Where the next slice begins; null: the step is done. */
  readonly after: string | null;
  /** Rows that were rewritten or removed. */
  readonly changed: number;
  /** Messages to, or of, the person that are not final: they are left alone. */
  readonly open: readonly OpenMessage[];
  /** Segments that hold contents of messages erased now. */
  readonly segments: readonly number[];
}

/** A message that is not final. */
export interface OpenMessage {
  readonly id: string;
  /** It goes to nobody else. */
  readonly alone: boolean;
}
