import { expect, test } from 'vitest';
import type { Known } from './entries.ts';
import { foundEntries, missingNote, searchEntries } from './found.ts';
import { type Answer, askInTurn } from './look-ups.ts';
import { type Guess, recognise } from './recognise.ts';

const SECRET = `wb_live_${'s'.repeat(49)}`;
const ID = 'msg_01m7wnfp4fa87fcn1kgzfwbg11';

const KNOWN = {
  relays: [{ name: 'out', host: 'smtp.example.net' }],
  domains: [{ name: 'example.com' }],
  keys: [
    { id: 'k1', name: 'shop', prefix: 'wb_live_ssssss', revokedAt: '2026-01-01T00:00:00Z', expiresAt: null },
  ],
  templates: [],
} as unknown as Known;

/** Where the entries for a pasted text lead, as the router is told. */
function leads(pasted: string, answer?: Answer): unknown[] {
  const guesses = recognise(pasted);
  const found = guesses.flatMap((guess) => foundEntries(guess, answer, KNOWN, 0));
  return [...found, ...searchEntries(pasted, guesses)].map(({ deed }) =>
    deed.kind === 'go' ? deed.to : deed,
  );
}

test.each<[what: string, pasted: string, answer: Answer | undefined, leads: readonly unknown[]]>([
  [
    'a message, once the server has found it',
    ID,
    { kind: 'message', id: ID, subject: 'Hello', from: 'a@b.example', status: 'delivered' },
    [
      { to: '/messages/$id', params: { id: ID } },
      { to: '/system', search: { tab: 'log', level: 'debug', q: ID } },
    ],
  ],
  [
    'a queue id, once the server has found it',
    '4F7C12AB',
    { kind: 'handed_over', subject: 'Hello' },
    [{ to: '/messages', search: { q: 'hop:4F7C12AB' } }],
  ],
  [
    'a message, before the server has said anything',
    ID,
    undefined,
    [{ to: '/messages/$id', params: { id: ID } }],
  ],
  [
    'a message that is not there',
    ID,
    { kind: 'none' },
    [{ to: '/system', search: { tab: 'log', level: 'debug', q: ID } }],
  ],
  [
    'a queue id that no hop gave',
    '4F7C12AB',
    { kind: 'none' },
    [{ to: '/messages', search: { q: '4F7C12AB' } }],
  ],
  [
    'an address',
    'ann@example.net',
    undefined,
    [
      { to: '/messages', search: { q: 'to:ann@example.net' } },
      { to: '/messages', search: { q: 'from:ann@example.net' } },
      { to: '/suppressions', search: { q: 'ann@example.net' } },
    ],
  ],
  [
    'one of our domains',
    'example.com',
    undefined,
    [{ to: '/domains/$name', params: { name: 'example.com' } }],
  ],
  ['the host of a relay', 'smtp.example.net', undefined, [{ to: '/relays/$name', params: { name: 'out' } }]],
  [
    'another domain',
    'example.org',
    undefined,
    [
      { to: '/messages', search: { q: 'to:@example.org' } },
      { to: '/messages', search: { q: 'from:@example.org' } },
      { to: '/explore', search: { domain: 'example.org' } },
    ],
  ],
  [
    'a source that was refused',
    '192.0.2.1',
    { kind: 'refused', count: 3 },
    [
      { to: '/requests', search: { show: 'refused', source: '192.0.2.1' } },
      { to: '/messages', search: { q: 'reply:192.0.2.1' } },
      { to: '/reports', search: { source: '192.0.2.1' } },
    ],
  ],
  [
    'a key, also one that was revoked',
    'wb_live_ssssss',
    undefined,
    [
      {
        to: '/settings/$section',
        params: { section: 'api-keys' },
        search: { q: 'wb_live_ssssss', revoked: true },
      },
      { to: '/messages', search: { q: 'key:shop' } },
      { to: '/requests', search: { key: 'shop' } },
    ],
  ],
])('%s leads to where it is', (_, pasted, answer, expected) => {
  expect(leads(pasted, answer).slice(0, expected.length)).toEqual(expected);
});

test('of a key that is pasted whole, nothing but its beginning goes anywhere', () => {
  expect(leads(SECRET)).toHaveLength(3);
  expect(JSON.stringify([leads(SECRET), leads(`Bearer ${SECRET}`), recognise(SECRET)])).not.toContain(
    'sssssss',
  );
});

test('what was surely meant and is not there is said so', () => {
  const noted = (pasted: string, answer: Answer) => {
    const guesses = recognise(pasted);
    return missingNote(guesses, new Map(guesses.map((guess) => [guess, answer])), KNOWN);
  };
  expect(noted(ID, { kind: 'none' })).toBe(`There is no message ${ID}.`);
  expect(noted('wb_test_zzz', { kind: 'none' })).toBe('No API key begins with wb_test_zzz.');
  expect(noted('ann@example.net', { kind: 'none' })).toBeNull();
  expect(noted('4F7C12AB', { kind: 'failed', why: 'The store is away.' })).toBe('The store is away.');
});

test('the server is asked one question at a time, and no more once nobody wants to know', async () => {
  const stop = new AbortController();
  const guesses = recognise('0199c8fa-9c1e-7a3b-8d52-9f0e6a1b2c3d');
  const asked: Guess[] = [];
  const told: Guess[] = [];
  let open = 0;
  const ask = async (guess: Guess): Promise<Answer> => {
    asked.push(guess);
    expect(++open).toBe(1);
    await Promise.resolve();
    open--;
    return { kind: 'none' };
  };
  await askInTurn(guesses, stop.signal, (guess) => told.push(guess), ask);
  expect([asked, told]).toEqual([guesses, guesses]);
  asked.length = 0;
  await askInTurn(guesses, stop.signal, () => stop.abort(), ask);
  expect(asked).toEqual(guesses.slice(0, 1));
});
