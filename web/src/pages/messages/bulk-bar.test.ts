import { expect, it } from 'vitest';
import { ACT_CHUNK, actedSentence, actInChunks, reasonsOf } from './bulk-bar.tsx';

const ids = Array.from({ length: 2 * ACT_CHUNK + 7 }, (_, index) => `msg_${index}`);
const never = new AbortController().signal;

it('acts on all of them, so many at a time, and gives what became of each', async () => {
  const sizes: number[] = [];
  const told: number[] = [];
  const answer = await actInChunks(
    ids,
    async (part) => {
      sizes.push(part.length);
      return { acted: part.length - 1, refused: [{ id: part[0] ?? '', reason: 'final' }] };
    },
    (done) => told.push(done),
    never,
  );
  expect(sizes).toEqual([ACT_CHUNK, ACT_CHUNK, 7]);
  expect(told).toEqual([ACT_CHUNK, 2 * ACT_CHUNK, ids.length]);
  expect(answer).toEqual({
    acted: ids.length - 3,
    refused: [0, 1, 2].map((n) => ({ id: `msg_${n * ACT_CHUNK}`, reason: 'final' })),
  });
});

it('goes no further once it is stopped', async () => {
  const stop = new AbortController();
  const answer = await actInChunks(
    ids,
    async (part) => ({ acted: part.length, refused: [] }),
    () => stop.abort(),
    stop.signal,
  );
  expect(answer.acted).toBe(ACT_CHUNK);
});

it('gathers what was left alone by its reason', () => {
  expect(
    reasonsOf([
      { id: 'msg_1', reason: 'is final' },
      { id: 'msg_2', reason: 'msg_2 is of a test key' },
      { id: 'msg_3', reason: 'is final' },
    ]),
  ).toEqual([
    { reason: 'is final', ids: ['msg_1', 'msg_3'] },
    { reason: 'it is of a test key', ids: ['msg_2'] },
  ]);
});

it('says what was done', () => {
  expect(actedSentence('retry', { acted: 1, refused: [] })).toBe('1 message will be tried again now.');
  expect(actedSentence('cancel', { acted: 2, refused: [{ id: 'msg_1', reason: 'x' }] })).toBe(
    '2 messages cancelled. 1 message left alone.',
  );
});
