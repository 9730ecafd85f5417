import { NewestMap } from '../../lib/newest-map.ts';
import type { Database } from '../../postgres/database.ts';
import { type ContentKeys, type SegmentKey, wrappedUnder } from '../sealing.ts';
import { SpoolError } from '../spool.ts';
import { asSpool } from './insert.ts';

/** Segments whose keys are remembered. */
const REMEMBERED = 1000;

/** The keys of encrypted segments, which lie wrapped beside them; a segment without one is not encrypted. */
export class KeysOfSegments {
  readonly #database: Database;
  readonly #keys: ContentKeys | null;
  readonly #known = new NewestMap<number, SegmentKey | null>(REMEMBERED);

  constructor(database: Database, keys: ContentKeys | null) {
    this.#database = database;
    this.#keys = keys;
  }

  /** Whether new segments are encrypted. */
  get encrypting(): boolean {
    return this.#keys?.encrypting === true;
  }

  /** Names the key that wraps; null if there is none. */
  get keyId(): string | null {
    return this.#keys?.keyId ?? null;
  }

  /** A key for a new segment; null: it is not to be encrypted. */
  make(): SegmentKey | null {
    return this.encrypting ? (this.#keys?.make() ?? null) : null;
  }

  /** How many segments there are, and how many of them are encrypted. Throws `SpoolError`. */
  async count(): Promise<{ readonly segments: number; readonly encrypted: number }> {
    const [row] = await asSpool(this.#database.rows<{ segments: number; encrypted: number }>(COUNT, []));
    return row ?? { segments: 0, encrypted: 0 };
  }

  /** A new segment has this key. */
  remember(segment: number, key: SegmentKey | null): void {
    this.#known.set(segment, key);
  }

  /** The key of a segment; null: it is not encrypted. Throws `SpoolError`, also `spool_other_key` and `content_damaged`. */
  async of(segment: number): Promise<SegmentKey | null> {
    const known = this.#known.get(segment);
    if (known !== undefined) return known;
    const [row] = await asSpool(this.#database.rows<{ wrapped: Buffer | null }>(WRAPPED, [segment]));
    const wrapped = row?.wrapped ?? null;
    const key = wrapped === null ? null : this.#unwrap(segment, wrapped);
    // A segment that is gone may be one that is yet to be seen.
    if (row !== undefined) this.#known.set(segment, key);
    return key;
  }

  #unwrap(segment: number, wrapped: Uint8Array): SegmentKey {
    if (wrappedUnder(wrapped) !== this.#keys?.keyId) throw otherKey(segment, wrapped, this.#keys);
    const key = this.#keys.unwrap(wrapped);
    if (key === null) throw damagedKey(segment);
    return key;
  }
}

function damagedKey(segment: number): SpoolError {
  return new SpoolError('content_damaged', `the key of segment ${segment} is not what was written`);
}

function otherKey(segment: number, wrapped: Uint8Array, keys: ContentKeys | null): SpoolError {
  const ours = keys === null ? 'there is no key' : `the present one is ${keys.keyId}`;
  return new SpoolError(
    'spool_other_key',
    `The contents in segment ${segment} are encrypted under another secret.key: ${ours}, theirs is ${wrappedUnder(wrapped)}. Put back the secret.key that was there before: docs/encryption.md.`,
  );
}

const COUNT = `SELECT count(*)::integer AS segments, count(wrapped_key)::integer AS encrypted
  FROM spool_segments WHERE NOT emptied`;
const WRAPPED = 'SELECT wrapped_key AS wrapped FROM spool_segments WHERE segment = $1';
