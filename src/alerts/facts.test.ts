import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import { FactBook } from './facts.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A book whose doctor finds what the test says. */
function book() {
  const { views, webhooks } = openSqlite(':memory:');
  const asked: string[] = [];
  const clock = new ManualClock();
  const doctor = { calls: 0, finds: ['fail', 'warn', 'ok'] as ('fail' | 'warn' | 'ok')[], fails: false };
  const faults: string[] = [];
  const figures = { waiting: 0, duplicates: 0, denied: 0 };
  const seen = { relays: [] as object[], nodes: [] as object[] };
  const facts = new FactBook({
    clock,
    views: {
      events: (query) => views.events(query),
      counts: (query) => {
        asked.push('counts');
        return views.counts(query);
      },
    },
    webhooks: {
      webhookEndpoints: () => {
        asked.push('webhooks');
        return webhooks.webhookEndpoints();
      },
    },
    node: 'a',
    health: () => ({ checks: [], spool: { oldestSeconds: 0 } }) as never,
    figures: () =>
      ({
        spool: { incoming: figures.waiting },
        possibleDuplicates: figures.duplicates,
        today: { denied: figures.denied },
      }) as never,
    allRelays: () => seen.relays as never,
    relays: () => ['out'],
    knowsDelivered: () => false,
    nodes: () => seen.nodes as never,
    restCause: (relay) => (relay === 'new' ? null : 'connection_refused'),
    triedRelays: () => new Set(['out', 'again', 'down', 'shut']),
    othersChecks: () => [],
    certificates: () => [],
    examine: async () => {
      doctor.calls++;
      if (doctor.fails) throw new Error('no');
      return doctor.finds.map((status) => ({ name: status, status, found: 'so' }));
    },
    fault: (code) => faults.push(code),
  });
  const pass = async (ms: number, wantsDoctor = true, hasDuty = true) => {
    for (let passed = 0; passed < ms; passed += MINUTE) {
      await facts.gather({ hasDuty, wantsDoctor });
      await clock.advance(MINUTE);
    }
    return await facts.gather({ hasDuty, wantsDoctor });
  };
  return { pass, doctor, faults, figures, asked, seen };
}

test('the doctor comes after ten minutes, then every six hours, and sooner while there is a fault', async () => {
  const { pass, doctor } = book();
  expect((await pass(9 * MINUTE)).examined).toBeNull();
  expect(doctor.calls).toBe(0);
  await pass(2 * MINUTE);
  expect((await pass(MINUTE)).examined?.[0]).toEqual({ name: 'fail', status: 'fail', found: 'so' });
  expect(doctor.calls).toBe(1);
  doctor.finds = ['ok'];
  await pass(31 * MINUTE);
  expect((await pass(MINUTE)).examined).toHaveLength(1);
  expect(doctor.calls).toBe(2);
  await pass(5 * HOUR);
  expect(doctor.calls).toBe(2);
  await pass(HOUR);
  expect(doctor.calls).toBe(3);
});

test('a doctor whom nobody wants does not come, and what it found is no longer known', async () => {
  const { pass, doctor } = book();
  await pass(HOUR, false);
  expect(doctor.calls).toBe(0);
  await pass(12 * MINUTE);
  expect((await pass(0)).examined).toHaveLength(3);
  expect((await pass(0, false)).examined).toBeNull();
});

test('that the doctor fails is a fault, and what it last found stays', async () => {
  const { pass, doctor, faults } = book();
  await pass(12 * MINUTE);
  doctor.fails = true;
  await pass(31 * MINUTE);
  expect(faults).toEqual(['doctor_failed']);
  expect((await pass(0)).examined).toHaveLength(3);
});

test('what a trend is made of must have been seen: no figure of another day or process counts', async () => {
  const { pass, figures } = book();
  figures.denied = 5_000;
  expect((await pass(9 * MINUTE)).trend).toMatchObject({ grown: null, duplicates: null, refusals: null });
  expect((await pass(2 * MINUTE)).trend).toMatchObject({ refusals: 0 });
  // Midnight: the count of the day begins anew.
  figures.denied = 60;
  expect((await pass(MINUTE)).trend.refusals).toBeNull();
  expect((await pass(11 * MINUTE)).trend.refusals).toBe(0);
  figures.duplicates = 2;
  expect((await pass(MINUTE)).trend.duplicates).toBe(2);
  expect((await pass(61 * MINUTE)).trend).toMatchObject({ duplicates: 0, grown: 0 });
});

test('the store is asked by the node that has the duty alone, for rates every five minutes', async () => {
  const { pass, asked } = book();
  await pass(10 * MINUTE, false, false);
  expect(asked).toEqual([]);
  await pass(4 * MINUTE, false);
  expect(asked.filter((what) => what === 'counts')).toHaveLength(1);
  expect(asked.filter((what) => what === 'webhooks')).toHaveLength(5);
  await pass(MINUTE, false);
  expect(asked.filter((what) => what === 'counts')).toHaveLength(2);
});

test('a relay is known by what its next hop did, and a node that came back under its name is not gone', async () => {
  const { pass, seen } = book();
  const relay = { state: 'closed', disabled: false, refusal: null, quota: null };
  seen.relays = [
    { ...relay, name: 'out' },
    { ...relay, name: 'again', state: 'half_open' },
    { ...relay, name: 'new' },
    { ...relay, name: 'off', disabled: true },
    { ...relay, name: 'down', state: 'open' },
    { ...relay, name: 'shut', state: 'open', refusal: 'auth_failed 535' },
  ];
  seen.nodes = [
    { name: 'a', missing: false },
    { name: 'b', missing: true },
    { name: 'c', missing: true },
    { name: 'c', missing: false },
  ];
  const { relays, nodes, missingNodes } = await pass(0);
  expect(relays.map(({ name, isTried, cause }) => [name, isTried, cause])).toEqual([
    ['out', true, null],
    ['again', false, null],
    ['new', false, null],
    ['off', true, null],
    ['down', true, 'connection_refused'],
    ['shut', true, 'auth_failed 535'],
  ]);
  expect([nodes, missingNodes]).toEqual([['a', 'c'], ['b']]);
});
