import { describe, expect, test } from 'vitest';
import { inShape } from '../../test/support/in-shape.ts';
import type { ApiKey } from '../domain/key.ts';
import type { MessageRecord } from '../domain/message.ts';
import type { RouteRule, RoutingTable } from '../domain/route.ts';
import type { RouteMatch } from '../domain/route-match.ts';
import type { ListQuery } from '../store/views.ts';
import type { LocalDeps } from './deps.ts';
import { rehearse, routeOperations } from './routes.ts';

const NOON = Date.UTC(2026, 10, 23, 12);
const TABLE: RoutingTable = { version: 2, rules: [], defaultRelay: 'out', postmaster: null };

function rule(name: string, match: RouteMatch, ...relays: string[]): RouteRule {
  return { name, match, via: relays.map((relay) => ({ relay, weight: 1 })), order: 'given' };
}

function message(id: string, to: readonly string[], facts: Partial<MessageRecord> = {}): MessageRecord {
  const known = { id, to, cc: [], bcc: [], envelopeFrom: 'ann@example.com', tags: [], keyId: null };
  // Sound because rehearsing looks at nothing else.
  return { ...known, sizeBytes: 1, test: false, createdAt: NOON, sendAt: null, ...facts } as MessageRecord;
}

/** A store with these messages, newest first, and one key. */
function storeOf(messages: readonly MessageRecord[]): Pick<LocalDeps, 'views' | 'keyring'> {
  const list = async ({ before, limit }: ListQuery) => {
    const start = before === null ? 0 : Number(before);
    const next = start + limit < messages.length ? String(start + limit) : null;
    return { messages: messages.slice(start, start + limit), next };
  };
  const keys = async () => [{ id: 'key_1', name: 'shop' } as ApiKey];
  // Sound because rehearsing asks for nothing else.
  return { views: { list }, keyring: { list: keys } } as unknown as Pick<LocalDeps, 'views' | 'keyring'>;
}

test('every recipient counts once: as before, with another fallback, or elsewhere', async () => {
  const store = storeOf([
    message('m3', ['a@example.org'], { cc: ['b@example.net'], bcc: ['c@example.net'] }),
    message('m2', ['d@example.net'], { keyId: 'key_1' }),
    message('m1', ['e@example.org'], { test: true }),
  ]);
  const rules = [
    rule('orgs', { recipientDomain: new Set(['example.org']) }, 'direct', 'out'),
    rule('shop', { key: new Set(['shop']) }, 'out', 'direct'),
  ];
  expect(await rehearse({ table: TABLE, next: { ...TABLE, rules } }, 10, store)).toEqual({
    messages: 3,
    recipients: 5,
    unchanged: 3,
    otherFallback: 1,
    moves: [
      {
        from: 'out',
        to: 'direct',
        recipients: 1,
        examples: [{ id: 'm3', recipient: 'a@example.org', rule: null, newRule: 'orgs' }],
      },
    ],
    blindRules: [],
  });
});

test('no more than the last messages are looked at, over any number of pages, and few are told', async () => {
  const store = storeOf(Array.from({ length: 700 }, (_, n) => message(`m${n}`, [`r${n}@example.org`])));
  const next = { ...TABLE, defaultRelay: 'other' };
  const { messages, recipients, moves } = await rehearse({ table: TABLE, next }, 450, store);
  expect([messages, recipients, moves.length]).toEqual([450, 450, 1]);
  expect(moves[0]).toMatchObject({ recipients: 450, examples: [{ id: 'm0' }, { id: 'm1' }, { id: 'm2' }] });
});

test('a rule by time is played at the time of each message', async () => {
  const store = storeOf([
    message('now', ['a@example.org']),
    message('later', ['b@example.org'], { sendAt: NOON + 12 * 3_600_000 }),
  ]);
  const night = rule('night', { time: [{ days: [], from: 22 * 60, to: 6 * 60 }] }, 'bulk');
  const { moves } = await rehearse({ table: TABLE, next: { ...TABLE, rules: [night] } }, 10, store);
  expect(moves).toMatchObject([{ to: 'bulk', recipients: 1, examples: [{ id: 'later' }] }]);
});

test('rules on what is not kept are named', async () => {
  const sourceCidr = { ranges: ['10.0.0.0/8'], contains: () => true };
  const rules = [rule('lan', { sourceCidr }, 'direct')];
  const store = storeOf([message('m', ['a@example.org'])]);
  expect(await rehearse({ table: TABLE, next: { ...TABLE, rules } }, 10, store)).toMatchObject({
    unchanged: 1,
    blindRules: ['lan'],
  });
});

describe('a rehearsal that takes long', () => {
  /** No message is sent in any of these windows: each is looked at for each recipient. */
  const windows = Array.from({ length: 1000 }, () => ({ days: [], from: 60, to: 120 }));
  const slow = {
    ...TABLE,
    rules: Array.from({ length: 20 }, (_, n) => rule(`r${n}`, { time: windows }, 'out')),
  };

  test('gives everybody else a turn', async () => {
    const store = storeOf([message('m', Array(50).fill('a@example.org'))]);
    let turns = 0;
    let waiting = true;
    const turn = () => {
      turns++;
      if (waiting) setImmediate(turn);
    };
    setImmediate(turn);
    await rehearse({ table: TABLE, next: slow }, 10, store);
    waiting = false;
    expect(turns).toBeGreaterThan(20);
  });

  test('stops when whoever asked has gone', async () => {
    const store = storeOf([message('m', Array(500).fill('a@example.org'))]);
    const asking = new AbortController();
    setImmediate(() => asking.abort());
    await expect(rehearse({ table: TABLE, next: slow }, 10, store, asking.signal)).rejects.toThrow(
      'disconnected',
    );
  });

  test('looks at fewer messages, whole ones, and at one however large', async () => {
    const many = storeOf(
      Array.from({ length: 20 }, (_, n) => message(`m${n}`, Array(100).fill('a@b.example'))),
    );
    const { messages, recipients } = await rehearse({ table: TABLE, next: slow }, 20, many);
    expect(messages).toBeGreaterThan(1);
    expect(messages).toBeLessThan(20);
    expect(recipients).toBe(messages * 100);
    const large = storeOf([message('m', Array(300).fill('a@b.example')), message('n', ['a@b.example'])]);
    expect(await rehearse({ table: TABLE, next: slow }, 2, large)).toMatchObject({
      messages: 1,
      recipients: 300,
    });
  });

  test('is the only one: a second is refused until it is done', async () => {
    const asked = Promise.withResolvers<never[]>();
    const server = { postmaster: 'ops@example.com' };
    const config = { relays: [], routes: [], delivery: { defaultRelay: 'out' }, server };
    const deps = {
      resolution: () => ({ config, routesVersion: 1 }),
      views: { list: async () => ({ messages: [], next: null }) },
      keyring: { list: () => asked.promise },
    } as unknown as LocalDeps;
    const { rehearseRoutes } = inShape(routeOperations(deps));
    const first = rehearseRoutes({ routes: [], last: 1 });
    await expect(rehearseRoutes({ routes: [], last: 1 })).rejects.toMatchObject({ code: 'refused' });
    asked.resolve([]);
    await first;
    expect(await rehearseRoutes({ routes: [], last: 1 })).toMatchObject({ messages: 0 });
  });
});
