import type { Person } from '../domain/naming.ts';
import { PERSONAL_DATA } from './personal-data.ts';

/** Erasing people: who is to be erased, how far that has come, and the slices of the work. Errors are `StoreError`. */
export interface Erasures {
  /** The newest, at most `limit`. */
  erasures(limit: number): Promise<Erasure[]>;
  /** One of them, or null. */
  erasure(id: string): Promise<Erasure | null>;
  /** The one to go on with at `now` (wall ms); null: none is left, or all wait for something. */
  nextErasure(now: number): Promise<Erasure | null>;
  /**
   * Adds one, unless one of the same person is under way. `full`: {@link MAX_UNFINISHED} are under way. Removes finished
   * ones beyond {@link MAX_ERASURES}, the oldest first.
   */
  addErasure(erasure: Erasure): Promise<'added' | 'under_way' | 'full'>;
  /**
   * Writes how far one has come, and with `finishedAt` that it is finished, which removes the address. False: it is no
   * longer where `before` says, and nothing was written.
   */
  advanceErasure(
    id: string,
    before: ErasureProgress,
    progress: ErasureProgress,
    finishedAt?: number,
  ): Promise<boolean>;
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
  /** Messages that say something of the person and were not final when they were last looked for. */
  readonly waiting: number;
  /** All tables were walked, but for those messages. */
  readonly isRest: boolean;
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
  isRest: false,
  segments: [],
  notBefore: 0,
  trouble: null,
};

/**
 * The tables to walk, in this order: a message is found by what the others still say of it, and events are written of what
 * the others still say, such as an entry of the suppression list that is removed meanwhile.
 */
export const ERASING_STEPS: readonly string[] = [
  'messages',
  ...Object.entries(PERSONAL_DATA).flatMap(([table, { address, text, base64 }]) =>
    table !== 'messages' && table !== 'events' && (address ?? text ?? base64) !== undefined ? [table] : [],
  ),
  'events',
];

/** When messages that were still being sent are looked for again, in ms: nothing waits longer. */
const OPEN_AGAIN_MS = 60_000;

/** Whether an erasure can go on at `now` (wall ms): what waits longer than any does was written by a clock that was set back. */
export function mayGoOn({ notBefore }: ErasureProgress, now: number): boolean {
  return notBefore <= now || notBefore > now + OPEN_AGAIN_MS;
}

/** What a slice found and did. */
export interface ErasedSlice {
  /** Where the next slice begins; null: the step is done. */
  readonly after: string | null;
  /** Rows that were rewritten or removed. */
  readonly changed: number;
  /** Messages that say something of the person and are not final: they are left alone. */
  readonly open: readonly OpenMessage[];
  /** Segments that hold contents of messages erased now. */
  readonly segments: readonly number[];
}

/** A message that is not final. */
export interface OpenMessage {
  readonly id: string;
  /** It goes to the person, and to nobody else. */
  readonly alone: boolean;
}

/** How far it has come after a slice that will be done again. */
export function changedBy(progress: ErasureProgress, { changed, segments }: ErasedSlice): ErasureProgress {
  const { step } = progress;
  return {
    ...progress,
    changed:
      changed === 0
        ? progress.changed
        : { ...progress.changed, [step]: (progress.changed[step] ?? 0) + changed },
    segments: [...new Set([...progress.segments, ...segments])],
    trouble: null,
  };
}

/**
 * How far it has come after a slice. Messages that are not final hold nothing else up; once everything else was walked,
 * they are waited for, and then all of it is walked again, since they go on to be told of meanwhile.
 */
export function advancedBy(before: ErasureProgress, slice: ErasedSlice, now: number): ErasureProgress {
  const waiting = before.waiting + slice.open.length;
  const progress = { ...changedBy(before, slice), after: slice.after, waiting };
  if (slice.after !== null) return progress;
  const next = ERASING_STEPS[ERASING_STEPS.indexOf(before.step) + 1];
  if (waiting === 0 || (next !== undefined && !before.isRest)) return { ...progress, step: next ?? 'spool' };
  // From the first message on, and counted anew.
  return {
    ...progress,
    step: 'messages',
    waiting: 0,
    isRest: true,
    notBefore: now + OPEN_AGAIN_MS,
    trouble: waitingWords(waiting),
  };
}

function waitingWords(count: number): string {
  const [messages, are] =
    count === 1 ? ['A message that concerns', 'is'] : [`${count} messages that concern`, 'are'];
  return `${messages} others, too, ${are} not sent yet; what else the records say of the person is erased.`;
}

/** See `Store.erase`. */
export interface EraseRequest {
  /** The erasure's id. */
  readonly id: string;
  readonly person: Person;
  /** Rows to look at. */
  readonly limit: number;
  /** Does not go on beyond a slice with waiting messages that go to the person alone: cancel them first. */
  readonly holds: boolean;
}

/** See `Store.erase`. */
export interface EraseAnswer {
  /** How far it is now; null: it is finished, or no table is left to walk. */
  readonly progress: ErasureProgress | null;
  /** The ids of the messages that `holds` held it for. */
  readonly waiting: readonly string[];
}
