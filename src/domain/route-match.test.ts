import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type RouteFacts, type RouteMatch, type TimeWindow, unmet } from './route-match.ts';

const FACTS: RouteFacts = {
  recipient: 'Bob@mail.example.net',
  reversePath: 'Ann@Example.org',
  tags: ['News', 'weekly'],
  keyId: 'key_1',
  keyName: 'Shop',
  sourceAddress: '192.0.2.7',
  sizeBytes: 1000,
  now: Date.UTC(2026, 10, 21, 23, 30),
  test: false,
};

const words = (...texts: string[]) => new Set(texts);
const matches = (match: RouteMatch, facts: Partial<RouteFacts> = {}) => {
  return unmet(match, { ...FACTS, ...facts }) === null;
};

test.each<[string, RouteMatch, boolean]>([
  ['an empty match', {}, true],
  ['a sender, whatever its case', { sender: words('ann@example.org') }, true],
  ['another sender', { sender: words('bob@example.org') }, false],
  ['a sender domain', { senderDomain: words('example.org') }, true],
  ['a name below the sender domain only', { senderDomain: words('*.example.org') }, false],
  ['a recipient', { recipient: words('x@y.z', 'bob@mail.example.net') }, true],
  ['a recipient domain', { recipientDomain: words('mail.example.net') }, true],
  ['a domain above it', { recipientDomain: words('example.net') }, false],
  ['a wildcard above it', { recipientDomain: words('*.example.net') }, true],
  ['a wildcard further up', { recipientDomain: words('*.net') }, true],
  ['a wildcard for what ends alike', { recipientDomain: words('*.ample.net') }, false],
  ['a wildcard for itself', { recipientDomain: words('*.mail.example.net') }, false],
  ['one of several tags', { tag: words('other', 'news') }, true],
  ['no such tag', { tag: words('new') }, false],
  ['a key by its name', { key: words('shop') }, true],
  ['a key by its id', { key: words('key_1') }, false],
  ['a source, of mail by a key', { source: words('key_1') }, false],
  ['at least its size', { minBytes: 1000 }, true],
  ['more than its size', { minBytes: 1001 }, false],
  ['at most its size', { maxBytes: 1000 }, true],
  ['less than its size', { maxBytes: 999 }, false],
  ['two that hold', { tag: words('news'), maxBytes: 5000 }, true],
  ['one that holds and one that does not', { tag: words('news'), maxBytes: 5 }, false],
])('%s', (_, match, expected) => {
  expect(matches(match)).toBe(expected);
});

test("a named source's mail is known by the source's name", () => {
  expect(matches({ source: words('printer') }, { keyId: 'source:printer', keyName: null })).toBe(true);
  expect(matches({ source: words('printer') }, { keyId: 'source:printer2', keyName: null })).toBe(false);
  expect(matches({ key: words('printer') }, { keyId: 'source:printer', keyName: null })).toBe(false);
});

test('what is not known matches no condition on it', () => {
  const unknown = { keyId: null, keyName: null, sourceAddress: null, tags: [] };
  const sourceCidr = { ranges: ['0.0.0.0/0'], contains: () => true };
  for (const match of [{ key: words('') }, { source: words('') }, { sourceCidr }, { tag: words('') }])
    expect(matches(match, unknown)).toBe(false);
});

test('the null reverse-path has no domain, and is matched as the empty sender', () => {
  expect(matches({ sender: words('') }, { reversePath: '' })).toBe(true);
  expect(matches({ senderDomain: words('', '*.') }, { reversePath: '' })).toBe(false);
});

test('a wildcard covers exactly the names that end in a dot and the rest of it', () => {
  const label = fc.stringMatching(/^[a-z]{1,3}$/);
  const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
  fc.assert(
    fc.property(name, name, (domain, above) => {
      const match = { recipientDomain: words(`*.${above}`) };
      expect(matches(match, { recipient: `x@${domain}` })).toBe(domain.endsWith(`.${above}`));
      expect(matches(match, { recipient: `x@y.${above}` })).toBe(true);
    }),
  );
});

describe('a time window', () => {
  const at = (day: number, hour: number, minute: number) => Date.UTC(2026, 10, 22 + day, hour, minute);
  const within = (window: TimeWindow, now: number) => matches({ time: [window] }, { now });
  const working = { days: [1, 2, 3, 4, 5], from: 8 * 60, to: 18 * 60 };
  const friday = { days: [5], from: 22 * 60, to: 6 * 60 };
  // 22 November 2026 is a Sunday, day 0.

  test.each([
    ['from its first minute', working, at(1, 8, 0), true],
    ['not a minute before', working, at(1, 7, 59), false],
    ['to its last minute', working, at(5, 17, 59), true],
    ['not at its end', working, at(5, 18, 0), false],
    ['not on other days', working, at(0, 12, 0), false],
    ['into the night of its day', friday, at(5, 23, 0), true],
    ['beyond midnight', friday, at(6, 5, 59), true],
    ['not at the end beyond midnight', friday, at(6, 6, 0), false],
    ['not in the night before its day', friday, at(5, 3, 0), false],
    ['not in the next night', friday, at(6, 23, 0), false],
    ['the whole of a day', { days: [6], from: 0, to: 1440 }, at(6, 23, 59), true],
    ['and no other', { days: [6], from: 0, to: 1440 }, at(7, 0, 0), false],
    ['from Saturday night to Sunday', { days: [6], from: 1380, to: 60 }, at(7, 0, 30), true],
  ])('holds %s', (_, window, now, expected) => {
    expect(within(window, now)).toBe(expected);
  });

  test('holds for exactly its length each week', () => {
    const days = fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { maxLength: 7 });
    const minute = fc.integer({ min: 0, max: 1439 });
    fc.assert(
      fc.property(days, minute, minute, (chosen, from, to) => {
        fc.pre(from !== to);
        let held = 0;
        for (let n = 0; n < 7 * 1440; n++) if (within({ days: chosen, from, to }, at(0, 0, n))) held++;
        const length = from < to ? to - from : 1440 - from + to;
        expect(held).toBe(length * (chosen.length === 0 ? 7 : chosen.length));
      }),
      { numRuns: 30 },
    );
  });
});
