import { describe, expect, it } from 'vitest';
import { collectExport, type ExportProgress, rowCounter } from './export-dialog.tsx';

const encode = (text: string) => new TextEncoder().encode(text);

/** Counts with the text cut at every place. */
function countAnyhow(format: 'csv' | 'json', text: string): Set<number> {
  const bytes = encode(text);
  return new Set(
    Array.from({ length: bytes.length + 1 }, (_, cut) => {
      const count = rowCounter(format);
      count(bytes.subarray(0, cut));
      return count(bytes.subarray(cut));
    }),
  );
}

describe('rows of an export', () => {
  it('are the lines of CSV but its header, those between quotes aside, however it arrives', () => {
    expect(countAnyhow('csv', 'id,subject\r\n1,a\r\n2,"two\r\nlines ""x"""\r\n')).toEqual(new Set([2]));
  });

  it('are none before the header has come', () => {
    expect(rowCounter('csv')(encode('id,sub'))).toBe(0);
  });

  it('are the outermost objects of JSON, one a line or in a list', () => {
    expect(countAnyhow('json', '{"a":{"b":"}{\\"}"}}\n{"a":1}\n')).toEqual(new Set([2]));
    expect(countAnyhow('json', '[{"a":1},\n{"a":"\\\\"},{}]')).toEqual(new Set([3]));
  });
});

it('an export is collected whole, and tells how far it is', async () => {
  const text = `id\n${'12345\n'.repeat(1_000_000)}`;
  const told: ExportProgress[] = [];
  const blob = await collectExport(new Response(text), 'csv', (progress) => told.push(progress));
  expect(blob.size).toBe(text.length);
  expect(told.at(-1)).toEqual({ rows: 1_000_000, bytes: text.length });
});

it('an export that breaks off is an error', async () => {
  const body = new ReadableStream({
    start: (controller) => {
      controller.enqueue(encode('id\n1\n'));
      controller.error(new Error('gone'));
    },
  });
  await expect(collectExport(new Response(body), 'csv', () => {})).rejects.toThrow('gone');
});
