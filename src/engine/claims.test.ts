import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DueTimes } from './claims.ts';

test('what has come due comes out in order, and nothing else', () => {
  const times = fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 200 });
  fc.assert(
    fc.property(times, fc.integer({ min: 0, max: 1000 }), (all, now) => {
      const due = new DueTimes<number>();
      for (const at of all) due.add(at, at);
      const sorted = [...all].sort((a, b) => a - b);
      expect(due.take(now)).toEqual(sorted.filter((at) => at <= now));
      expect(due.next()).toBe(sorted.find((at) => at > now) ?? null);
      expect(due.take(1000)).toEqual(sorted.filter((at) => at > now));
      expect(due.next()).toBeNull();
    }),
  );
});
