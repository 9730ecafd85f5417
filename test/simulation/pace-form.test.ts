/** That what one relay cannot express waits for another of its group that can, however that one does at the moment. */
import { expect, test } from 'vitest';
import { type Answer, answerBy, NO_FORM, putOff, TAKEN, type Tried } from './pace-answers.ts';
import { DAY, PaceWorld, smarthost } from './pace-world.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** A group of relays of these names; `first` may have so many a day. */
async function worldOf(names: readonly string[], answer: (tried: Tried) => Answer, maxPerDay = 0) {
  const relays = names.map((name, place) => smarthost(name, { maxPerDay: place === 0 ? maxPerDay : 0 }));
  const world = new PaceWorld({ relays });
  const attempts = answerBy(world, answer);
  await world.bear();
  return {
    world,
    relaysOf: (token: string) => attempts.filter((one) => one.token === token).map(({ relay }) => relay),
  };
}

async function outcomeOf(world: PaceWorld, id: string | undefined) {
  const { status, outcome } = (await world.views.message(id ?? ''))?.message ?? {};
  return [status, outcome];
}

test('it goes back to one that put it off', async () => {
  const { world, relaysOf } = await worldOf(['a', 'b'], ({ relay, number }) =>
    relay === 'b' ? NO_FORM : number === 0 ? putOff(450) : TAKEN,
  );
  const [id] = await world.submit('m-', 1);
  await world.run(HOUR, () => relaysOf('m-0').length === 3);
  await world.run(SECOND);
  expect(relaysOf('m-0')).toEqual(['a', 'b', 'a']);
  expect(await outcomeOf(world, id)).toEqual(['delivered', 'accepted']);
});

test('it waits for one that has had what it may have today', async () => {
  const { world, relaysOf } = await worldOf(['a', 'b'], ({ relay }) => (relay === 'b' ? NO_FORM : TAKEN), 1);
  await world.submit('m-', 1);
  await world.run(SECOND);
  const [id] = await world.submit('n-', 1);
  await world.run(10 * SECOND);
  expect(relaysOf('n-0')).toEqual(['b']);
  world.skipToDay(DAY + 1);
  await world.run(60 * SECOND);
  expect(relaysOf('n-0')).toEqual(['b', 'a']);
  expect(await outcomeOf(world, id)).toEqual(['delivered', 'accepted']);
});

test('it waits for one that rests', async () => {
  let isIll = true;
  const { world, relaysOf } = await worldOf(['a', 'b'], ({ relay, token }) =>
    relay === 'a'
      ? token === 'm-0'
        ? putOff(450)
        : NO_FORM
      : isIll
        ? putOff(421, { hopFailed: true })
        : TAKEN,
  );
  await world.submit('m-', 1);
  await world.run(600);
  const [id] = await world.submit('n-', 1);
  await world.run(300);
  expect(relaysOf('n-0')).toEqual(['a']);
  expect(await outcomeOf(world, id)).toEqual(['retrying', null]);
  isIll = false;
  await world.run(HOUR, () => relaysOf('n-0').length === 2);
  await world.run(SECOND);
  expect(relaysOf('n-0')).toEqual(['a', 'b']);
  expect(await outcomeOf(world, id)).toEqual(['delivered', 'accepted']);
});

test('one that has not been asked is asked at once, before one that put it off', async () => {
  const { world, relaysOf } = await worldOf(['a', 'b', 'c'], ({ relay }) =>
    relay === 'a' ? putOff(450) : relay === 'b' ? NO_FORM : TAKEN,
  );
  const [id] = await world.submit('m-', 1);
  await world.run(SECOND);
  expect(relaysOf('m-0')).toEqual(['a', 'b', 'c']);
  expect(await outcomeOf(world, id)).toEqual(['delivered', 'accepted']);
});

test('it fails when none is left, each asked once', async () => {
  const { world, relaysOf } = await worldOf(['a', 'b', 'c'], () => NO_FORM);
  const [id] = await world.submit('m-', 1);
  await world.run(10 * SECOND);
  expect(relaysOf('m-0')).toEqual(['a', 'b', 'c']);
  expect(await outcomeOf(world, id)).toEqual(['failed', 'rejected']);
});

test('one that refused it is not asked again, however often the other puts it off', async () => {
  let isDone = false;
  const { world, relaysOf } = await worldOf(['a', 'b'], ({ relay }) =>
    relay === 'a' ? NO_FORM : isDone ? TAKEN : putOff(450),
  );
  const [id] = await world.submit('m-', 1);
  await world.run(HOUR, () => relaysOf('m-0').length >= 4);
  isDone = true;
  await world.run(HOUR, () => relaysOf('m-0').length >= 5);
  await world.run(SECOND);
  expect(relaysOf('m-0')).toEqual(['a', 'b', 'b', 'b', 'b']);
  expect(await outcomeOf(world, id)).toEqual(['delivered', 'accepted']);
});
