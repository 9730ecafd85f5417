import { expect, test } from 'vitest';
import type { ApiKey } from '../domain/key.ts';
import type { MessageRecord } from '../domain/message.ts';
import type { RouteRule, RoutingTable } from '../domain/route.ts';
import type { RouteMatch } from '../domain/route-match.ts';
import type { ListQuery } from '../store/views.ts';
import type { LocalDeps } from './local-deps.ts';
import { rehearse } from './rehearsal.ts';

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
