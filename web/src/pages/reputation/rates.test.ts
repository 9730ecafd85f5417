import { describe, expect, it } from 'vitest';
import {
  bounceWords,
  complaintTone,
  complaintWords,
  figuresByDay,
  figuresOf,
  type RateCounts,
} from './rates.ts';

function counts(change: Partial<RateCounts> = {}): RateCounts {
  return { delivered: [0], failed: [0], bounced: [0], complained: [0], ...change };
}

const of = (change: Partial<RateCounts>) => figuresOf(counts(change));

describe('rates', () => {
  it('take what came back for one recipient, not for two', () => {
    const { bounceRate, complaintRate } = of({
      delivered: [90],
      failed: [15],
      bounced: [5],
      complained: [9],
    });
    expect(bounceRate).toBe(0.15);
    expect(complaintRate).toBe(0.1);
  });

  it('are none where there was no mail, and never more than all', () => {
    expect(of({})).toMatchObject({ bounceRate: null, complaintRate: null });
    expect(of({ delivered: [1], complained: [2] }).complaintRate).toBe(1);
    // It had been delivered the day before.
    expect(of({ failed: [1], bounced: [1] }).bounceRate).toBeNull();
  });

  it('are worked out by day, and told in words with their counts', () => {
    const told = {
      delivered: [1, 2, 0, 0],
      failed: [0, 2, 1, 0],
      bounced: [0, 0, 1, 0],
      complained: [0, 1, 0, 0],
    };
    const days = figuresByDay(counts(told));
    expect(days.map(({ bounceRate }) => bounceRate)).toEqual([0, 0.5, null, null]);
    expect(days.map(bounceWords)).toEqual([
      '0 %, 0 bounced',
      '50 %, 2 bounced',
      'no rate, 1 bounced',
      'no mail',
    ]);
    expect(days.map(complaintWords)).toEqual(['0 %, 0 of 1', '50 %, 1 of 2', 'no rate, 0 of 0', 'no mail']);
  });

  it('of complaints are judged by what Gmail and Yahoo ask, where there is enough mail', () => {
    const tone = (delivered: number, complained: number) =>
      complaintTone(of({ delivered: [delivered], complained: [complained] }));
    expect([tone(10_000, 9), tone(10_000, 10), tone(10_000, 29), tone(10_000, 30)]).toEqual([
      'good',
      'warn',
      'warn',
      'bad',
    ]);
    expect([tone(0, 0), tone(20, 2), tone(20, 3)]).toEqual(['neutral', 'neutral', 'bad']);
  });
});
