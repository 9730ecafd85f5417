import { expect, test } from 'vitest';
import { Few } from './few.ts';

test('a few work at a time, the others in line, and a failure hands its place over', async () => {
  const few = new Few(2);
  const begun: number[] = [];
  const works = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const done = works.map(({ promise }, place) =>
    few
      .run(() => {
        begun.push(place);
        return promise;
      })
      .catch((error: unknown) => error),
  );
  expect(begun).toEqual([0, 1]);
  works[1]?.reject(new Error('broken'));
  await done[1];
  expect(begun).toEqual([0, 1, 2]);
  for (const { resolve } of works) resolve();
  await Promise.all(done);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  await few.run(() => Promise.resolve());
});

test('who comes next is before all that wait, and after who is inside', async () => {
  const few = new Few(1);
  const inside = Promise.withResolvers<void>();
  const done: string[] = [];
  const note = (name: string) => async () => void done.push(name);
  const works = [few.run(() => inside.promise), few.run(note('second')), few.run(note('third'))];
  works.push(few.runNext(note('next')));
  inside.resolve();
  await Promise.all(works);
  expect(done).toEqual(['next', 'second', 'third']);
  const alone: string[] = [];
  await few.runNext(async () => void alone.push('alone'));
  expect(alone).toEqual(['alone']);
});
