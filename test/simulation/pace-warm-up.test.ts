/** That a relay which warms up never has more than its step, and that nothing is lost by it. */
import { describe, expect, test } from 'vitest';
import { daily, FIRST_DAY, SCHEDULE, warmUp } from './warm-up.ts';

const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
const dayOf = (hours: readonly number[] | undefined, day: number) =>
  sum(hours?.slice(day * 24, day * 24 + 24) ?? []);

describe('a warm-up of three days', () => {
  test('with another relay behind it has each step to the last, and spills the rest the same hour', async () => {
    const { taken, accepted, world } = await warmUp(3, daily, true);
    for (const [day, step] of SCHEDULE.entries()) {
      expect(dayOf(taken['new'], day)).toBe(step);
      expect(world.hop.tookOn('new', FIRST_DAY + day)).toBe(step);
    }
    // Whatever came in was sent within the hour, by one or the other.
    for (const [hour, count] of accepted.entries())
      expect((taken['new']?.[hour] ?? 0) + (taken['old']?.[hour] ?? 0), `hour ${hour}`).toBe(count);
    // Each new day begins with the relay that warms up.
    for (const day of SCHEDULE.keys()) expect(taken['new']?.[day * 24]).toBe(daily(0));
    expect([world.missing(), world.doubled()]).toEqual([[], []]);
  });

  test('with none behind it has each step to the last, and the rest waits for its day', async () => {
    const { taken, world } = await warmUp(4, () => 30, false);
    for (const [day, step] of SCHEDULE.entries()) expect(dayOf(taken['new'], day)).toBe(step);
    // After the last step there is no limit: what waited goes at once.
    expect(taken['new']?.[72]).toBe(72 * 30 - sum(SCHEDULE) + 30);
    expect([world.missing(), world.doubled()]).toEqual([[], []]);
  });
});
