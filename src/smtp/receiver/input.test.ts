import { expect, test } from 'vitest';
import { InputBuffer } from './input.ts';

test('bytes come out in their order, and what was passed on is never written over', () => {
  const input = new InputBuffer();
  const passedOn: Buffer[] = [];
  let text = '';
  for (let i = 0; i < 500; i++) {
    const chunk = String(i).repeat((i % 5) + 1);
    text += chunk;
    input.push(Buffer.from(chunk));
    const place = input.start + Math.floor(input.length / 2);
    passedOn.push(input.bytes.subarray(input.start, place));
    input.readTo(place);
  }
  passedOn.push(input.bytes.subarray(input.start, input.end));
  expect(Buffer.concat(passedOn).toString()).toBe(text);
});

test('a chunk is not copied when nothing else waits', () => {
  const input = new InputBuffer();
  const chunk = Buffer.from('abc');
  input.push(chunk);
  expect(input.bytes).toBe(chunk);
});
