import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_STEPS, MAX_STORY_BYTES, Story } from './trace.ts';

const step = (verb: string, reply: string, atMs = 0) => ({ verb, reply, atMs });

function tell(steps: readonly ReturnType<typeof step>[]) {
  const story = new Story();
  for (const one of steps) story.add(one);
  return story.steps();
}

test('a short story is told whole', () => {
  const steps = ['CONNECT', 'GREETING', 'EHLO', 'MAIL', 'RCPT', 'DATA', 'DOT'].map((verb) =>
    step(verb, '250 ok'),
  );
  expect(tell(steps)).toEqual(steps);
});

test('of a long one the beginning and the end are kept, and how much is missing', () => {
  const steps = Array.from({ length: 1000 }, (_, index) => step('RCPT', String(index), index));
  const told = tell([...steps, step('DOT', '250 taken', 1000)]);
  expect(told).toHaveLength(MAX_STEPS);
  expect(told.slice(0, 7).map(({ reply }) => reply)).toEqual(['0', '1', '2', '3', '4', '5', '982 more']);
  expect(told.at(-1)).toEqual(step('DOT', '250 taken', 1000));
});

test('whatever is said stays within the bounds, in order, whole characters only, with the last word', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 300, size: 'max' });
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 60 }), (replies) => {
      const told = tell(replies.map((reply, index) => step('X', reply, index)));
      const bytes = told.reduce((sum, { verb, reply }) => sum + verb.length + Buffer.byteLength(reply), 0);
      expect(bytes).toBeLessThanOrEqual(MAX_STORY_BYTES + 20);
      expect(told.length).toBeLessThanOrEqual(MAX_STEPS);
      expect(told.map(({ atMs }) => atMs)).toEqual(told.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
      // What a cut made of half a character begins nothing that was said.
      for (const { verb, reply } of told)
        expect(verb === '…' || replies.some((said) => said.startsWith(reply))).toBe(true);
      const last = replies.at(-1) ?? '';
      expect(last.startsWith(told.at(-1)?.reply ?? '?')).toBe(true);
    }),
    { numRuns: 300 },
  );
});
