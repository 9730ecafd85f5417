import { expect, test } from 'vitest';
import { PieceWriter } from './content-scanner.ts';

function piece(chunk: Buffer, change: (writer: PieceWriter) => void): Buffer {
  const writer = new PieceWriter();
  writer.open(chunk, 0);
  change(writer);
  writer.close(chunk.length);
  const taken = writer.take();
  expect(writer.take()).toHaveLength(0);
  return taken;
}

const CHUNK = Buffer.from('0123456789');

test('bytes left out at both ends cost no copy', () => {
  const taken = piece(CHUNK, (writer) => {
    writer.skip(0, 2);
    writer.skip(8, 1);
    writer.skip(9, 1);
  });
  expect(taken.toString()).toBe('234567');
  expect(taken.buffer).toBe(CHUNK.buffer);
});

test('changes within make one copy', () => {
  const taken = piece(CHUNK, (writer) => {
    writer.insert(0, '<');
    writer.skip(3, 2);
    writer.insert(5, 'ab');
    writer.insert(10, '>');
  });
  expect(taken.toString()).toBe('<012ab56789>');
});

test('more may be put in than the chunk is long', () => {
  const taken = piece(CHUNK, (writer) => {
    for (let at = 0; at < 10; at++) writer.insert(at, '-'.repeat(50));
  });
  expect(taken.toString()).toBe([...CHUNK.toString()].map((byte) => '-'.repeat(50) + byte).join(''));
});

test('nothing remains of nothing', () => {
  expect(piece(Buffer.alloc(0), () => {})).toHaveLength(0);
});
