import { expect, test } from 'vitest';
import { seededRandom } from '../lib/random.ts';
import { hookNote, hookTokens, hookUrl, relayHook, rotatedNote } from './hook-tokens.ts';
import { readRelay } from './relays.ts';
import { createVault } from './secrets.ts';

const DAY = 86_400_000;
const vault = createVault(new Uint8Array(32).fill(7), seededRandom(1));

function relay(raw: object) {
  const source = { key: 'relays[0]', source: 'file', origin: 'file', readSecret: () => '' } as const;
  const reading = readRelay({ ...source, raw });
  if (reading.relay === null) throw new Error('the definition has faults');
  return reading.relay;
}

const RELAYS = [
  relay({ name: 'rs', type: 'resend', secret: 'x', webhook_secret: 'whsec_c2VjcmV0' }),
  relay({ name: 'pm', type: 'postmark', secret: 'x', webhook_username: 'u', webhook_secret: 'p' }),
  relay({ name: 'out', type: 'smtp', host: 'out.example' }),
  relay({ name: 'crm', type: 'webhook', url: 'https://crm.example', secret: 'x' }),
];

function tokensOf(note?: string) {
  const settings = new Map(note === undefined ? [] : [[hookNote('rs'), note]]);
  return hookTokens(RELAYS, settings, vault);
}

test('relays of providers with webhooks have tokens, each its own, always the same', () => {
  const tokens = tokensOf();
  expect(tokens.map(({ relay: name }) => name)).toEqual(['rs', 'pm']);
  for (const { current, former } of tokens)
    expect([current, former]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), []]);
  expect(new Set(tokens.map(({ current }) => current)).size).toBe(2);
  expect(tokensOf()).toEqual(tokens);
  const other = createVault(new Uint8Array(32).fill(8), seededRandom(1));
  expect(hookTokens(RELAYS, new Map(), other)[0]?.current).not.toBe(tokens[0]?.current);
});

test('a rotation gives another token, and the old one counts for a day', () => {
  const [before] = tokensOf();
  const once = rotatedNote(undefined, 1000);
  const [after, other] = tokensOf(once);
  expect(after?.former).toEqual([{ token: before?.current, until: 1000 + DAY }]);
  expect(other).toEqual(tokensOf()[1]);
  const twice = rotatedNote(once, 5000);
  const [last] = tokensOf(twice);
  expect(last?.former).toEqual([
    { token: after?.current, until: 5000 + DAY },
    { token: before?.current, until: 1000 + DAY },
  ]);
  const seen = [before, after, last].map((one) => one?.current);
  expect(new Set(seen).size).toBe(3);
  // Later the note is no longer than it need be.
  expect(JSON.parse(rotatedNote(twice, 5000 + DAY))).toEqual({ count: 3, at: [5000 + DAY] });
});

test('the tokens that count are bounded, however often one is replaced', () => {
  let note: string | undefined;
  for (let time = 1; time <= 100; time++) note = rotatedNote(note, time);
  expect(tokensOf(note)[0]?.former).toHaveLength(20);
});

test.each(['null', '[]', '{"count":"2","at":[]}', '{"count":2,"at":7}'])('a note like %s is none', (note) => {
  expect(tokensOf(note)).toEqual(tokensOf());
});

test('a hook has what proves it', () => {
  const config = { relays: RELAYS, hookTokens: tokensOf() };
  const { current } = tokensOf()[1] ?? {};
  const none = { topicArn: null, publicKey: null };
  const settings = { ...none, username: 'u', secret: 'p' };
  expect(relayHook(config, 'pm')).toEqual({ type: 'postmark', settings, current, former: [] });
  expect(['out', 'crm', 'nobody'].map((name) => relayHook(config, name))).toEqual([null, null, null]);
});

test('its URL is on the public address, where there is one', () => {
  expect(hookUrl('https://mail.example.com', 'pm', 'ab')).toBe('https://mail.example.com/hooks/pm/ab');
  expect(hookUrl(null, 'pm', 'ab')).toBe('https://<your-server>/hooks/pm/ab');
});
