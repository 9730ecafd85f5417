import { describe, expect, test } from 'vitest';
import { boxOfUserName, isBox } from './box.ts';

describe('a box', () => {
  test.each(['a', 'worker-1', '7', 'a.b_c', 'x'.repeat(64)])('may be named %s', (name) =>
    expect(isBox(name)).toBe(true),
  );
  test.each(['', 'A', 'a b', 'a@b', 'ä', 'a\n', 'x'.repeat(65)])('may not be named %j', (name) =>
    expect(isBox(name)).toBe(false),
  );
});

describe('a user name', () => {
  const key = { mode: 'test', name: 'Suite' } as const;
  test('names a box beside a test key, in any letter case', () =>
    expect(boxOfUserName('Worker-1', key)).toBe('worker-1'));
  test.each([
    ['is none beside a live key', 'worker-1', { ...key, mode: 'live' as const }],
    ['is none if it is the key’s own', 'suite', key],
    ['is none if it cannot be one', 'ann@example.com', key],
    ['is none if it is empty', '', key],
    ['is none if it is too long', 'x'.repeat(65), key],
  ])('%s', (_, name, of) => expect(boxOfUserName(name, of)).toBeNull());
});
