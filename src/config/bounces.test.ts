import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Relay } from '../domain/relay.ts';
import { seededRandom } from '../lib/random.ts';
import { tokenKeys } from '../lib/recipient-token.ts';
import { bounceDomainsOf, incomingDomainsOf, recogniseTokens, returnPathsOf, tokensOf } from './bounces.ts';
import { readRelay } from './relays.ts';
import { resolve } from './resolve.ts';
import { createVault } from './secrets.ts';

const { derive } = createVault(new Uint8Array(32), seededRandom(1));
const MESSAGE = 'msg_01jbx0q4tc0123456789abcdef';

function configOf(domain: string | null, keys: ReturnType<typeof tokenKeys> | null = tokenKeys(derive)) {
  const { config, faults } = resolve({
    environment: domain === null ? {} : { WAYBILL_BOUNCES__DOMAIN: domain },
    file: null,
    stored: { settings: new Map(), relays: [] },
    readSecret: () => '',
  });
  return { config: { ...config, tokenKeys: keys }, faults };
}

function relayOf(raw: object): Relay {
  const source = { key: 'relays[0]', source: 'file', origin: 'file' as const, readSecret: () => '' };
  const { relay } = readRelay({ ...source, raw: { name: 'out', ...raw } });
  if (relay === null) throw new Error('a faulty relay');
  return relay;
}

function pathOf(raw: object, domain: string | null, from = 'a@example.com', reversePath = 'a@example.com') {
  const { config } = configOf(domain);
  const unit = { messageId: MESSAGE, reversePath, headerFrom: from, deliveries: [{ index: 7 }] };
  return returnPathsOf(() => config)(unit, relayOf(raw));
}

const MX = { type: 'mx' };
const HOP = { type: 'smtp', host: 'h' };
const OURS = 'b-069fm2wk9g048cgmrx159dhnsw0001xd55hzeam3@bounces.example.com';

test.each([
  ['mx', MX, true],
  ['mx, verp', { ...MX, return_path: 'verp' }, true],
  ['mx, keep', { ...MX, return_path: 'keep' }, false],
  ['a smarthost', HOP, false],
  ['a smarthost, verp', { ...HOP, return_path: 'verp' }, true],
  ['a smarthost, keep', { ...HOP, return_path: 'keep' }, false],
  ['a provider', { type: 'resend', secret: 's' }, false],
])('mail over %s has a return path of ours: %s', (_, raw, isOurs) => {
  const found = pathOf(raw, 'Bounces.Example.com');
  expect(found.replace(/^b-\w+/, 'b-')).toBe(isOurs ? 'b-@bounces.example.com' : 'a@example.com');
  expect(pathOf(raw, null), 'without a bounce domain').toBe('a@example.com');
  expect(pathOf(raw, 'bounces.example.com', 'a@example.com', ''), 'without a sender').toBe('');
});

test('a sending domain has return paths of its own once a check has seen them, by its From', () => {
  const { config } = configOf('bounces.example.net');
  const own = (seenAt: number | null, isGood: boolean) => {
    const returnPath = { domain: 'b.example.com', seenAt, isGood };
    return { ...config, domains: [{ name: 'example.com', since: 1, keys: [], returnPath }] };
  };
  const domainOf = (now: typeof config, headerFrom: string) => {
    const unit = { messageId: MESSAGE, reversePath: 'x@y.example', headerFrom, deliveries: [{ index: 0 }] };
    return returnPathsOf(() => now)(unit, relayOf(MX)).split('@')[1];
  };
  const ours = 'Shop <shop@Example.com>';
  expect(domainOf(own(5, true), ours)).toBe('b.example.com');
  expect(domainOf(own(5, true), 'a@sub.example.com')).toBe('bounces.example.net');
  expect(domainOf(own(5, false), ours)).toBe('bounces.example.net');
  expect(domainOf(own(null, false), ours)).toBe('bounces.example.net');
  const taken = [own(5, true), own(5, false), own(null, false)].map((now) => [...incomingDomainsOf(now)]);
  expect(taken).toEqual([
    ['bounces.example.net', 'b.example.com'],
    ['bounces.example.net', 'b.example.com'],
    ['bounces.example.net'],
  ]);
});

test('without the key of our tokens, no return path is made', () => {
  const { config } = configOf('bounces.example.com', null);
  const unit = { messageId: MESSAGE, reversePath: 'a@b.c', headerFrom: '', deliveries: [{ index: 0 }] };
  expect(returnPathsOf(() => config)(unit, relayOf(MX))).toBe('a@b.c');
  expect(recogniseTokens(config)(OURS)).toBeNull();
});

test.each(['localhost', '[192.0.2.1]', '192.0.2.1', 'a b.example', 'ann@example.com', ''])(
  '%j is no bounce domain',
  (domain) => {
    const { config, faults } = configOf(domain);
    // An empty variable is none at all.
    expect(faults.map(({ key }) => key)).toEqual(domain === '' ? [] : ['bounces.domain']);
    expect(bounceDomainsOf(config).usual).toBeNull();
  },
);

test('a bounce domain in any script is used in A-labels', () => {
  expect(bounceDomainsOf(configOf('bücher.example').config).usual).toBe('xn--bcher-kva.example');
});

test('tokens are recognised in addresses and links, whatever stands around them', () => {
  const { config } = configOf(null);
  const find = recogniseTokens(config);
  const about = { id: MESSAGE, recipient: 7 };
  const bounce = tokensOf(config, 'return_path')?.write(about) ?? '';
  const leave = tokensOf(config, 'unsubscribe')?.write(about) ?? '';
  for (const text of [
    `b-${bounce}@bounces.example.com`,
    `<B-${bounce.toUpperCase()}@x>`,
    `mailto:u-${leave}@x?subject=unsubscribe`,
    `https://mail.example.com/u/${leave}`,
    `https://mail.example.com/u/${leave}?x`,
    `b-${leave}@x b-${bounce}@x`,
  ])
    expect(find(text), text).toEqual(about);
  for (const text of [
    '',
    bounce,
    `b-${leave}@x`,
    `u-${bounce}@x`,
    `ab-${bounce}@x`,
    `b-${bounce}0@x`,
    `b-${bounce.slice(1)}@x`,
    `https://mail.example.com/b/${leave}`,
  ])
    expect(find(text), text).toBeNull();
});

test('no text ends in an exception, or costs much', () => {
  const find = recogniseTokens(configOf(null).config);
  fc.assert(fc.property(fc.string(), (text) => find(text) === null));
  expect(find('b-'.repeat(50_000) + '0'.repeat(50_000))).toBeNull();
});
