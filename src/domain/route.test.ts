import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judgeRules, messageDice, type RouteRule, type RoutingTable, route } from './route.ts';
import type { RouteFacts, RouteMatch } from './route-match.ts';

const FACTS: RouteFacts = {
  recipient: 'bob@example.net',
  reversePath: 'ann@example.org',
  tags: [],
  keyId: null,
  keyName: null,
  sourceAddress: null,
  sizeBytes: 1000,
  now: 0,
  test: false,
};
const TABLE: RoutingTable = {
  version: 1,
  rules: [],
  defaultRelay: 'out',
  postmaster: 'postmaster@mail.example.org',
};
const NO_DICE = () => 0;

function rule(name: string, match: RouteMatch, ...relays: string[]): RouteRule {
  return { name, match, via: relays.map((relay) => ({ relay, weight: 1 })), order: 'given' };
}

function weighted(weights: readonly number[]): RouteRule {
  const via = weights.map((weight, index) => ({ relay: `r${index}`, weight }));
  return { name: 'w', match: {}, via, order: 'weighted' };
}

function decide(facts: Partial<RouteFacts>, table: RoutingTable, dice: () => number = NO_DICE) {
  return route({ ...FACTS, ...facts }, table, dice);
}

test.each([
  ['postmaster@mail.example.org', 'inbox', 'postmaster'],
  ['Postmaster@Mail.Example.ORG', 'inbox', 'postmaster'],
  ['postmaster@example.org', 'out', null],
  ['postmaster@sub.mail.example.org', 'out', null],
  ['postmaster+x@mail.example.org', 'out', null],
  ['ann@mail.example.org', 'out', null],
])('while nobody is named, only our own postmaster is local: %s', (recipient, relay, name) => {
  expect(decide({ recipient }, TABLE)).toEqual({ group: [relay], rule: name });
});

test('where somebody is named postmaster, no address is local', () => {
  const facts = { recipient: 'postmaster@mail.example.org' };
  expect(decide(facts, { ...TABLE, postmaster: null })).toEqual({ group: ['out'], rule: null });
});

test("a test key's mail is always local, whatever the rules say", () => {
  const table = { ...TABLE, rules: [rule('all', {}, 'out')] };
  expect(decide({ test: true }, table)).toEqual({ group: ['inbox'], rule: 'test-key' });
  expect(judgeRules({ ...FACTS, test: true }, table)).toEqual([]);
});

test('the first rule that matches decides, and the default when none does', () => {
  const rules = [
    rule('news', { tag: new Set(['news']) }, 'bulk'),
    rule('big', { minBytes: 5000 }, 'slow', 'out'),
    rule('also-big', { minBytes: 100_000 }, 'never'),
  ];
  const table = { ...TABLE, rules };
  expect(decide({}, table)).toEqual({ group: ['out'], rule: null });
  expect(decide({ sizeBytes: 200_000 }, table)).toEqual({ group: ['slow', 'out'], rule: 'big' });
  expect(decide({ sizeBytes: 200_000, tags: ['news'] }, table).rule).toBe('news');
});

test('rules are judged up to the one that matches, each with the first condition that does not hold', () => {
  const rules = [
    rule('a', { tag: new Set(['x']), minBytes: 1e9 }, 'out'),
    rule('b', { minBytes: 1, maxBytes: 2 }, 'out'),
    rule('c', {}, 'out'),
    rule('d', {}, 'out'),
  ];
  expect(judgeRules(FACTS, { ...TABLE, rules })).toEqual([
    { rule: 'a', unmet: 'tag' },
    { rule: 'b', unmet: 'maxBytes' },
    { rule: 'c', unmet: null },
  ]);
});

test('a weighted group is always a permutation of its relays', () => {
  const weights = fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 16 });
  const dice = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(weights, dice, (given, thrown) => {
      const { group } = decide({}, { ...TABLE, rules: [weighted(given)] }, () => thrown);
      expect([...group].sort()).toEqual(given.map((_, index) => `r${index}`).sort());
    }),
  );
});

test('each order comes up as often as drawing by weight without putting back would give it', () => {
  const weights = [3, 1, 2];
  const table = { ...TABLE, rules: [weighted(weights)] };
  const seen = new Map<string, number>();
  const throws = 60_000;
  for (let n = 0; n < throws; n++) {
    const key = decide({}, table, () => (n + 0.5) / throws).group.join(' ');
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  // 3/6 · 1/3, 3/6 · 2/3, and so on.
  const expected = {
    'r0 r1 r2': 3 / 18,
    'r0 r2 r1': 6 / 18,
    'r1 r0 r2': 3 / 30,
    'r1 r2 r0': 2 / 30,
    'r2 r0 r1': 6 / 24,
    'r2 r1 r0': 2 / 24,
  };
  for (const [order, share] of Object.entries(expected))
    expect((seen.get(order) ?? 0) / throws, order).toBeCloseTo(share, 3);
});

test("a message's dice are the same for a rule whenever asked, and fair over messages", () => {
  const first = weighted([3, 1]);
  const other = { ...first, name: 'other' };
  expect(messageDice('msg_a')(first)).toBe(messageDice('msg_a')(first));
  expect(messageDice('msg_a')(first)).not.toBe(messageDice('msg_a')(other));
  const messages = 20_000;
  let low = 0;
  // Ids of one moment differ in their last characters only.
  for (let n = 0; n < messages; n++)
    if (messageDice(`msg_01m7ztgde51xpdeq82xe${String(n).padStart(6, '0')}`)(first) < 0.75) low++;
  expect(low / messages).toBeGreaterThan(0.74);
  expect(low / messages).toBeLessThan(0.76);
});
