import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textEnd } from './text-run.ts';

test('text ends at the first byte that is CR or less, wherever it stands and whatever is around it', () => {
  const byte = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 9, 10, 13, 14, 127, 128, 255));
  const bytes = fc
    .uint8Array({ maxLength: 40 })
    .chain((some) => fc.array(byte, { maxLength: 40 }).map((more) => [...some, ...more]));
  fc.assert(
    fc.property(bytes, fc.nat(80), fc.nat(80), (values, first, second) => {
      const [from, end] = [first, second]
        .map((place) => Math.min(place, values.length))
        .sort((a, b) => a - b);
      if (from === undefined || end === undefined) throw new Error('two places');
      const found = values.slice(from, end).findIndex((value) => value <= 13);
      const view = new DataView(Uint8Array.from(values).buffer);
      expect(textEnd(view, from, end)).toBe(found < 0 ? end : from + found);
    }),
    { numRuns: 5000 },
  );
});

test('every byte value is judged rightly at every place of a word', () => {
  for (let place = 0; place < 8; place++)
    for (let value = 0; value < 256; value++) {
      const bytes = new Uint8Array(8).fill(0xff);
      bytes[place] = value;
      expect(textEnd(new DataView(bytes.buffer), 0, 8)).toBe(value <= 13 ? place : 8);
    }
});
