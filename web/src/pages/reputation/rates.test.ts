import { describe, expect, it } from 'vitest';
import { complaintTone, figuresByDay, figuresOf, formatRate, type RateRow, together } from './rates.ts';

function row(change: Partial<RateRow> = {}): RateRow {
  return { name: 'out', delivered: [0], failed: [0], bounced: [0], complained: [0], ...change };
}

describe('rates', () => {
  it('take what came back for one recipient, not for two', () => {
    const { bounceRate, complaintRate } = figuresOf([
      row({ delivered: [90], failed: [15], bounced: [5], complained: [9] }),
    ]);
    expect(bounceRate).toBe(0.15);
    expect(complaintRate).toBe(0.1);
  });

  it('are none where there was no mail, and never more than all', () => {
    expect(figuresOf([row()])).toMatchObject({ bounceRate: null, complaintRate: null });
    expect(figuresOf([row({ delivered: [1], complained: [2] })]).complaintRate).toBe(1);
    // It had been delivered the day before.
    expect(figuresOf([row({ failed: [1], bounced: [1] })]).bounceRate).toBeNull();
  });

  it('are worked out by day, and of rows together', () => {
    const one = row({ delivered: [1, 2], failed: [0, 2], bounced: [0, 0], complained: [0, 1] });
    expect(figuresByDay(one).map(({ bounceRate }) => bounceRate)).toEqual([0, 0.5]);
    const both = together('', [one, row({ delivered: [3, 0], failed: [1, 0] })]);
    expect(both).toMatchObject({ delivered: [4, 2], failed: [1, 2], complained: [0, 1] });
    expect(together('', [])).toMatchObject({ delivered: [] });
  });

  it('of complaints are judged by what Gmail and Yahoo ask, where there is enough mail', () => {
    const tone = (delivered: number, complained: number) =>
      complaintTone(figuresOf([row({ delivered: [delivered], complained: [complained] })]));
    expect([tone(10_000, 9), tone(10_000, 10), tone(10_000, 29), tone(10_000, 30)]).toEqual([
      'good',
      'warn',
      'warn',
      'bad',
    ]);
    expect([tone(0, 0), tone(20, 2), tone(20, 3)]).toEqual(['neutral', 'neutral', 'bad']);
  });

  it.each([
    [null, '–'],
    [0, '0 %'],
    [0.000001, '< 0.01 %'],
    [0.0008, '0.08 %'],
    [0.042, '4.2 %'],
    [0.369, '37 %'],
    [1, '100 %'],
  ])('%j is written %j', (rate, text) => {
    expect(formatRate(rate)).toBe(text);
  });
});
