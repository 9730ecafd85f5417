import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { testKeys } from '../../test/support/content-keys.ts';
import { bytesOf, entryOf, readAll } from '../../test/support/spool-entry.ts';
import { openSegmentSpool } from '../spool/segments/segment-spool.ts';
import type { Spool, SpoolEntry } from '../spool/spool.ts';
import { contentOf, digestOf, moveContents } from './contents.ts';
import { MESSAGES, type Row } from './tables.ts';

const MIB = 1024 * 1024;

let folder: string;
let from: Spool;
let to: Spool;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'waybill-contents-'));
  // Contents that are encrypted here need not be there.
  from = await openSegmentSpool({ directory: join(folder, 'from'), keys: testKeys(), onFailure() {} });
  to = await openSegmentSpool({ directory: join(folder, 'to'), onFailure() {} });
});
afterEach(async () => {
  await from.close();
  await to.close();
  rmSync(folder, { recursive: true });
});

/** Messages with these contents; null is one whose contents were removed. */
async function rowsWith(entries: readonly (SpoolEntry | null)[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const entry of entries) {
    const [ref] = entry === null ? [] : await from.append([entry]);
    const place = ref ?? { segment: null, offset: null, length: null };
    const fields: Record<string, string | number | null> = {
      id: entry?.messageId ?? 'msg_without',
      eight_bit: 0,
      utf8: 0,
      dot_stuffing: 0,
      ...place,
    };
    rows.push(Object.keys(MESSAGES.columns).map((column) => fields[column] ?? null));
  }
  return rows;
}

test('contents go in batches of 8 MiB at most, and a larger one alone', async () => {
  const sizes = [3, 3, 3, 9, 1].map((mebibytes) => mebibytes * MIB);
  const entries = sizes.map((size, place) => entryOf(Buffer.alloc(size, place)));
  const rows = await rowsWith([...entries.slice(0, 2), null, ...entries.slice(2)]);
  const batches: number[][] = [];
  const append: Spool['append'] = (batch) => {
    batches.push(batch.map(({ content }) => content.sizeBytes / MIB));
    return to.append(batch);
  };
  const moved = await moveContents(rows, from, { append });
  expect(batches).toEqual([[3, 3], [3], [9], [1]]);
  expect(moved.refs).toHaveLength(entries.length);
  expect(contentOf(moved.rows[2] ?? [])).toBeNull();
  for (const [place, row] of moved.rows.filter((_, at) => at !== 2).entries()) {
    const ref = contentOf(row);
    const entry = entries[place];
    if (ref === null || entry === undefined) throw new Error('a message came without its contents');
    expect((await readAll(await to.read(ref))).equals(bytesOf(entry))).toBe(true);
  }
});

test('contents that are lost lie nowhere afterwards, and the others where they belong', async () => {
  const entries = [entryOf('one'), entryOf('two'), entryOf('three')];
  const rows = await rowsWith(entries);
  const offset = Object.keys(MESSAGES.columns).indexOf('offset');
  const spoilt = rows.map((row, place) => (place === 1 ? row.with(offset, 7) : row));
  const moved = await moveContents(spoilt, from, to);
  const refs = moved.rows.map(contentOf);
  expect(refs[1]).toEqual({ segment: 0, offset: 0, length: 3 });
  expect(await Promise.all(refs.map((ref) => (ref === null ? null : digestOf(ref, to))))).toEqual([
    expect.stringMatching(/^7692c3ad/),
    null,
    expect.stringMatching(/^8b5b9db0/),
  ]);
});
