import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alertChannel, alertSilence } from '../../test/support/alerts.ts';
import {
  type Alert,
  type AlertFinding,
  type AlertPolicy,
  afterLook,
  afterTry,
  CLEAR_MS,
  dueNotices,
  MAX_OPEN_ALERTS,
  REMEMBERED_MS,
  withoutChannels,
} from './alert.ts';
import { ALERT_RULE_NAMES, type AlertRuleChange, type AlertRuleName, ruleInForce } from './alert-rules.ts';

const T0 = Date.UTC(2026, 10, 28, 5);
const MINUTE = 60_000;
const OPS = alertChannel({ id: 'alc_ops' });
const OUT: AlertFinding = {
  rule: 'relay_resting',
  subject: 'relay:out',
  severity: 'warning',
  text: 'The relay out rests.',
};

function policy(
  changes: Partial<Record<AlertRuleName, AlertRuleChange>> = {},
  more: Partial<AlertPolicy> = {},
): AlertPolicy {
  const rules = new Map(ALERT_RULE_NAMES.map((name) => [name, ruleInForce(name, changes[name] ?? {})]));
  return { rules, listeners: [OPS], silences: [], ...more };
}

/** Looks again and again, `minutes` apart. */
function watching(rules = policy()) {
  let alerts: readonly Alert[] = [];
  let count = 0;
  return {
    get alerts() {
      return alerts;
    },
    look(
      minute: number,
      findings: readonly AlertFinding[],
      at: AlertPolicy = rules,
      known = ALERT_RULE_NAMES,
      isUnseen = false,
    ) {
      const newId = () => `alr_${String(++count).padStart(4, '0')}`;
      const measures = { findings, known: new Set(known), isUnseen: () => isUnseen };
      alerts = afterLook(alerts, measures, at, T0 + minute * MINUTE, newId);
      return alerts;
    },
    change(how: (alert: Alert) => Alert) {
      alerts = alerts.map(how);
    },
    tell(minute: number, error: string | null = null) {
      const now = T0 + minute * MINUTE;
      alerts = alerts.map((alert) =>
        dueNotices(alert, now).reduce((told, notice) => afterTry(told, notice, error, now), alert),
      );
      return alerts.flatMap(({ notices }) => notices.map(({ kind, state }) => `${kind} ${state}`));
    },
  };
}

test('a condition fires once it has held for long enough, is told, and told again once it is over', () => {
  const watch = watching();
  expect(watch.look(0, [OUT])).toMatchObject([{ state: 'pending', firedAt: null, notices: [] }]);
  expect(watch.look(9, [OUT])).toMatchObject([{ state: 'pending' }]);
  expect(watch.look(10, [OUT])).toMatchObject([{ state: 'firing', firedAt: T0 + 10 * MINUTE, since: T0 }]);
  expect(watch.tell(10)).toEqual(['fired sent']);
  expect(watch.look(11, [])).toMatchObject([{ state: 'firing', clearSince: T0 + 11 * MINUTE }]);
  expect(watch.look(12, [])).toMatchObject([{ state: 'resolved', resolvedAt: T0 + 12 * MINUTE }]);
  expect(watch.tell(12)).toEqual(['fired sent', 'resolved sent']);
});

test('who hears of worse alone is told once it is worse, and that it is over; others are not told again', () => {
  const boss = alertChannel({ id: 'alc_boss', severity: 'critical' });
  const watch = watching(policy({ relay_resting: { forSeconds: 0 } }, { listeners: [OPS, boss] }));
  watch.look(0, [OUT]);
  expect(watch.tell(0)).toEqual(['fired sent']);
  const [alert] = watch.look(5, [{ ...OUT, severity: 'critical' }]);
  expect(alert?.toldAt).toBe(T0);
  expect(alert?.notices).toMatchObject([{ channel: OPS.id }, { channel: boss.id, state: 'pending' }]);
  watch.tell(5);
  for (const minute of [6, 7]) watch.look(minute, []);
  expect(watch.tell(7)).toEqual(['fired sent', 'fired sent', 'resolved sent', 'resolved sent']);
});

test('a channel that is added while an alert fires hears of it', () => {
  const watch = watching(policy({ relay_resting: { forSeconds: 0 } }));
  watch.look(0, [OUT]);
  const more = policy({}, { listeners: [OPS, alertChannel({ id: 'alc_new' })] });
  const [alert] = watch.look(1, [OUT], more);
  expect(alert?.notices.map(({ channel }) => channel)).toEqual([OPS.id, 'alc_new']);
});

test('what was over before it fired leaves nothing', () => {
  const watch = watching();
  watch.look(0, [OUT]);
  expect(watch.look(5, [])).toEqual([]);
});

test('what comes and goes is one alert', () => {
  const watch = watching(policy({ relay_resting: { forSeconds: 0 } }));
  watch.look(0, [OUT]);
  watch.look(1, []);
  watch.look(1.5, [OUT]);
  watch.look(2.2, []);
  expect(watch.look(2.2 + CLEAR_MS / MINUTE - 0.1, [])).toMatchObject([{ state: 'firing', id: 'alr_0001' }]);
});

test('what fires again within the cool-down is told once that has passed, if it still fires', () => {
  const watch = watching(policy({ relay_resting: { forSeconds: 0, coolDownSeconds: 3600 } }));
  watch.look(0, [OUT]);
  watch.tell(0);
  for (const minute of [1, 2]) watch.look(minute, []);
  expect(watch.tell(2)).toEqual(['fired sent', 'resolved sent']);
  watch.look(10, [OUT]);
  expect(watch.alerts.at(-1)).toMatchObject({ state: 'firing', toldAt: null, notices: [] });
  watch.look(59, [OUT]);
  expect(watch.alerts.at(-1)?.toldAt).toBeNull();
  watch.look(60, [OUT]);
  expect(watch.alerts.at(-1)).toMatchObject({ toldAt: T0 + 60 * MINUTE });
  // The same about another relay is something else.
  const other = { ...OUT, subject: 'relay:other' };
  watch.look(61, [OUT, other]);
  expect(watch.alerts.at(-1)).toMatchObject({ subject: 'relay:other', toldAt: T0 + 61 * MINUTE });
});

test('of what was not told while it fired, nobody hears that it is over', () => {
  const watch = watching(policy({ relay_resting: { forSeconds: 0 } }, { listeners: [] }));
  watch.look(0, [OUT]);
  watch.look(1, []);
  expect(watch.look(2, [])).toMatchObject([{ state: 'resolved', toldAt: null, notices: [] }]);
});

test('an alert that ends before it could be told is dropped; after a try, its end is told', () => {
  const [untried, tried] = [
    watching(policy({ relay_resting: { forSeconds: 0 } })),
    watching(policy({ relay_resting: { forSeconds: 0 } })),
  ];
  for (const watch of [untried, tried]) watch.look(0, [OUT]);
  expect(tried.tell(0, 'It answered 500.')).toEqual(['fired pending']);
  for (const watch of [untried, tried]) for (const minute of [0.2, 1.3]) watch.look(minute, []);
  expect(untried.tell(1.3)).toEqual(['fired dropped']);
  expect(tried.tell(1.3)).toEqual(['fired failed', 'resolved sent']);
});

test('an end that came while the first try was under way is told after it', () => {
  const watch = watching(policy({ relay_resting: { forSeconds: 0 } }));
  const [firing] = watch.look(0, [OUT]);
  const [notice] = firing?.notices ?? [];
  for (const minute of [1, 2]) watch.look(minute, []);
  const [ended] = watch.alerts;
  if (ended === undefined || notice === undefined) throw new Error('nothing fired');
  expect(afterTry(ended, notice, null, T0).notices.map(({ kind, state }) => [kind, state])).toEqual([
    ['fired', 'sent'],
    ['resolved', 'pending'],
  ]);
});

test('nobody is told while it is silenced, and then they are', () => {
  const silence = alertSilence({ rule: 'relay_resting', subject: 'relay:out', until: T0 + 30 * MINUTE });
  const rules = policy({ relay_resting: { forSeconds: 0 } }, { silences: [silence] });
  const watch = watching(rules);
  const other = { ...OUT, subject: 'relay:b' };
  expect(watch.look(0, [OUT, other]).map(({ toldAt }) => toldAt)).toEqual([null, T0]);
  expect(watch.look(29, [OUT, other])[0]?.toldAt).toBeNull();
  expect(watch.look(30, [OUT, other])[0]?.toldAt).toBe(T0 + 30 * MINUTE);
});

test('a channel hears of its severity and above, of its rules, and of nothing while it is off', () => {
  const listeners = [
    alertChannel({ id: 'all' }),
    alertChannel({ id: 'critical', severity: 'critical' }),
    alertChannel({ id: 'disk', rules: ['disk'] }),
    alertChannel({ id: 'off', enabled: false }),
  ];
  const watch = watching(
    policy({ relay_resting: { forSeconds: 0 }, disk: { forSeconds: 0 } }, { listeners }),
  );
  watch.look(0, [OUT, { ...OUT, rule: 'disk', severity: 'critical' }]);
  expect(watch.alerts.map(({ notices }) => notices.map(({ channel }) => channel)).sort()).toEqual([
    ['all'],
    ['all', 'critical', 'disk'],
  ]);
});

test('with no channel it waits for one, and fires meanwhile', () => {
  const rules = policy({ relay_resting: { forSeconds: 0 } });
  const watch = watching(rules);
  watch.look(0, [OUT], { ...rules, listeners: [] });
  expect(watch.alerts).toMatchObject([{ state: 'firing', toldAt: null }]);
  expect(watch.look(5, [OUT])).toMatchObject([{ toldAt: T0 + 5 * MINUTE, notices: [{ channel: OPS.id }] }]);
});

test('what cannot be measured stays as it is, and a rule that is switched off ends', () => {
  const watch = watching();
  watch.look(0, [OUT]);
  const [firing] = watch.look(10, [OUT]);
  expect(watch.look(20, [], policy(), ['database'])[0]).toBe(firing);
  expect(watch.look(21, [OUT], policy({ relay_resting: { enabled: false } }))).toMatchObject([
    { state: 'resolved' },
  ]);
});

test('a try is repeated at growing intervals, and given up after three hours', () => {
  const watch = watching(policy({ relay_resting: { forSeconds: 0 } }));
  watch.look(0, [OUT]);
  const times: number[] = [];
  for (let minute = 0; minute < 400; minute += 0.5) {
    if (watch.alerts.some((alert) => dueNotices(alert, T0 + minute * MINUTE).length > 0)) times.push(minute);
    watch.tell(minute, 'It answered 500.');
  }
  expect(times).toEqual([0, 0.5, 2.5, 12.5, 42.5, 162.5]);
  expect(watch.alerts[0]?.notices).toMatchObject([{ state: 'failed', tries: 6, error: 'It answered 500.' }]);
});

test('a channel that is gone is told nothing more', () => {
  const watch = watching(policy({ relay_resting: { forSeconds: 0 } }));
  const [alert] = watch.look(0, [OUT]);
  if (alert === undefined) throw new Error('nothing fired');
  expect(withoutChannels(alert, () => true)).toBe(alert);
  expect(withoutChannels(alert, () => false).notices).toMatchObject([{ state: 'dropped' }]);
});

test('a channel that was off before it could be told is told once it is on again, if the alert still fires', () => {
  const rules = policy({ relay_resting: { forSeconds: 0 } });
  const watch = watching(rules);
  watch.look(0, [OUT]);
  watch.tell(0, 'It answered 500.');
  watch.change((alert) => withoutChannels(alert, () => false));
  watch.look(1, [OUT], { ...rules, listeners: [] });
  expect(watch.tell(1)).toEqual(['fired dropped']);
  watch.look(2, [OUT]);
  expect(watch.tell(2)).toEqual(['fired sent']);
  watch.look(3, [OUT]);
  expect(watch.tell(3)).toEqual(['fired sent']);
});

test('so many at once are open, the most urgent ones', () => {
  const many = Array.from({ length: MAX_OPEN_ALERTS + 5 }, (_, index) => ({
    ...OUT,
    subject: `relay:${index}`,
  }));
  const worst = { ...OUT, subject: 'relay:worst', severity: 'critical' } as const;
  const alerts = watching().look(0, [...many, worst]);
  expect(alerts).toHaveLength(MAX_OPEN_ALERTS);
  expect(alerts[0]).toMatchObject({ subject: 'relay:worst' });
});

test('ended alerts are remembered for a day', () => {
  const watch = watching(policy({ relay_resting: { forSeconds: 0 } }));
  watch.look(0, [OUT]);
  for (const minute of [1, 2]) watch.look(minute, []);
  expect(watch.look(2 + REMEMBERED_MS / MINUTE - 1, [])).toHaveLength(1);
  expect(watch.look(2 + REMEMBERED_MS / MINUTE, [])).toEqual([]);
});

test('whatever happens, a channel hears of each alert at most once that it fired and once that it is over', () => {
  const step = fc.record({
    minutes: fc.double({ min: 0.1, max: 90, noNaN: true }),
    found: fc.boolean(),
    silenced: fc.boolean(),
    error: fc.option(fc.constant('no'), { nil: null }),
    tells: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const watch = watching();
      let minute = 0;
      for (const { minutes, found, silenced, error, tells } of steps) {
        minute += minutes;
        const silences = silenced ? [alertSilence({ until: Number.MAX_SAFE_INTEGER })] : [];
        watch.look(minute, found ? [OUT] : [], policy({}, { silences }));
        if (tells) watch.tell(minute, error);
        const open = watch.alerts.filter(({ state }) => state !== 'resolved');
        expect(open.length).toBeLessThanOrEqual(1);
        for (const { notices, state, firedAt, resolvedAt } of watch.alerts) {
          const kinds = notices.map(({ kind }) => kind);
          expect(new Set(kinds).size).toBe(kinds.length);
          if (kinds.includes('resolved')) expect(state).toBe('resolved');
          if (state !== 'pending') expect(firedAt).not.toBeNull();
          expect(resolvedAt !== null).toBe(state === 'resolved');
        }
      }
    }),
  );
});

test('what is not known any more neither fires nor ends, and is given up after a day', () => {
  const watch = watching();
  const unseen = (minute: number) => watch.look(minute, [], policy(), ALERT_RULE_NAMES, true);
  watch.look(0, [OUT]);
  unseen(20);
  expect(watch.alerts).toMatchObject([{ state: 'pending', unseenSince: T0 + 20 * MINUTE }]);
  watch.look(21, [OUT]);
  expect(watch.alerts).toMatchObject([{ state: 'firing', unseenSince: null }]);
  watch.look(22, []);
  unseen(23);
  unseen(23 + 24 * 60 - 1);
  expect(watch.alerts).toMatchObject([{ state: 'firing', clearSince: null }]);
  unseen(23 + 24 * 60);
  expect(watch.alerts).toMatchObject([{ state: 'resolved' }]);
});
