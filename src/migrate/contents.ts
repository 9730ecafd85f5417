import { createHash } from 'node:crypto';
import type { ContentRef } from '../domain/message.ts';
import { type Spool, SpoolError } from '../spool/spool.ts';
import { MESSAGES, type Row, reader } from './tables.ts';

/** Most contents held in memory, in bytes; a larger one goes alone. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
/** Contents compared at once: up to 1 MiB of each are in memory, on both sides. */
export const COMPARED_AT_ONCE = 8;

/**
 * The place of contents that were lost before the migration: in no segment, so that they cannot be read here either.
 */
const NOWHERE = { segment: 0, offset: 0 };

const id = reader<string>(MESSAGES, 'id');
const segment = reader<number | null>(MESSAGES, 'segment');
const offset = reader<number | null>(MESSAGES, 'offset');
const length = reader<number | null>(MESSAGES, 'length');
const eightBit = reader<number>(MESSAGES, 'eight_bit');
const utf8 = reader<number>(MESSAGES, 'utf8');
const dotStuffing = reader<number>(MESSAGES, 'dot_stuffing');

/** The contents that a message refers to; null: they were removed. */
export function contentOf(row: Row): ContentRef | null {
  const ref = { segment: segment(row), offset: offset(row), length: length(row) };
  if (ref.segment === null || ref.offset === null || ref.length === null) return null;
  return { segment: ref.segment, offset: ref.offset, length: ref.length };
}

/** Messages with their contents in the other spool, and the references that it holds for them. */
export interface Moved {
  readonly rows: Row[];
  /** Report these as decided once the rows were written, or were not. */
  readonly refs: ContentRef[];
}

/** Copies the contents of messages, durably. Throws `SpoolError`, except for lost contents. */
export async function moveContents(
  rows: readonly Row[],
  from: Pick<Spool, 'read'>,
  to: Pick<Spool, 'append'>,
): Promise<Moved> {
  const refs: ContentRef[] = [];
  const moved: Row[] = [];
  for (const batch of batches(rows)) {
    const read = await Promise.all(batch.map((row) => readBack(row, from)));
    const entries = batch.flatMap((row, place) => {
      const chunks = read[place];
      if (chunks === null || chunks === undefined) return [];
      const flags = {
        eightBit: isSet(eightBit(row)),
        utf8: isSet(utf8(row)),
        dotStuffing: isSet(dotStuffing(row)),
      };
      return [{ messageId: id(row), content: { chunks, sizeBytes: length(row) ?? 0, flags } }];
    });
    const appended = entries.length === 0 ? [] : await to.append(entries);
    refs.push(...appended);
    let next = 0;
    for (const [place, row] of batch.entries()) {
      if (contentOf(row) === null) moved.push(row);
      else moved.push(placedAt(row, read[place] === null ? NOWHERE : (appended[next++] ?? NOWHERE)));
    }
  }
  return { rows: moved, refs };
}

/** The same message with its contents elsewhere. */
export function placedAt(row: Row, place: { readonly segment: number; readonly offset: number }): Row {
  const columns = Object.keys(MESSAGES.columns);
  return row.map((value, column) => {
    if (columns[column] === 'segment') return place.segment;
    return columns[column] === 'offset' ? place.offset : value;
  });
}

/** Rows in order, in batches whose contents fit into memory. */
function* batches(rows: readonly Row[]): Iterable<Row[]> {
  let batch: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    const size = length(row) ?? 0;
    if (batch.length > 0 && bytes + size > MAX_BATCH_BYTES) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(row);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** Whole contents; null: there are none, or they are lost. */
async function readBack(row: Row, from: Pick<Spool, 'read'>): Promise<Uint8Array[] | null> {
  const ref = contentOf(row);
  if (ref === null) return null;
  return await unlessLost(async () => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await from.read(ref)).chunks()) chunks.push(chunk);
    return chunks;
  });
}

/** SHA-256 of contents; null: they are lost. */
export async function digestOf(ref: ContentRef, spool: Pick<Spool, 'read'>): Promise<string | null> {
  return await unlessLost(async () => {
    const hash = createHash('sha256');
    for await (const chunk of (await spool.read(ref)).chunks()) hash.update(chunk);
    return hash.digest('hex');
  });
}

async function unlessLost<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof SpoolError && LOST.has(error.code)) return null;
    throw error;
  }
}

const LOST: ReadonlySet<string> = new Set(['content_damaged', 'content_missing']);

function isSet(flag: number): boolean {
  return flag !== 0;
}
