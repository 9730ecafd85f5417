import { expect, test } from 'vitest';
import { AmountSum } from './derived.ts';

type Amount = readonly [name: readonly (string | number)[], amount: number];

const sumOf = (...amounts: readonly Amount[]) => {
  const sum = new AmountSum();
  for (const [name, amount] of amounts) sum.add(name, amount);
  return sum;
};

test('a sum of amounts goes by what there is, not by its order or its parts', () => {
  const whole = sumOf([['a', 0], 3], [['b', 0], 2]);
  expect(whole.equals(sumOf([['b', 0], 2], [['a', 0], 1], [['a', 0], 1], [['a', 0], 1]))).toBe(true);
  expect(whole.equals(sumOf([['a', 0], 3], [['b', 0], 2], [['c', 0], 0]))).toBe(true);
  expect(whole.equals(sumOf([['a', 0], 5], [['b', 0], 2], [['a', 0], -2]))).toBe(true);
});

test('it tells what is too much, too little, or of another name', () => {
  const whole = sumOf([['a', 0], 3], [['b', 0], 2]);
  for (const other of [
    sumOf([['a', 0], 2], [['b', 0], 3]),
    sumOf([['a', 0], 3], [['b', 0], 2], [['c', 0], 1]),
    sumOf([['a', 1], 3], [['b', 0], 2]),
    sumOf([['a', 0], 3]),
  ])
    expect(whole.equals(other)).toBe(false);
});
