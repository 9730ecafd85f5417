import { expect, test } from 'vitest';
import { type Draft, isSame, readSample, textsOf, withNames } from './draft.ts';

const DRAFT: Draft = { name: 'Code', subject: 'A', html: '<p>', text: '', sample: '{ "a": 1 }' };

test('a name that objects inherit is added as any other', () => {
  expect(withNames({}, ['constructor', 'toString.x'])).toBe(
    JSON.stringify({ constructor: '', toString: { x: '' } }, null, 2),
  );
});

test('a sample is an object of values, and may be empty', () => {
  expect(readSample('{ "name": "Ann" }').values).toEqual({ name: 'Ann' });
  expect(readSample(' \n').values).toEqual({});
  for (const other of ['[1]', 'null', '"x"', '1']) expect(readSample(other).fault?.line).toBe(1);
});

test('what is wrong with a sample is told with its line', () => {
  expect(readSample('{\n  "a": 1,\n  b: 2\n}').fault).toMatchObject({
    line: 3,
    detail: expect.stringMatching(/^Not JSON: .+\.$/),
  });
  expect(readSample('{\n  "a": 1').fault?.line).toBe(2);
});

test('names without a value are put into the sample, where they belong', () => {
  const sample = { order: { number: 1 }, name: 'Ann' };
  expect(
    JSON.parse(withNames(sample, ['order.total', 'name', 'shop.city', 'name.first', '__proto__.x'])),
  ).toEqual({
    order: { number: 1, total: '' },
    name: 'Ann',
    shop: { city: '' },
  });
  expect(sample).toEqual({ order: { number: 1 }, name: 'Ann' });
});

test('a draft is changed when something else would be saved', () => {
  expect(isSame(DRAFT, { ...DRAFT, sample: '{"a":1}' })).toBe(true);
  expect(isSame(DRAFT, { ...DRAFT, sample: '{"a":2}' })).toBe(false);
  expect(isSame(DRAFT, { ...DRAFT, sample: '{"a":' })).toBe(false);
  expect(isSame(DRAFT, { ...DRAFT, text: 'A' })).toBe(false);
  expect(textsOf(DRAFT)).toEqual({ subject: 'A', html: '<p>', text: null });
});
