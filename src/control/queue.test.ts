import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  at,
  HOUR,
  message,
  POLICY,
  recipient,
  refOf,
  T0,
  takeLane,
} from '../../test/contract/store/fixtures.ts';
import { inShape } from '../../test/support/in-shape.ts';
import { type Loaded, loadConfig } from '../config/load.ts';
import { NO_EVIDENCE } from '../domain/attempt.ts';
import { localReply, type Outcome } from '../domain/outcome.ts';
import { settle } from '../domain/settle.ts';
import { type Acts, IDLE, type LaneFigures } from '../engine/contract.ts';
import { systemClock } from '../lib/clock.ts';
import { systemRandom } from '../lib/random.ts';
import type { QueueOperations, Selection } from '../operations/queue.ts';
import type { RequestOf } from '../operations/table.ts';
import type { AcceptDelivery, AcceptRecord } from '../store/accepting.ts';
import { openSqlite, type SqliteStores } from '../store/sqlite/open.ts';
import { storedRows } from './in-force.ts';
import { type QueueDeps, queueOperations } from './queue.ts';

/** The queue's operations over a real store and a real configuration; the engine's acts are the store's verbs. */

const CONFIGURATION = `
server: { hostname: mail.example.org }
delivery: { default_relay: out }
relays:
  - { name: out, type: smtp, host: out.example.net }
  - { name: backup, type: smtp, host: backup.example.net }
  - { name: direct, type: mx }
`;

const DEFERRED: Outcome = { kind: 'deferred', reply: localReply('greylisted', '4.2.0', 'Later.') };
const REJECTED: Outcome = { kind: 'rejected', reply: localReply('smtp_reply', '5.1.1', 'Nobody.') };

let folder: string;
let stores: SqliteStores;
let loaded: Loaded;
let now: number;
let figures: readonly LaneFigures[];
let queue: QueueOperations;
/** Whose way was decided anew. */
let redecided: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'waybill-queue-'));
  writeFileSync(join(folder, 'waybill.yaml'), CONFIGURATION);
  stores = openSqlite(join(folder, 'waybill.db'));
  now = T0;
  redecided = [];
  figures = IDLE.lanes();
  await load();
  expect(loaded.faults).toEqual([]);
  const deps: QueueDeps = {
    ...stores,
    acts: storeActs(),
    queue: { ...IDLE, lanes: () => figures },
    clock: { ...systemClock, wall: () => now },
    resolution: () => ({ ...loaded, routesVersion: 2 }),
    reload: async () => {
      await load();
      return [];
    },
  };
  queue = inShape(queueOperations(deps));
});
afterEach(async () => {
  await stores.store.close();
  rmSync(folder, { recursive: true });
});

async function load(): Promise<void> {
  const stored = await storedRows(stores.registry);
  loaded = loadConfig({ dataDir: folder, environment: {}, stored, random: systemRandom });
}

function storeActs(): Acts {
  const stamp = () => at(now - T0);
  return {
    cancel: async (id) => (await stores.store.cancel([id], stamp()))[0] ?? 'not_found',
    retry: async (id) => {
      const [answer] = await stores.store.requeue([{ id, expiresAt: now + 48 * HOUR }], stamp());
      return answer?.kind ?? 'not_found';
    },
    discard: async (ids) => (await stores.store.discard(ids, stamp())).filter(Boolean).length,
    reschedule: async () => 'not_found',
    mark: async () => undefined,
    decideRestored: async () => 0,
    redecide: async (deliveries) => {
      return redecided.push(...deliveries.map(({ recipient: address }) => address));
    },
    reroute: async (moves) => (await stores.store.reassign(moves, stamp())).filter(Boolean).length,
  };
}

async function accept(change: Partial<AcceptRecord> = {}): Promise<string> {
  const record = message(change);
  await stores.store.accept([record], at(now - T0));
  return record.id;
}

function to(address: string, change: Partial<AcceptDelivery> = {}): AcceptDelivery {
  return recipient({ recipient: { address, kind: 'to', notify: null, orcpt: null }, ...change });
}

function direct(address: string): AcceptDelivery {
  const lane = `direct/${address.slice(address.indexOf('@') + 1)}`;
  return to(address, { relay: 'direct', lane, group: ['direct'] });
}

/** Attempts what is due in lane `out`, with this outcome. */
async function attempt(outcome: Outcome): Promise<void> {
  const { store } = stores;
  const stamp = at(now - T0);
  const lease = await takeLane(store, 'out', stamp);
  const [claimed] = await store.claim(
    [{ ...lease, order: 'high_first', limit: 100, maxRecipients: 100 }],
    stamp,
  );
  for (const unit of claimed?.units ?? []) {
    const ref = refOf(unit);
    await store.begin([{ ...ref, recipients: [], quota: null }], stamp);
    const results = ref.indexes.map((index) => ({ index, outcome }));
    const facts = { attempts: 0, expiresAt: now + HOUR };
    const transitions = results.map(() => settle(facts, outcome, POLICY, now, 0.5));
    const record = { startedAt: now, relay: 'out', evidence: NO_EVIDENCE, results };
    await store.settle(
      [{ unit: ref, attempt: record, transitions, report: null, delayReported: [], refund: null }],
      stamp,
    );
  }
  await store.releaseLanes([lease], stamp);
}

// biome-ignore format: nothing in any of them
const NOTHING: Selection = {
  lane: null, relay: null, statuses: [], tag: null, to: null, from: null, olderThanSeconds: null, all: false,
};
const ALL: Selection = { ...NOTHING, all: true };

/** Acts until nothing is left; the sum. */
async function act(
  what: RequestOf<'actOnQueue'>['act'],
  selection: Partial<Selection>,
  more: Partial<RequestOf<'actOnQueue'>> = {},
): Promise<{ matched: number; acted: number; calls: number }> {
  const sum = { matched: 0, acted: 0, calls: 0 };
  let cursor: string | null = null;
  do {
    const part = await queue.actOnQueue({
      act: what,
      selection: { ...NOTHING, ...selection },
      toRelay: null,
      dryRun: false,
      ...more,
      cursor,
    });
    sum.matched += part.matched;
    sum.acted += part.acted;
    sum.calls++;
    cursor = part.next;
  } while (cursor !== null);
  return sum;
}

async function statesOf(...ids: string[]): Promise<string[]> {
  const details = await Promise.all(ids.map((id) => stores.views.message(id)));
  return details.map((detail) => detail?.recipients.map(({ state }) => state).join(' ') ?? 'none');
}

async function relaysOf(id: string): Promise<(string | null)[]> {
  return (await stores.views.message(id))?.recipients.map(({ relay }) => relay) ?? [];
}

const lanesNow = async (relay: string | null = null) =>
  (await queue.queue({ relay })).lanes.map(({ lane, state, waiting }) => [lane, state, waiting]);

describe('the queue', () => {
  test('shows every relay that is a lane, and of mx what has mail, the fullest first', async () => {
    await accept({ deliveries: [direct('a@example.com'), direct('b@example.com'), to('c@example.net')] });
    now += 90_000;
    const view = await queue.queue({ relay: null });
    expect(view.lanes.map(({ lane, waiting }) => [lane, waiting])).toEqual([
      ['direct/example.com', 2],
      ['out', 1],
      ['backup', 0],
      ['inbox', 0],
    ]);
    expect(view.lanes[0]).toEqual({
      lane: 'direct/example.com',
      relay: 'direct',
      state: 'untried',
      restsUntil: null,
      restsSince: null,
      waiting: 2,
      processing: 0,
      inFlight: 0,
      concurrency: null,
      oldestSeconds: 90,
      perMinute: 0,
      lastReply: null,
    });
    expect(view.totals).toEqual({ waiting: 3, processing: 0, inFlight: 0, oldestSeconds: 90, perMinute: 0 });
    expect(await lanesNow('direct')).toEqual([['direct/example.com', 'untried', 2]]);
    await expect(queue.queue({ relay: 'none' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('tells what waits without a route', async () => {
    await accept({ deliveries: [to('a@example.com', { relay: null, lane: null, group: [] })] });
    expect((await queue.queue({ relay: null })).withoutRoute).toEqual({ waiting: 1, more: false });
  });

  test('shows beside it what the engine knows of a lane, idle ones left out', async () => {
    const lastReply = { code: 421, enhanced: '4.3.2', text: 'Going down', at: T0 };
    const lane: LaneFigures = {
      lane: 'direct/example.com',
      restCause: null,
      restReply: null,
      relay: 'direct',
      inFlight: 1,
      inHand: 2,
      perMinute: 30,
      lastReply,
      state: 'open',
      restsUntil: T0 + 5_000,
      restsSince: T0 - 60_000,
      held: null,
      concurrency: 7,
      spent: false,
    };
    const closed = { ...lane, state: 'closed', restsUntil: null, restsSince: null } as const;
    figures = [{ ...closed, spent: true }];
    expect((await queue.queue({ relay: 'direct' })).lanes[0]?.state).toBe('spent');
    figures = [lane, { ...closed, lane: 'direct/idle.example', inFlight: 0, inHand: 0, perMinute: 0 }];
    const [row, ...others] = (await queue.queue({ relay: 'direct' })).lanes;
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      state: 'resting',
      restsUntil: '2026-11-20T12:00:35.000Z',
      restsSince: '2026-11-20T11:59:30.000Z',
      inFlight: 1,
      concurrency: 7,
      perMinute: 30,
      lastReply: { code: 421, enhancedCode: '4.3.2', reply: 'Going down', at: '2026-11-20T12:00:30.000Z' },
    });
  });
});

describe('a hold', () => {
  test('is on a relay with all its lanes, or on one lane, until it is let go', async () => {
    await accept({ deliveries: [direct('a@example.com'), to('c@example.net')] });
    const pause = { target: 'out', kind: 'pause' } as const;
    expect(await queue.hold(pause)).toEqual({ ...pause, changed: true, waiting: 1, processing: 0 });
    expect(loaded.holds).toEqual(new Map([['out', 'pause']]));
    expect(await queue.hold(pause)).toMatchObject({ changed: false });
    await queue.hold({ target: 'direct', kind: 'drain' });
    await queue.hold({ target: 'direct/Example.COM', kind: 'pause' });
    expect(await lanesNow()).toEqual([
      ['direct/example.com', 'paused', 1],
      ['out', 'paused', 1],
      ['backup', 'untried', 0],
      ['inbox', 'ready', 0],
    ]);
    await queue.hold({ target: 'direct/example.com', kind: null });
    expect(await lanesNow('direct')).toEqual([['direct/example.com', 'draining', 1]]);
    expect(await queue.hold({ target: 'backup', kind: null })).toMatchObject({ changed: false });
  });

  test('is on nothing that does not exist', async () => {
    const holding = (target: string) => queue.hold({ target, kind: 'pause' });
    await expect(holding('nowhere')).rejects.toMatchObject({ code: 'not_found' });
    await expect(holding('nowhere/example.com')).rejects.toMatchObject({ code: 'not_found' });
    await expect(holding('out/example.com')).rejects.toMatchObject({ code: 'invalid' });
    await expect(holding('direct/a b')).rejects.toMatchObject({ code: 'invalid' });
    expect(await stores.registry.holds()).toEqual([]);
  });
});

describe('a selection', () => {
  test('is something, or all, and never both', async () => {
    await expect(act('cancel', {})).rejects.toMatchObject({ code: 'invalid' });
    await expect(act('cancel', { all: true, tag: 'x' })).rejects.toMatchObject({ code: 'invalid' });
    await expect(act('cancel', { statuses: ['failed'] })).rejects.toMatchObject({ code: 'invalid' });
    await expect(act('retry', { statuses: ['queued'] })).rejects.toMatchObject({ code: 'invalid' });
    await expect(act('cancel', { to: 'ann' })).rejects.toMatchObject({ code: 'invalid' });
    await expect(act('reroute', ALL, { toRelay: 'nowhere' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test.each<[string, Partial<Selection>]>([
    ['lane', { lane: 'direct/example.com' }],
    ['mx relay', { relay: 'direct' }],
    ['tag', { tag: 'news' }],
    ['recipient', { to: 'ANN@example.com' }],
    ["recipient's domain", { to: '@Example.com' }],
    ['sender', { from: 'news@example.org' }],
    ["sender's domain", { from: '@example.org' }],
    ['age', { olderThanSeconds: 3600 }],
    ['all conditions together', { relay: 'direct', tag: 'news', olderThanSeconds: 60, statuses: ['queued'] }],
  ])('by %s finds what is meant, and nothing else', async (_name, selection) => {
    const meant = await accept({
      tags: ['news'],
      reversePath: 'news@example.org',
      deliveries: [direct('ann@example.com')],
    });
    now += HOUR;
    const other = await accept({ createdAt: now, deliveries: [to('bob@example.net')] });
    expect(await act('cancel', selection, { dryRun: true })).toMatchObject({ matched: 1, acted: 0 });
    expect(await statesOf(meant, other)).toEqual(['queued', 'queued']);
    expect(await act('cancel', selection)).toMatchObject({ matched: 1, acted: 1 });
    expect(await statesOf(meant, other)).toEqual(['failed', 'queued']);
  });

  test('of any size is worked through in parts', async () => {
    const ids = [];
    for (let i = 0; i < 1_100; i++) ids.push(await accept());
    expect(await act('cancel', { relay: 'out' })).toEqual({ matched: 1_100, acted: 1_100, calls: 3 });
    expect(new Set(await statesOf(...ids))).toEqual(new Set(['failed']));
  });
});

describe('retrying', () => {
  test('makes what waits for its next try due now, once, and leaves the rest', async () => {
    const retrying = await accept();
    await attempt(DEFERRED);
    const fresh = await accept();
    const lane = 'direct/example.com';
    expect((await stores.views.message(retrying))?.message.waits[0]?.dueAt).toBeGreaterThan(now);
    expect(await act('retry', ALL)).toMatchObject({ matched: 1, acted: 1 });
    expect((await stores.views.message(retrying))?.message.waits[0]?.dueAt).toBe(now);
    expect(await act('retry', ALL)).toMatchObject({ matched: 0 });
    expect(await act('retry', { lane })).toMatchObject({ matched: 0 });
    expect(await statesOf(retrying, fresh)).toEqual(['retrying', 'queued']);
  });

  test('reaches what has failed only when told so', async () => {
    const failed = await accept({ tags: ['news'] });
    await attempt(REJECTED);
    expect(await act('retry', ALL)).toMatchObject({ matched: 0 });
    expect(await act('retry', { statuses: ['failed'], relay: 'backup' })).toMatchObject({ matched: 0 });
    expect(await act('retry', { statuses: ['failed'], tag: 'other' })).toMatchObject({ matched: 0 });
    expect(await act('retry', { statuses: ['failed', 'retrying'], relay: 'out', tag: 'news' })).toMatchObject(
      { matched: 1, acted: 1, calls: 2 },
    );
    expect(await statesOf(failed)).toEqual(['queued']);
  });
});

describe('rerouting', () => {
  test('gives waiting recipients the relay that was named, each its lane there', async () => {
    const id = await accept({
      deliveries: [to('a@example.com'), to('b@example.net'), direct('c@example.com')],
    });
    expect(await act('reroute', { relay: 'out' }, { toRelay: 'direct' })).toMatchObject({
      matched: 2,
      acted: 2,
    });
    expect(await relaysOf(id)).toEqual(['direct', 'direct', 'direct']);
    expect(await lanesNow('direct')).toEqual([
      ['direct/example.com', 'untried', 2],
      ['direct/example.net', 'untried', 1],
    ]);
    const { deliveries } = await stores.views.waiting({ lane: 'all', after: null, limit: 10 });
    expect(deliveries.map(({ rule, group }) => [rule, ...group])).toEqual([
      ['manual', 'direct'],
      ['manual', 'direct'],
      [null, 'direct'],
    ]);
    expect(await act('reroute', { to: '@example.net' }, { toRelay: 'direct' })).toMatchObject({ matched: 0 });
  });

  test("without a relay leaves it to the routing table, but for what is a test key's", async () => {
    const inInbox = { relay: 'inbox', lane: 'inbox', group: ['inbox'] };
    await accept({ test: true, deliveries: [to('test@example.com', inInbox)] });
    await accept({ deliveries: [to('a@example.com'), to('b@example.net')] });
    expect(await act('reroute', ALL, { dryRun: true })).toMatchObject({ matched: 2, acted: 0 });
    expect(redecided).toEqual([]);
    expect(await act('reroute', { to: '@example.net' })).toMatchObject({ matched: 1, acted: 1 });
    expect(redecided).toEqual(['b@example.net']);
  });

  test('and retrying never let the mail of a test key out of the inbox', async () => {
    const inInbox = { relay: 'inbox', lane: 'inbox', group: ['inbox'] };
    const id = await accept({ test: true, deliveries: [to('a@example.com', inInbox)] });
    expect(await act('reroute', ALL, { toRelay: 'out' })).toMatchObject({ matched: 0, acted: 0 });
    expect(await relaysOf(id)).toEqual(['inbox']);
    await act('cancel', ALL);
    expect(await statesOf(id)).toEqual(['failed']);
    expect(await act('retry', { statuses: ['failed'] })).toMatchObject({ matched: 0 });
    expect(await statesOf(id)).toEqual(['failed']);
  });
});
