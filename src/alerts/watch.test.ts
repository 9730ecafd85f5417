import { afterEach, beforeEach, expect, test } from 'vitest';
import { alertChannel, alertFacts } from '../../test/support/alerts.ts';
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
/** By how much the wall clock was set. */
let apartMs: number;

const RESTING = { name: 'out', rests: true, isTried: true, cause: null, quota: null };

beforeEach(async () => {
  stores = openSqlite(':memory:');
  clock = new ManualClock();
  told = [];
  emitted = [];
  faults = [];
  error = null;
  isFirst = true;
  apartMs = 0;
  facts = alertFacts(clock.wall(), 'a');
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
    clock: {
      wall: () => clock.wall() + apartMs,
      mono: () => clock.mono(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
    },
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

test('a store that is silent while old alerts are removed holds up no look', async () => {
  const one = watch({ ...stores.alerts, forgetAlerts: () => new Promise(() => {}) });
  await pass(one, 15);
  facts = { ...facts, databaseWell: false };
  await pass(one, 90);
  expect(told).toEqual(['ops fired node:a']);
});

test('a node without the duty ends what it told of its own database, and leaves all else to the others', async () => {
  await stores.alerts.setAlertRule('disk', { forSeconds: 300 });
  const one = watch();
  const low = { name: 'disk', status: 'degraded', detail: 'The disk is nearly full.' } as const;
  facts = { ...facts, relays: [RESTING], checks: [{ node: 'a', check: low }] };
  await pass(one, 30);
  facts = { ...facts, databaseWell: false };
  await pass(one, 90);
  expect(told).toEqual(['ops fired relay:out', 'ops fired node:a']);
  isFirst = false;
  facts = { ...facts, databaseWell: true, relays: [], checks: [] };
  // Meanwhile another node found the relay well, and a channel was added.
  const open = async () =>
    (await stores.alerts.alertHistory({ which: 'open', before: null, limit: 9 })).alerts;
  const other = (await open()).find(({ rule }) => rule === 'relay_resting');
  if (other === undefined) throw new Error('there is no alert of the relay');
  await stores.alerts.writeAlerts([{ ...other, text: 'As another node has it.' }], []);
  await stores.alerts.addAlertChannel(
    { channel: alertChannel({ id: 'alc_new', name: 'new', rules: ['relay_resting'] }), secret: null },
    9,
  );
  await pass(one, 120);
  expect(told).toEqual(['ops fired relay:out', 'ops fired node:a', 'ops resolved node:a']);
  expect((await open()).map(({ rule, text }) => `${rule} ${text}`).sort()).toEqual([
    'disk The node a: The disk is nearly full.',
    'relay_resting As another node has it.',
  ]);
});

test.each([
  ['was cut off from the store, as the only one that knew of it', []],
  ['lost the duty for a while, and got it back while it ended what it had told', [false]],
])('a node that %s goes on with what another one wrote meanwhile', async (_, firsts) => {
  const one = watch();
  facts = { ...facts, relays: [RESTING] };
  await pass(one, 30);
  facts = { ...facts, databaseWell: false };
  await pass(one, 90);
  expect(told).toEqual(['ops fired relay:out', 'ops fired node:a']);
  const open = async () =>
    (await stores.alerts.alertHistory({ which: 'open', before: null, limit: 9 })).alerts;
  const known = (await open()).find(({ subject }) => subject === 'relay:out');
  if (known === undefined) throw new Error('there is no alert of the relay');
  const [notice] = known.notices;
  if (notice === undefined) throw new Error('nobody was told');
  facts = { ...facts, databaseWell: true };
  for (const first of firsts) {
    isFirst = first;
    await pass(one, 15);
  }
  isFirst = true;
  const over = {
    ...known,
    state: 'resolved',
    resolvedAt: clock.wall(),
    text: 'As another node has it.',
  } as const;
  const begun = { ...known, id: known.id.replace(/.$/, '0'), subject: 'relay:b', notices: [notice] };
  await stores.alerts.writeAlerts([over, begun], []);
  facts = { ...facts, relays: [{ ...RESTING, name: 'b' }] };
  await pass(one, 60);
  expect((await open()).map(({ id, subject }) => `${id} ${subject}`)).toContain(`${begun.id} relay:b`);
  facts = { ...facts, relays: [] };
  await pass(one, 120);
  expect(await open()).toEqual([]);
  expect(told.filter((what) => what.includes('relay'))).toEqual([
    'ops fired relay:out',
    'ops resolved relay:b',
  ]);
  const { alerts } = await stores.alerts.alertHistory({ which: 'fired', before: null, limit: 9 });
  expect(alerts.find(({ id }) => id === known.id)?.text).toBe('As another node has it.');
});

test('a clock that is set makes nothing fire early, and keeps nothing from firing or ending', async () => {
  await stores.alerts.setAlertRule('relay_resting', { forSeconds: 60 });
  const one = watch();
  facts = { ...facts, relays: [RESTING] };
  await pass(one, 30);
  // The machine slept for a day.
  apartMs += 86_400_000;
  await pass(one, 15);
  expect(told).toEqual([]);
  await pass(one, 45);
  expect(told).toEqual(['ops fired relay:out']);
  facts = { ...facts, relays: [] };
  await pass(one, 15);
  apartMs -= 2 * 86_400_000;
  await pass(one, 90);
  expect(told).toEqual(['ops fired relay:out', 'ops resolved relay:out']);
  // The cool-down has an end, too.
  await stores.alerts.setAlertRule('relay_resting', { forSeconds: 60, coolDownSeconds: 300 });
  facts = { ...facts, relays: [RESTING] };
  await pass(one, 420);
  expect(told).toHaveLength(3);
});

test('what a process with a wrong clock wrote holds up nothing', async () => {
  apartMs = 86_400_000;
  error = 'It answered 500.';
  facts = { ...facts, relays: [RESTING] };
  await pass(watch(), 30);
  apartMs = 0;
  error = null;
  await pass(watch(), 30);
  expect(told).toEqual(['ops fired relay:out', 'ops fired relay:out']);
});

test('nor is anything of that told twice which was told while the database was away', async () => {
  await stores.alerts.setAlertRule('database', { enabled: false });
  apartMs = 3_600_000;
  facts = { ...facts, relays: [RESTING] };
  const first = watch();
  await pass(first, 30);
  // When it began stays as it was written: it is an hour ahead now.
  apartMs = 0;
  error = 'It answered 500.';
  facts = { ...facts, relays: [] };
  await pass(first, 300);
  const next = watch({
    ...stores.alerts,
    writeAlerts: async (...written) => {
      if (!facts.databaseWell) throw new Error('away');
      await stores.alerts.writeAlerts(...written);
    },
  });
  await pass(next, 15);
  facts = { ...facts, databaseWell: false };
  error = null;
  const before = told.length;
  await pass(next, 600);
  expect(told.slice(before)).toEqual(['ops resolved relay:out']);
  facts = { ...facts, databaseWell: true };
  await pass(next, 3_600);
  expect(told).toHaveLength(before + 1);
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
