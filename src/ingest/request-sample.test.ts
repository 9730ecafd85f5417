import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requestLine } from '../../test/support/request-line.ts';
import { RequestSample } from './request-sample.ts';

/** What a second of requests is thinned to. */

const LIMITS = { max: 100, ofNobody: 10 };

type Asked = readonly [keyId: string | null, status: number | null, pattern?: string];

/** The lines that are kept of requests, each a key and a status, and the code that goes with it. */
function kept(requests: readonly Asked[]) {
  const sample = new RequestSample(LIMITS);
  let made = 0;
  for (const [keyId, status, pattern = '/'] of requests)
    sample.add({ keyId, status, code: `code ${status}`, method: 'GET', pattern }, () =>
      requestLine({ keyId, status, path: pattern, at: made, requestId: `r${made++}` }),
    );
  const lines = sample.take();
  expect(sample.isEmpty).toBe(true);
  expect(sample.take()).toEqual([]);
  return { lines, made };
}

const many = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);
const sum = (lines: readonly { readonly weight: number }[]) =>
  lines.reduce((all, { weight }) => all + weight, 0);

test('few requests are all kept, each for itself', () => {
  const { lines } = kept(many(100, ['key_a', 202] as const));
  expect(lines).toHaveLength(100);
  expect(new Set(lines.map(({ weight }) => weight))).toEqual(new Set([1]));
});

test('of many, every n-th is kept, evenly, and stands for those between; the others are never made', () => {
  const { lines, made } = kept(many(10_000, ['key_a', 202] as const));
  expect(lines.length).toBeGreaterThan(40);
  expect(lines.length).toBeLessThanOrEqual(100);
  expect(sum(lines)).toBe(10_000);
  expect(new Set(lines.slice(0, -1).map(({ weight }) => weight)).size).toBe(1);
  expect(made).toBeLessThan(1000);
});

test('refusals are thinned after the others, which keep a quarter', () => {
  const flood = many(5000, ['key_a', 202] as const);
  const { lines } = kept([...flood, ...many(50, ['key_a', 422] as const), ...flood]);
  const refused = lines.filter(({ status }) => status === 422);
  expect(refused.map(({ weight }) => weight)).toEqual(many(50, 1));
  const both = kept([
    ...flood,
    ...many(5000, ['key_a', 429] as const),
    ...flood,
    ...many<Asked>(9, ['key_a', null]),
  ]);
  const others = both.lines.filter(({ status }) => status === 202);
  expect(others.length).toBeGreaterThan(12);
  expect(others.length).toBeLessThanOrEqual(50);
  expect(both.lines.length - others.length).toBeGreaterThan(36);
});

test('a key with few requests is not crowded out by one with many', () => {
  const flood = many(3000, ['key_a', 202] as const);
  const { lines } = kept([...flood, ['key_b', 202], ['key_b', 400], ...flood, ['key_b', 202]]);
  expect(lines.filter(({ keyId }) => keyId === 'key_b').map(({ weight }) => weight)).toEqual([1, 1, 1]);
});

test('requests without a known key get a tenth', () => {
  const { lines } = kept(many(1000, [null, 401] as const));
  expect(lines.length).toBeLessThanOrEqual(10);
  expect(sum(lines)).toBe(1000);
});

test('what is rare is not told by what is frequent: a line stands only for its kind', () => {
  const flood = many(3000, ['key_a', 503, '/api/v1/messages'] as const);
  const { lines } = kept([['key_a', 422, '/emails'], ...flood, ['key_a', 422, '/email'], ...flood]);
  const rare = lines.filter(({ status }) => status === 422);
  expect(rare.map(({ path, weight }) => [path, weight])).toEqual([
    ['/emails', 1],
    ['/email', 1],
  ]);
  expect(sum(lines)).toBe(6002);
});

test('strangers are of one kind, whatever they ask for', () => {
  const strange = Array.from({ length: 500 }, (_, place) => [null, 401, `/${place}`] as const);
  const { lines } = kept([...strange, ...many(100, ['key_a', 400] as const)]);
  expect(lines.filter(({ keyId }) => keyId === null).length).toBeLessThanOrEqual(10);
  expect(sum(lines)).toBe(600);
});

test('of more kinds than lines, refused ones are left out last', () => {
  const others = Array.from({ length: 300 }, (_, place) => ['key_a', 200, `/${place}`] as const);
  const refused = Array.from({ length: 60 }, (_, place) => ['key_a', 404, `/${place}`] as const);
  const { lines } = kept([...others, ...refused]);
  expect(lines).toHaveLength(100);
  expect(lines.filter(({ status }) => status === 404)).toHaveLength(60);
});

test('more keys than lines: those beyond are left out', () => {
  const { lines } = kept(Array.from({ length: 500 }, (_, place) => [`key_${place}`, 202] as const));
  expect(lines).toHaveLength(100);
});

describe('whatever comes', () => {
  const request = fc.tuple(fc.constantFrom('a', 'b', 'c', null), fc.constantFrom(202, 400, null));
  const burst = fc.tuple(request, fc.integer({ min: 1, max: 400 }));

  test('there are no more lines than the limit, they stand for all, and none for none', () => {
    const property = fc.property(fc.array(burst, { maxLength: 20 }), (bursts) => {
      const requests = bursts.flatMap(([one, count]) => many(count, one));
      const { lines } = kept(requests);
      expect(lines.length).toBeLessThanOrEqual(LIMITS.max);
      for (const status of [202, 400, null])
        for (const keyId of ['a', 'b', 'c', null]) {
          const of = (one: Asked) => one[0] === keyId && one[1] === status;
          const same = lines.filter(
            (line) => line.keyId === keyId && (line.status ?? 400) === (status ?? 400),
          );
          if (status !== null && status < 400) expect(sum(same)).toBe(requests.filter(of).length);
        }
      expect(sum(lines)).toBe(requests.length);
    });
    fc.assert(property, { numRuns: 200 });
  });
});
