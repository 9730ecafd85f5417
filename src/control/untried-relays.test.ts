import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  at,
  attempt,
  DELIVERED,
  message,
  recipient,
  refTo,
  T0,
  takeLane,
} from '../../test/contract/store/fixtures.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { loadConfig } from '../config/load.ts';
import type { Relay } from '../domain/relay.ts';
import type { LaneFigures } from '../engine/contract.ts';
import { systemClock } from '../lib/clock.ts';
import { systemRandom } from '../lib/random.ts';
import { openSqlite, type SqliteStores } from '../store/sqlite/open.ts';
import type { LocalDeps } from './deps.ts';
import { storedRows } from './in-force.ts';
import { restOf } from './queue.ts';
import { viewOf } from './relay-views.ts';
import { rememberedUntried, untriedRelays } from './untried-relays.ts';

let stores: SqliteStores;
beforeEach(() => {
  stores = openSqlite(':memory:');
});
afterEach(() => stores.store.close());

const OUT = { name: 'out', origin: 'stored' } as Relay;
const LANE: LaneFigures = {
  lane: 'out',
  relay: 'out',
  inFlight: 0,
  concurrency: 1,
  inHand: 0,
  perMinute: 0,
  lastReply: null,
  state: 'closed',
  restsUntil: null,
  restsSince: null,
  restCause: null,
  restReply: null,
  spent: false,
  held: null,
};

const untried = async (lanes: readonly LaneFigures[] = [LANE], relay = OUT) => [
  ...(await untriedRelays([relay], lanes, { ...stores, clock: { ...systemClock, wall: () => T0 } })),
];

const tested = (after: object) =>
  stores.journal.record([
    {
      at: T0,
      actorKind: 'command',
      actor: '',
      sourceAddress: null,
      action: 'testRelay',
      subject: 'out',
      before: null,
      after: JSON.stringify(after),
    },
  ]);

test('a relay of which nothing was heard was never tried, stored or from the file; the inbox needs no try', async () => {
  expect(await untried()).toEqual(['out']);
  expect(await untried([])).toEqual(['out']);
  expect(await untried([], { ...OUT, origin: 'file' })).toEqual(['out']);
  expect(await untried([], { ...OUT, origin: 'builtin' })).toEqual([]);
});

describe('it was tried', () => {
  test.each<[string, Partial<LaneFigures>]>([
    ['whose next hop said something', { lastReply: { code: 250, enhanced: null, text: 'ok', at: T0 } }],
    ['with an attempt under way', { inFlight: 1 }],
    ['that rests', { state: 'open' }],
  ])('%s, to any node', async (_what, change) => {
    expect(await untried([{ ...LANE, ...change }])).toEqual([]);
  });

  test('when it was tested, but not when another definition was tried in its place', async () => {
    await tested({ name: 'out', to: null, unsaved: '********' });
    await tested({ error: 'invalid' });
    expect(await untried()).toEqual(['out']);
    await tested({ name: 'out', to: null, unsaved: null });
    expect(await untried()).toEqual([]);
  });

  test('when mail ended there, though no node remembers it', async () => {
    const lease = await takeLane(stores.store);
    const record = message({ deliveries: [recipient({ fence: lease.fence })] });
    await stores.store.accept([record], at());
    await attempt(stores.store, refTo(record.id, lease), [DELIVERED], at());
    expect(await untried([])).toEqual([]);
  });
});

test('for a page that asks often, what the store says holds for some seconds; what nodes say holds at once', async () => {
  const clock = new ManualClock();
  let asked = 0;
  const entries: typeof stores.journal.entries = async (query) => {
    asked++;
    return await stores.journal.entries(query);
  };
  const untriedNow = rememberedUntried({
    views: stores.views,
    journal: { ...stores.journal, entries },
    clock,
  });
  const names = async (lane = LANE, others: Relay[] = []) => [
    ...(await untriedNow([OUT, ...others], [lane])),
  ];
  expect([await names(), await names(), asked]).toEqual([['out'], ['out'], 1]);
  expect(await names(LANE, [{ ...OUT, name: 'new' }])).toEqual(['out', 'new']);
  expect(await names({ ...LANE, inFlight: 1 })).toEqual([]);
  await names();
  await tested({ name: 'out', to: null, unsaved: null });
  expect(await names()).toEqual(['out']);
  await clock.advance(5_000);
  expect(await names()).toEqual([]);
});

test('a relay that rests, or is probed, tells why by the lane whose hop was ill first', () => {
  const lane: LaneFigures = {
    lane: 'direct/a.example',
    relay: 'direct',
    inFlight: 0,
    concurrency: 1,
    inHand: 0,
    perMinute: 0,
    lastReply: { code: 250, enhanced: '2.0.0', text: 'Ok', at: T0 + 1_000 },
    state: 'open',
    restsUntil: T0 + 5_000,
    restsSince: T0 - 60_000,
    restCause: 'connect_refused',
    restReply: { code: null, enhanced: '4.4.1', text: 'Connection refused', at: T0 },
    spent: false,
    held: null,
  };
  const later = { ...lane, lane: 'direct/b.example', restsSince: T0, restCause: 'connect_timeout' };
  const well = { ...lane, lane: 'direct/c.example', state: 'closed', restsSince: null } as const;
  const others = [well, later, { ...lane, relay: 'out', lane: 'out', restsSince: T0 - 90_000 }];
  for (const state of ['resting', 'probing'] as const)
    expect(restOf('direct', state, [...others, lane])).toEqual({
      cause: 'connect_refused',
      reply: {
        code: null,
        enhancedCode: '4.4.1',
        reply: 'Connection refused',
        at: '2026-11-20T12:00:30.000Z',
      },
      since: '2026-11-20T11:59:30.000Z',
      until: '2026-11-20T12:00:35.000Z',
    });
  expect(restOf('direct', 'resting', [well])).toEqual({ cause: null, reply: null, since: null, until: null });
  for (const state of ['ready', 'paused', 'disabled'] as const)
    expect(restOf('direct', state, [lane])).toBeNull();
});

test('an mx relay rests on the pages of relays if it does for the health, whatever its lanes do', async () => {
  const definition = JSON.stringify({ name: 'direct', type: 'mx', helo: 'mail.example.com' });
  const direct = { name: 'direct', definition, secret: null, disabled: false };
  await stores.registry.putRelay(direct, new Map());
  const stored = await storedRows(stores.registry);
  const loaded = loadConfig({ dataDir: '/nowhere', environment: {}, stored, random: systemRandom });
  const relays = [{ name: 'direct', state: 'open', inflight: 0, disabled: false }];
  const deps = {
    ...stores,
    clock: systemClock,
    queue: { lanes: () => [] },
    resolution: () => loaded,
    server: () => ({ health: () => ({ relays }) }),
  } as unknown as LocalDeps;
  expect(await viewOf('direct', deps)).toMatchObject({ state: 'resting', rest: { since: null } });
});
