import { describe, expect, it } from 'vitest';
import { slotsFor, Throttle } from './throttle.ts';

const throttle = (maxConcurrency: number) => new Throttle({ maxConcurrency, maxRatePerSecond: 0 });

describe('what may be claimed of lanes that share slots', () => {
  it('is twice what may be under way, less what is in hand', () => {
    const slots = throttle(10);
    expect(slots.claimRoom).toBe(20);
    slots.inHand = 15;
    expect(slots.claimRoom).toBe(5);
    slots.inHand = 25;
    expect(slots.claimRoom).toBe(0);
  });

  it('is nothing while slots are busy and there is room for a few only', () => {
    const slots = throttle(10);
    slots.begin(0);
    slots.inHand = 15;
    expect(slots.claimRoom).toBe(5);
    slots.inHand = 16;
    expect(slots.claimRoom).toBe(0);
    slots.end();
    expect(slots.claimRoom).toBe(4);
  });

  it('is once more of that for high priority, when hands are full of other mail', () => {
    const slots = throttle(10);
    slots.begin(0);
    slots.inHand = 20;
    expect([slots.claimRoom, slots.claimRoomForHigh]).toEqual([0, 10]);
    slots.inHand = 29;
    expect(slots.claimRoomForHigh).toBe(1);
    slots.inHand = 40;
    expect(slots.claimRoomForHigh).toBe(0);
  });
});

it('keeps one slot in ten from bulk, and one of two or more', () => {
  expect([1, 2, 9, 10, 19, 20, 100].map((slots) => slotsFor('bulk', slots))).toEqual([
    1, 1, 8, 9, 18, 18, 90,
  ]);
  expect([1, 2, 20].map((slots) => slotsFor('normal', slots))).toEqual([1, 2, 20]);
});
