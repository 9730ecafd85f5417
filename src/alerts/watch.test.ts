import { afterEach, beforeEach, expect, test } from 'vitest';
import { alertChannel } from '../../test/support/alerts.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import type { AlertFacts } from '../domain/alert-measures.ts';
import { createIdSource } from '../lib/id.ts';
import { seededRandom } from '../lib/random.ts';
import { type Event, Events } from '../observe/events.ts';
import { openSqlite, type SqliteStores } from '../store/sqlite/open.ts';
import type { Telling } from './shapes.ts';
import { AlertWatch } from './watch.ts';

let stores: SqliteStores;
let clock: ManualClock;
let facts: AlertFacts;
let told: string[];
let emitted: Event[];
let faults: string[];
let error: string | null;
let isFirst: boolean;

const RESTING = { name: 'out', rests: true, cause: null, quota: null };

beforeEach(async () => {
  stores = openSqlite(':memory:');
  clock = new ManualClock();
  told = [];
  emitted = [];
  faults = [];
  error = null;
  isFirst = true;
  facts = {
    now: clock.wall(),
    node: 'a',
    databaseWell: true,
    checks: [],
    oldestDueSeconds: 0,
    relays: [],
    certificates: [],
    disabledWebhooks: [],
    missingNodes: [],
    rates: [],
    faults: null,
    trend: { waiting: 0, grown: null, duplicates: null, refusals: null },
  };
  await stores.alerts.setAlertRule('relay_resting', { forSeconds: 0 });
  await stores.alerts.addAlertChannel(
    { channel: alertChannel({ id: 'alc_ops', name: 'ops' }), secret: null },
    9,
  );
});
afterEach(() => stores.store.close());

function watch(alerts = stores.alerts): AlertWatch {
  const events = new Events();
  events.on((event) => emitted.push(event));
  return new AlertWatch({
    alerts,
    clock,
    events,
    gather: async () => facts,
    tell: async ({ kind, alert }: Telling, { channel }) => {
      told.push(`${channel.name} ${kind} ${alert.subject}`);
      return error;
    },
    server: () => 'mail.example.com',
    newId: createIdSource(clock, seededRandom(4), 'alr_'),
    isFirst: () => isFirst,
    keepDays: () => 30,
    fault: (code) => faults.push(code),
  });
}

const GO_ON = new AbortController().signal;

/** Looks as often as it would within so many seconds. */
async function pass(one: AlertWatch, seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 15) {
    const looking = one.look(GO_ON);
    await clock.advance(15_000);
    await looking;
  }
}

test('an alert fires, is told, is over, is told again, and stays in the history', async () => {
  const one = watch();
  await pass(one, 30);
  expect(told).toEqual([]);
  facts = { ...facts, relays: [RESTING] };
  await pass(one, 60);
  expect(told).toEqual(['ops fired relay:out']);
  facts = { ...facts, relays: [] };
  await pass(one, 120);
  expect(told).toEqual(['ops fired relay:out', 'ops resolved relay:out']);
  const { alerts } = await stores.alerts.alertHistory({ which: 'fired', before: null, limit: 9 });
  expect(alerts).toMatchObject([
    {
      rule: 'relay_resting',
      state: 'resolved',
      notices: [
        { kind: 'fired', state: 'sent' },
        { kind: 'resolved', state: 'sent' },
      ],
    },
  ]);
  const states = emitted.flatMap((event) => (event.type === 'alert' ? [event.state] : []));
  expect(states).toEqual(['firing', 'resolved']);
});

test('another process goes on where the first one ended: nobody is told twice', async () => {
  facts = { ...facts, relays: [RESTING] };
  await pass(watch(), 30);
  await pass(watch(), 30);
  expect(told).toEqual(['ops fired relay:out']);
  facts = { ...facts, relays: [] };
  await pass(watch(), 120);
  expect(told).toEqual(['ops fired relay:out', 'ops resolved relay:out']);
});

test('what a channel did not take is tried again by the next process, too', async () => {
  error = 'It answered 500.';
  facts = { ...facts, relays: [RESTING] };
  await pass(watch(), 30);
  expect(told).toHaveLength(1);
  error = null;
  await clock.advance(30_000);
  await pass(watch(), 30);
  expect(told).toEqual(['ops fired relay:out', 'ops fired relay:out']);
  const { alerts } = await stores.alerts.alertHistory({ which: 'open', before: null, limit: 9 });
  expect(alerts[0]?.notices).toMatchObject([{ state: 'sent', tries: 2, error: null }]);
  expect(emitted.filter(({ type }) => type === 'alert_told')).toMatchObject([
    { channel: 'ops', error: 'It answered 500.' },
    { channel: 'ops', error: null },
  ]);
});

test('the most urgent is told first, whatever else has waited longer for the same channel', async () => {
  await stores.alerts.setAlertRule('node_gone', { forSeconds: 0 });
  const one = watch();
  error = 'It answered 500.';
  facts = { ...facts, relays: [RESTING] };
  await pass(one, 15);
  error = null;
  facts = { ...facts, missingNodes: ['b'] };
  await clock.advance(30_000);
  await pass(one, 15);
  expect(told).toEqual(['ops fired relay:out', 'ops fired node:b', 'ops fired relay:out']);
});

test('only one node at a time looks', async () => {
  isFirst = false;
  facts = { ...facts, relays: [RESTING] };
  await pass(watch(), 60);
  expect(told).toEqual([]);
  expect((await stores.alerts.alertHistory({ which: 'open', before: null, limit: 9 })).alerts).toEqual([]);
});

test('that the database does not answer is told without it, and written once it does', async () => {
  let answers = Promise.withResolvers<void>();
  answers.resolve();
  const alerts: typeof stores.alerts = {
    ...stores.alerts,
    alertSettings: () => answers.promise.then(() => stores.alerts.alertSettings()),
    openAlerts: (after) => answers.promise.then(() => stores.alerts.openAlerts(after)),
    writeAlerts: (some, removed) => answers.promise.then(() => stores.alerts.writeAlerts(some, removed)),
  };
  const one = watch(alerts);
  await pass(one, 15);
  answers = Promise.withResolvers();
  facts = { ...facts, databaseWell: false, relays: [RESTING] };
  await pass(one, 120);
  // Of all else nothing is known.
  expect(told).toEqual(['ops fired node:a']);
  answers.resolve();
  // Others took over meanwhile: what it told, it ends.
  isFirst = false;
  facts = { ...facts, databaseWell: true };
  await pass(one, 120);
  expect(told).toEqual(['ops fired node:a', 'ops resolved node:a']);
  const history = await stores.alerts.alertHistory({ which: 'fired', before: null, limit: 9 });
  expect(history.alerts).toMatchObject([{ rule: 'database', state: 'resolved' }]);
});

test('what fails is a fault once, and watching goes on', async () => {
  const one = watch({
    ...stores.alerts,
    alertSettings: async () => {
      throw new Error('busy');
    },
  });
  const stopping = new AbortController();
  const running = one.run(stopping.signal);
  await clock.advance(60_000);
  expect(faults).toEqual(['alerts_failed']);
  stopping.abort();
  await clock.advance(60_000);
  await running;
});

test('old alerts are forgotten', async () => {
  facts = { ...facts, relays: [RESTING] };
  const one = watch();
  await pass(one, 30);
  facts = { ...facts, relays: [] };
  await pass(one, 120);
  const count = async () =>
    (await stores.alerts.alertHistory({ which: 'fired', before: null, limit: 9 })).alerts.length;
  expect(await count()).toBe(1);
  await clock.advance(31 * 86_400_000);
  await one.look(GO_ON);
  expect(await count()).toBe(0);
});
