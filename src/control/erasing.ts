import type { Vault } from '../config/secrets.ts';
import { formsOf, type Person } from '../domain/erasing.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { PSEUDONYM_INFO } from '../lib/pseudonym.ts';
import type { SearchableSpool } from '../spool/spool.ts';
import { ERASING_STEPS, type Erasure, type ErasureProgress, type Erasures } from '../store/erasing.ts';
import { type Store, StoreError } from '../store/store.ts';

/**
 * Erases the people whom operators asked to be erased, a slice at a time (docs/privacy.md). How far it has come is stored
 * after each slice, and a slice may be done twice, so that a killed process goes on where it was.
 */

/** Files in which deleted bytes may be left. */
export interface ErasableFiles extends SearchableSpool {
  /** See `rebuild` in `store/sqlite/connection.ts`. */
  rebuild(): Promise<'rebuilt' | 'busy' | 'large'>;
}

/** What the work needs. */
export interface ErasingDeps {
  readonly erasures: Erasures;
  readonly store: Pick<Store, 'erase' | 'cancel' | 'segmentUse'>;
  readonly files: ErasableFiles | null;
  readonly engine: Engine['erasing'];
  readonly clock: Clock;
  readonly log: Log;
  readonly node: string;
  /** Opens the sealed addresses. */
  readonly vault: () => Vault | null;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** How often it looks for something to do. */
const EVERY_MS = 1_000;
/** Rows that a slice looks at. */
const SLICE = 1_000;
/** The pause after a slice: others come first. */
const PAUSE_MS = 20;
/** When messages that were still being sent are looked for again. */
const OPEN_AGAIN_MS = 60_000;
/** When files that could not be cleared are tried again. */
const FILES_AGAIN_MS = 30_000;

/** Names the secret key to the stores, and gives them the key of pseudonyms. */
export async function holdKeys(
  stores: {
    holdSecretKey(keyId: string): Promise<void>;
    holdPseudonymKey(key: Uint8Array): Promise<void>;
  },
  vault: Vault,
): Promise<void> {
  await stores.holdSecretKey(vault.keyId);
  await stores.holdPseudonymKey(vault.derive(PSEUDONYM_INFO));
}

/** What names the owner of a sealed address to the vault. */
export function erasureOwner(id: string): string {
  return `erasure ${id}`;
}

/** Works until the signal aborts. Never rejects. */
export async function keepErasing(deps: ErasingDeps): Promise<void> {
  const { erasures, engine, clock, log, signal } = deps;
  while (!signal.aborted) {
    try {
      let next = engine.isFirst() ? await erasures.nextErasure() : null;
      while (next !== null && next.progress.notBefore <= clock.wall() && !signal.aborted) {
        await advance(next, deps);
        await clock.sleep(PAUSE_MS, signal);
        next = await erasures.nextErasure();
      }
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'store_closed'))
        log.warn('erasure.failed', { message: error instanceof Error ? error.message : String(error) });
    }
    await clock.sleep(EVERY_MS, signal);
  }
}

/** Does a slice of an erasure, and writes how far it has come. */
async function advance(erasure: Erasure, deps: ErasingDeps): Promise<void> {
  const { erasures, clock, vault, log } = deps;
  const { id, sealed, pseudonym } = erasure;
  const address = sealed === null ? null : (vault()?.open(sealed, erasureOwner(id)) ?? null);
  if (address === null) {
    const trouble = 'The address cannot be read: it was sealed under another secret key. Ask for it again.';
    const progress = { ...erasure.progress, trouble };
    await erasures.advanceErasure({ ...erasure, sealed: null, finishedAt: clock.wall(), progress });
    return;
  }
  const progress = await slice({ address, pseudonym }, erasure.progress, deps);
  const isDone = progress.step === 'done';
  const ended = isDone ? { sealed: null, finishedAt: clock.wall() } : { sealed, finishedAt: null };
  await erasures.advanceErasure({ id, progress, ...ended });
  if (isDone) log.info('erasure.finished', { erasure: id, person: pseudonym });
}

async function slice(person: Person, progress: ErasureProgress, deps: ErasingDeps): Promise<ErasureProgress> {
  switch (progress.step) {
    case 'spool':
      return await clearSpool(person, progress, deps);
    case 'database':
      return await clearDatabase(progress, deps);
    default:
      return await eraseRows(person, progress, deps);
  }
}

async function eraseRows(
  person: Person,
  progress: ErasureProgress,
  { store, clock, node }: ErasingDeps,
): Promise<ErasureProgress> {
  const { step, after } = progress;
  const at = () => ({ node, now: clock.wall() });
  const request = { person, step, after, limit: SLICE };
  let answer = await store.erase(request, at());
  let { changed } = answer;
  const hers = answer.open.filter(({ alone }) => alone).map(({ id }) => id);
  if (hers.length > 0) {
    // Mail to nobody else is not sent any more.
    await store.cancel(hers, at());
    answer = await store.erase(request, at());
    changed += answer.changed;
  }
  const grown: ErasureProgress = {
    ...progress,
    changed:
      changed === 0
        ? progress.changed
        : { ...progress.changed, [step]: (progress.changed[step] ?? 0) + changed },
    segments: [...new Set([...progress.segments, ...answer.segments])],
    waiting: progress.waiting + answer.open.length,
    after: answer.after,
    trouble: null,
  };
  return answer.after === null ? afterTable(grown, clock) : grown;
}

/** The next step. Messages that are not final are waited for before anything else is looked at. */
function afterTable(progress: ErasureProgress, clock: Clock): ErasureProgress {
  const { step, waiting } = progress;
  if (step === 'messages' && waiting > 0)
    return {
      ...progress,
      // From the first message on, and counted anew.
      waiting: 0,
      after: null,
      notBefore: clock.wall() + OPEN_AGAIN_MS,
      trouble: waitingWords(waiting),
    };
  const next = ERASING_STEPS[ERASING_STEPS.indexOf(step) + 1];
  return { ...progress, step: next ?? 'spool', after: null };
}

function waitingWords(count: number): string {
  return count === 1
    ? 'A message to several recipients is still being sent.'
    : `${count} messages to several recipients are still being sent.`;
}

/** Empties the segments that still hold what was erased, and waits until they are gone. */
async function clearSpool(
  person: Person,
  progress: ErasureProgress,
  { files, store, engine, clock, signal }: ErasingDeps,
): Promise<ErasureProgress> {
  if (files === null) return { ...progress, step: 'done', after: null };
  // What is written from here on no longer names the person, except where others do.
  const below = progress.after === null ? await files.turn() : Number(progress.after);
  const left = await segmentsLeft(person, progress, below, files, store);
  if (left.length === 0) return { ...progress, step: 'database', after: null, trouble: null };
  await engine.empty(left, signal);
  const still = await segmentsLeft(person, progress, below, files, store);
  const trouble = still.length === 0 ? null : 'Files of the spool are being rewritten.';
  const notBefore = still.length === 0 ? 0 : clock.wall() + FILES_AGAIN_MS;
  return { ...progress, after: String(below), notBefore, trouble };
}

async function segmentsLeft(
  person: Person,
  { segments }: ErasureProgress,
  below: number,
  files: ErasableFiles,
  store: Pick<Store, 'segmentUse'>,
): Promise<number[]> {
  const named = await files.containing(formsOf(person), below);
  // A segment that is gone has no use recorded.
  const use = await store.segmentUse(segments);
  const held = segments.filter((segment) => segment < below && (use.get(segment)?.live ?? 0) > 0);
  return [...new Set([...named, ...held])];
}

async function clearDatabase(
  progress: ErasureProgress,
  { files, clock }: ErasingDeps,
): Promise<ErasureProgress> {
  const result = (await files?.rebuild()) ?? 'rebuilt';
  switch (result) {
    case 'rebuilt':
      return { ...progress, step: 'done', trouble: null };
    case 'large':
      return {
        ...progress,
        step: 'done',
        trouble: 'The database is larger than 4 GiB: stop the server and run VACUUM on it.',
      };
    case 'busy':
      return {
        ...progress,
        notBefore: clock.wall() + FILES_AGAIN_MS,
        trouble: 'The database is being read: its file is rewritten later.',
      };
  }
}
