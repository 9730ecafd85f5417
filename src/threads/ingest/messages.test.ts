import fc from 'fast-check';
import { expect, test } from 'vitest';
import { submissionNamed } from '../../../test/simulation/scene.ts';
import { packSubmission, unpackSubmission } from './messages.ts';

/** As it arrives in another thread. */
function sent(chunks: readonly Uint8Array[]) {
  const sizeBytes = chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const plain = submissionNamed('a', 2);
  const submission = { ...plain, content: { ...plain.content, chunks, sizeBytes } };
  const transfer: ArrayBuffer[] = [];
  const packed = packSubmission(submission, transfer);
  return { submission, transfer, arrived: structuredClone(packed, { transfer }) };
}

test('a submission arrives as it was, its contents in one piece', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 20_000 }), { maxLength: 5 }), (chunks) => {
      const { submission, arrived } = sent(chunks);
      const { content, ...facts } = unpackSubmission(arrived);
      const { content: before, ...factsBefore } = submission;
      expect(facts).toEqual(factsBefore);
      expect({ ...content, chunks: [] }).toEqual({ ...before, chunks: [] });
      expect(content.chunks).toEqual([Buffer.concat(chunks)]);
    }),
    { numRuns: 50 },
  );
});

test('a piece of a large buffer does not take that along', () => {
  const { arrived } = sent([Buffer.alloc(65_536, 'x').subarray(10, 20)]);
  expect(arrived.bytes.buffer.byteLength).toBe(10);
});

test('large contents are moved, and copied only into one piece', () => {
  expect(sent([Buffer.alloc(16_384)]).transfer).toEqual([]);
  const { transfer, arrived } = sent([Buffer.alloc(16_384), Buffer.alloc(1)]);
  expect(transfer.map(({ byteLength }) => byteLength)).toEqual([0]);
  expect(arrived.bytes.byteLength).toBe(16_385);
});
