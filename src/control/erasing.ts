import { domainToUnicode } from 'node:url';
import type { Vault } from '../config/secrets.ts';
import { formsOf, type Person } from '../domain/naming.ts';
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
export interface ErasableFiles {
  readonly spool: SearchableSpool;
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
/** When what could not be done is tried again. */
const AGAIN_MS = 30_000;

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

/** The person behind a normal form. */
export function personOf(address: string, pseudonym: string): Person {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  // Empty for what is no domain name, such as an address in brackets.
  return { address, unicodeDomain: domainToUnicode(domain) || domain, pseudonym };
}

/** Works until the signal aborts. Never rejects. */
export async function keepErasing(deps: ErasingDeps): Promise<void> {
  const { erasures, engine, clock, signal } = deps;
  while (!signal.aborted) {
    try {
      const next = async () => (engine.isFirst() ? await erasures.nextErasure(clock.wall()) : null);
      for (let one = await next(); one !== null && !signal.aborted; one = await next()) {
        await attempt(one, deps);
        await clock.sleep(PAUSE_MS, signal);
      }
    } catch (error) {
      tellOf(error, deps);
    }
    await clock.sleep(EVERY_MS, signal);
  }
}

/** One that fails lets the others pass, and is tried again later. */
async function attempt(erasure: Erasure, deps: ErasingDeps): Promise<void> {
  const { erasures, clock } = deps;
  try {
    await advance(erasure, deps);
  } catch (error) {
    tellOf(error, deps);
    const now = await erasures.erasure(erasure.id);
    if (now === null || now.finishedAt !== null) return;
    const notBefore = clock.wall() + AGAIN_MS;
    await erasures.advanceErasure(erasure.id, now.progress, { ...now.progress, notBefore, trouble: FAILED });
  }
}

function tellOf(error: unknown, { log }: ErasingDeps): void {
  if (error instanceof StoreError && error.code === 'store_closed') return;
  log.warn('erasure.failed', { message: error instanceof Error ? error.message : String(error) });
}

const FAILED = 'A step failed, and is tried again; the server’s log says why, as erasure.failed.';
const UNREADABLE = 'The address cannot be read: it was sealed under another secret key. Ask for it again.';

/** Does a slice of an erasure, and writes how far it has come. */
async function advance(erasure: Erasure, deps: ErasingDeps): Promise<void> {
  const { erasures, clock, vault, log } = deps;
  const { id, sealed, pseudonym, progress } = erasure;
  const address = sealed === null ? null : (vault()?.open(sealed, erasureOwner(id)) ?? null);
  if (address === null) {
    await erasures.advanceErasure(id, progress, { ...progress, trouble: UNREADABLE }, clock.wall());
    return;
  }
  const person = personOf(address, pseudonym);
  if (ERASING_STEPS.includes(progress.step)) return await eraseRows(id, person, deps);
  const next = await clearFiles(person, progress, deps);
  const end = next.step === 'done' ? clock.wall() : undefined;
  const isWritten = await erasures.advanceErasure(id, progress, next, end);
  if (isWritten && end !== undefined) log.info('erasure.finished', { erasure: id, person: pseudonym });
}

/** The store writes how far it has come, in the transaction of the slice. */
async function eraseRows(id: string, person: Person, { store, clock, node }: ErasingDeps): Promise<void> {
  const at = () => ({ node, now: clock.wall() });
  const request = { id, person, limit: SLICE };
  const { waiting } = await store.erase({ ...request, holds: true }, at());
  if (waiting.length === 0) return;
  // Mail to nobody else is not sent any more.
  await store.cancel(waiting, at());
  await store.erase({ ...request, holds: false }, at());
}

async function clearFiles(
  person: Person,
  progress: ErasureProgress,
  deps: ErasingDeps,
): Promise<ErasureProgress> {
  if (deps.files === null) return { ...progress, step: 'done', after: null, trouble: null };
  const parts = { ...deps, files: deps.files };
  if (progress.step === 'database') return await clearDatabase(progress, parts);
  return progress.after === null
    ? await searchSpool(person, progress, parts)
    : await clearSpool(progress, parts);
}

type FileDeps = ErasingDeps & { readonly files: ErasableFiles };

/** Notes which segments may hold what was erased. What is written from here on does not, except where others name her. */
async function searchSpool(
  person: Person,
  progress: ErasureProgress,
  { files, store, engine, clock }: FileDeps,
): Promise<ErasureProgress> {
  let below = 0;
  // Not while contents are copied: what was read before it was erased would be written after.
  const isTurned = await engine.undisturbed(async () => {
    below = await files.spool.turn();
  });
  if (!isTurned) return { ...progress, notBefore: clock.wall() + AGAIN_MS, trouble: HELD };
  const existing = await files.spool.existing(below);
  const use = await store.segmentUse(existing);
  const found = await files.spool.containing(formsOf(person), existing);
  const held = new Set([...progress.segments, ...found]);
  // Nothing refers to the others, which may hold copies of anything, and will be removed anyway.
  const segments = existing.filter((segment) => held.has(segment) || (use.get(segment)?.live ?? 0) === 0);
  return { ...progress, after: String(below), segments, trouble: null };
}

/** Empties the segments that were noted, and waits until their files are gone. */
async function clearSpool(
  progress: ErasureProgress,
  { files, engine, clock, signal }: FileDeps,
): Promise<ErasureProgress> {
  const left = async () => {
    const existing = new Set(await files.spool.existing(Number(progress.after)));
    return progress.segments.filter((segment) => existing.has(segment));
  };
  const before = await left();
  if (before.length > 0) await engine.empty(before, signal);
  const segments = before.length > 0 ? await left() : before;
  if (segments.length === 0) return { ...progress, step: 'database', after: null, segments, trouble: null };
  return { ...progress, segments, notBefore: clock.wall() + AGAIN_MS, trouble: REWRITTEN };
}

const HELD = 'The spool is being copied for a backup: it is searched afterwards.';
const REWRITTEN = 'Files of the spool are being rewritten.';
const LARGE = 'The database is larger than 4 GiB: stop the server and run VACUUM on it.';
const READ = 'The database is being read: its file is rewritten later.';

async function clearDatabase(
  progress: ErasureProgress,
  { files, clock }: FileDeps,
): Promise<ErasureProgress> {
  switch (await files.rebuild()) {
    case 'rebuilt':
      return { ...progress, step: 'done', trouble: null };
    case 'large':
      return { ...progress, step: 'done', trouble: LARGE };
    case 'busy':
      return { ...progress, notBefore: clock.wall() + AGAIN_MS, trouble: READ };
  }
}
