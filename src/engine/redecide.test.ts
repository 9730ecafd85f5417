import { describe, expect, test } from 'vitest';
import type { RelayFitness } from '../domain/failover.ts';
import type { RouteRule, RoutingTable } from '../domain/route.ts';
import { systemClock } from '../lib/clock.ts';
import type { WaitingDelivery } from '../store/views.ts';
import { decideAnew } from './redecide.ts';
import { Lasting, RelayAtWork } from './relays.ts';

const NO_TRANSPORT = {
  deliver: () => Promise.reject(new Error('nothing is delivered')),
  connections: () => 0,
  close: async () => {},
};

/** Relays by their fitness. */
function relaysOf(fitness: Readonly<Record<string, RelayFitness>>) {
  const limits = {
    maxConcurrency: 1,
    maxRatePerSecond: 0,
    maxMessageBytes: 0,
    maxRecipients: 1,
    maxPerDay: 0,
    reservePercent: 0,
    warmUp: null,
  };
  return {
    fitness: (name: string) => fitness[name] ?? 'missing',
    get: (name: string) => {
      const type = name === 'direct' ? 'mx' : name === 'inbox' ? 'inbox' : 'smtp';
      const relay = {
        name,
        type,
        limits,
        origin: 'file',
        disabled: false,
        smtp: null,
        mx: null,
        provider: null,
      } as const;
      return (fitness[name] ?? 'missing') === 'missing'
        ? undefined
        : new RelayAtWork(relay, NO_TRANSPORT, systemClock, new Lasting(limits));
    },
  };
}

function toRelays(name: string, ...relays: string[]): RouteRule {
  return { name, match: {}, via: relays.map((relay) => ({ relay, weight: 1 })), order: 'given' };
}

const WELL = { out: 'usable', other: 'usable', direct: 'usable', inbox: 'usable' } as const;
const WAITING: WaitingDelivery = {
  messageId: 'msg_1',
  index: 0,
  lane: 'out',
  relay: 'out',
  rule: 'all',
  group: ['out'],
  priority: 'normal',
  dueAt: 0,
  routeTable: 2,
  recipient: 'bob@example.net',
  reversePath: 'ann@example.org',
  tags: [],
  keyId: null,
  keyName: null,
  sourceAddress: null,
  sizeBytes: 1,
  test: false,
  createdAt: 0,
};

interface Case {
  readonly delivery?: Partial<WaitingDelivery>;
  readonly table?: Partial<RoutingTable>;
  readonly fitness?: Readonly<Record<string, RelayFitness>>;
  readonly afresh?: boolean;
}

/** Where it goes: the lane (null for none) with rule and group; `stays` when nothing is to be written. */
function decide({ delivery, table, fitness, afresh }: Case) {
  const whole = { version: 2, rules: [], defaultRelay: 'out', postmaster: null, ...table };
  const relays = relaysOf({ ...WELL, ...fitness });
  const move = decideAnew({ ...WAITING, ...delivery }, { table: whole, relays, now: 0 }, afresh);
  return move === null ? 'stays' : [move.to?.lane ?? null, move.rule, ...move.group];
}

describe('after a table was published', () => {
  const table = { version: 3, rules: [toRelays('new', 'other', 'out')] };

  test('mail goes where the new table says', () => {
    expect(decide({ table })).toEqual(['other', 'new', 'other', 'out']);
  });

  test('mail without a matching rule goes by the default relay', () => {
    expect(decide({ table: { version: 3, defaultRelay: 'other' } })).toEqual(['other', null, 'other']);
  });

  test('mail by mx goes to the lane of its domain', () => {
    const rules = [toRelays('new', 'direct')];
    expect(decide({ table: { version: 3, rules } })).toEqual(['direct/example.net', 'new', 'direct']);
  });

  test('mail whose decision is the same stays, also at a later relay of its group', () => {
    const delivery = { rule: 'new', group: ['other', 'out'] };
    expect(decide({ table, delivery })).toBe('stays');
  });

  test('mail that keeps its relay gets its new group all the same', () => {
    expect(decide({ table: { version: 3, rules: [toRelays('new', 'out', 'other')] } })).toEqual([
      'out',
      'new',
      'out',
      'other',
    ]);
  });

  test.each(['manual', 'report-relay'])('what the table did not decide keeps its way: %s', (rule) => {
    expect(decide({ table, delivery: { rule } })).toBe('stays');
    expect(decide({ table, delivery: { rule }, fitness: { out: 'missing' } })).toEqual([
      'other',
      'new',
      'other',
      'out',
    ]);
    expect(decide({ table, delivery: { rule }, afresh: true })).toEqual(['other', 'new', 'other', 'out']);
  });

  test('new mail would not go to a relay that drains, and neither does this', () => {
    expect(decide({ table, fitness: { other: 'draining' } })).toEqual(['out', 'new', 'other', 'out']);
  });

  test('with no way in its new group it waits where it can, until there is one', () => {
    const rules = [toRelays('new', 'other')];
    const fitness = { other: 'draining' } as const;
    expect(decide({ table: { version: 3, rules }, fitness })).toBe('stays');
    expect(decide({ table: { version: 3, rules }, fitness: { ...fitness, out: 'missing' } })).toEqual([
      null,
      'new',
      'other',
    ]);
  });
});

describe('while the table stays', () => {
  const delivery = { group: ['out', 'other'] };

  test.each<[RelayFitness, unknown]>([
    ['usable', 'stays'],
    ['resting', 'stays'],
    ['draining', 'stays'],
    ['paused', ['other', 'all', 'out', 'other']],
    ['disabled', ['other', 'all', 'out', 'other']],
    ['missing', ['other', 'all', 'out', 'other']],
  ])('mail at a relay that is %s', (out, expected) => {
    expect(decide({ delivery, fitness: { out } })).toEqual(expected);
  });

  test.each<[RelayFitness, unknown]>([
    ['paused', 'stays'],
    ['disabled', 'stays'],
    ['missing', [null, null, 'out']],
  ])('mail whose only relay is %s', (out, expected) => {
    expect(decide({ delivery: { group: ['out'] }, fitness: { out } })).toEqual(expected);
  });

  test('mail without a route takes the first there is', () => {
    const lost = { lane: null, relay: null, group: ['out', 'other'] };
    expect(decide({ delivery: lost, fitness: { out: 'draining' } })).toEqual([
      'other',
      'all',
      'out',
      'other',
    ]);
    expect(decide({ delivery: lost, fitness: { out: 'draining', other: 'missing' } })).toEqual([
      null,
      null,
      'out',
    ]);
    const again = { lane: null, relay: null, rule: null, group: ['out'] };
    expect(decide({ delivery: again, fitness: { out: 'draining' } })).toBe('stays');
  });

  test('mail from before there were groups is decided by the table', () => {
    expect(decide({ delivery: { rule: null, group: [], routeTable: 1 } })).toEqual(['out', null, 'out']);
  });
});

describe('between sending and capturing', () => {
  const toInbox = { version: 3, defaultRelay: 'inbox' };

  test('mail that was to be sent is not captured for want of a rule', () => {
    expect(decide({ table: toInbox })).toBe('stays');
    expect(decide({ table: toInbox, fitness: { out: 'missing' } })).toEqual([null, 'all', 'out']);
    const lost = { lane: null, relay: null };
    expect(decide({ table: toInbox, delivery: lost, fitness: { out: 'missing' } })).toBe('stays');
  });

  test('it is where a rule says so', () => {
    const rules = [toRelays('hold-back', 'inbox')];
    expect(decide({ table: { version: 3, rules } })).toEqual(['inbox', 'hold-back', 'inbox']);
  });

  test('mail that was to be captured is never sent', () => {
    const captured = { lane: 'inbox', relay: 'inbox', rule: null, group: ['inbox'] };
    const rules = [toRelays('all', 'out')];
    expect(decide({ table: { version: 3, rules }, delivery: captured })).toBe('stays');
    expect(decide({ table: { version: 3, rules }, delivery: captured, afresh: true })).toBe('stays');
    const old = { ...captured, group: [] };
    expect(decide({ table: { version: 3, rules }, delivery: old })).toBe('stays');
  });

  test("a test key's mail stays captured", () => {
    const captured = { lane: 'inbox', relay: 'inbox', rule: 'test-key', group: ['inbox'], test: true };
    const rules = [toRelays('all', 'out')];
    expect(decide({ table: { version: 3, rules }, delivery: captured })).toBe('stays');
  });
});
