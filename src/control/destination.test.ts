import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  at,
  attempt,
  claim,
  DEFERRED,
  DELIVERED,
  HOUR,
  MINUTE,
  message,
  recipient,
  refOf,
  T0,
  takeLane,
} from '../../test/contract/store/fixtures.ts';
import { inShape } from '../../test/support/in-shape.ts';
import { loadConfig } from '../config/load.ts';
import { IDLE, type LaneFigures } from '../engine/contract.ts';
import { systemClock } from '../lib/clock.ts';
import { systemRandom } from '../lib/random.ts';
import type { DestinationOperations } from '../operations/destination.ts';
import type { AcceptDelivery } from '../store/accepting.ts';
import { openSqlite, type SqliteStores } from '../store/sqlite/open.ts';
import { destinationOperations } from './destination.ts';
import { storedRows } from './in-force.ts';

/** Why mail to a domain is late, over a real store and a real configuration. */

const CONFIGURATION = `
server: { hostname: mail.example.org }
relays:
  - { name: out, type: smtp, host: out.example.net }
  - { name: direct, type: mx }
`;

const LANE: LaneFigures = {
  lane: 'direct/example.org',
  relay: 'direct',
  inFlight: 0,
  concurrency: 1,
  inHand: 0,
  perMinute: 3,
  lastReply: null,
  state: 'open',
  restsUntil: T0 + HOUR,
  restsSince: T0,
  restCause: 'connect_refused',
  restReply: { code: null, enhanced: '4.4.1', text: 'refused', at: T0 },
  spent: false,
  held: null,
};

let folder: string;
let stores: SqliteStores;
let operations: DestinationOperations;
let lanes: readonly LaneFigures[];
let asked = 0;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'waybill-destination-'));
  writeFileSync(join(folder, 'waybill.yaml'), CONFIGURATION);
  stores = openSqlite(':memory:');
  lanes = [];
  await stores.registry.putHold('out', { kind: 'pause', since: T0 });
  const stored = await storedRows(stores.registry);
  const loaded = loadConfig({ dataDir: folder, environment: {}, stored, random: systemRandom });
  operations = inShape(
    destinationOperations({
      ...stores,
      queue: { ...IDLE, lane: (name) => lanes.find(({ lane }) => lane === name) ?? null },
      resolution: () => ({ ...loaded, routesVersion: 1 }),
      running: true,
      // Whoever asks again need not wait for the next turn.
      clock: { ...systemClock, wall: () => T0 + MINUTE, mono: () => (asked += MINUTE) },
    }),
  );
});
afterEach(async () => {
  await stores.store.close();
  rmSync(folder, { recursive: true });
});

function to(address: string, change: Partial<AcceptDelivery> = {}): AcceptDelivery {
  return recipient({ recipient: { address, kind: 'to', notify: null, orcpt: null }, ...change });
}

const direct = { relay: 'direct', lane: 'direct/example.org', group: ['direct'] };

test('is told by place, for a smarthost as for an mx relay, with what keeps the mail there', async () => {
  lanes = [LANE];
  const deliveries = [to('a@example.org'), to('b@Example.ORG', direct), to('c@other.example')];
  const record = message({ deliveries });
  await stores.store.accept([record, message({ deliveries: [to('d@example.org')] })], at());
  const found = await operations.destination({ domain: ' someone@EXAMPLE.org ' });
  expect(found).toMatchObject({ domain: 'example.org', provider: null, messages: 2, more: false });
  expect(found.places).toMatchObject([
    { lane: 'out', state: 'paused', rest: null, waiting: 2, waits: [{ what: 'out is paused' }] },
    {
      lane: 'direct/example.org',
      relay: 'direct',
      state: 'resting',
      rest: { cause: 'connect_refused', reply: { reply: 'refused' } },
      waiting: 1,
      waits: [{ what: 'direct/example.org is resting after failures: refused', resting: 'direct' }],
      perMinute: 3,
    },
  ]);
});

test('tells what was said of the last attempts, and when the next is', async () => {
  const records = [1, 2, 3].map((n) => message({ deliveries: [to(`${n}@example.org`)] }));
  await stores.store.accept(records, at());
  const lease = await takeLane(stores.store);
  const units = await claim(stores.store, lease, 2);
  for (const unit of units) await attempt(stores.store, refOf(unit), [DEFERRED], at(MINUTE));
  const { places } = await operations.destination({ domain: 'example.org' });
  expect(places).toMatchObject([
    {
      waiting: 3,
      processing: 0,
      since: new Date(T0).toISOString(),
      nextAt: new Date(T0).toISOString(),
      replies: [{ reply: DEFERRED.reply.text, recipients: 2, messageId: units[1]?.messageId }],
    },
  ]);
});

test('looks at the newest hundred messages, shows ten replies, and says that there are more', async () => {
  const records = Array.from({ length: 101 }, (_, n) => message({ deliveries: [to(`${n}@example.org`)] }));
  await stores.store.accept(records.slice(0, 90), at());
  await stores.store.accept(records.slice(90), at(MINUTE));
  const units = await claim(stores.store, await takeLane(stores.store), 101);
  // Of the newest, each is put off in other words.
  const newest = new Set(records.slice(90).map(({ id }) => id));
  const last = units.filter(({ messageId }) => newest.has(messageId));
  for (const [place, unit] of last.entries()) {
    const text = `Later, ${'so '.repeat(place)}please`;
    await attempt(
      stores.store,
      refOf(unit),
      [{ ...DEFERRED, reply: { ...DEFERRED.reply, text } }],
      at(MINUTE),
    );
  }
  const { messages, more, places } = await operations.destination({ domain: 'example.org' });
  expect([last.length, messages, more, places[0]?.replies.length]).toEqual([11, 100, true, 10]);
});

test('knows of a lane that is at work, and of nothing that is over', async () => {
  const record = message({ deliveries: [to('a@example.org')] });
  await stores.store.accept([record], at());
  const lease = await takeLane(stores.store);
  const [unit] = await claim(stores.store, lease);
  await attempt(stores.store, refOf(unit), [DELIVERED], at(MINUTE));
  expect((await operations.destination({ domain: 'example.org' })).places).toEqual([]);
  lanes = [LANE];
  const { places } = await operations.destination({ domain: 'example.org' });
  expect(places).toMatchObject([{ lane: 'direct/example.org', waiting: 0, since: null, waits: [] }]);
  expect((await operations.destination({ domain: 'gmail.com' })).provider).toBe('google');
  await expect(operations.destination({ domain: 'not a domain' })).rejects.toThrow(
    /^domain: must be a domain/,
  );
});
