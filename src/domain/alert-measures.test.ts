import { expect, test } from 'vitest';
import { type AlertFacts, measureAlerts, type RateFacts } from './alert-measures.ts';
import { ALERT_RULE_NAMES, type AlertRuleName, ruleInForce } from './alert-rules.ts';

const NOW = Date.UTC(2026, 10, 28, 5);
const DAY = 86_400_000;
const RULES = new Map(ALERT_RULE_NAMES.map((name) => [name, ruleInForce(name, {})]));
const WELL: AlertFacts = {
  now: NOW,
  node: 'a',
  databaseWell: true,
  checks: [],
  oldestDueSeconds: 0,
  relays: [
    { name: 'out', rests: false, isTried: true, cause: null, quota: null },
    { name: 'small', rests: false, isTried: true, cause: null, quota: { used: 90, allowance: 100 } },
    { name: 'none', rests: false, isTried: true, cause: null, quota: { used: 0, allowance: 0 } },
  ],
  certificates: [{ node: 'a', endsAt: NOW + 14 * DAY }],
  disabledWebhooks: [],
  nodes: ['a', 'b'],
  missingNodes: [],
  examined: [{ name: 'clock', status: 'ok', found: 'It is right.' }],
  rates: [rate({}), rate({ about: 'domain', name: 'example.net' })],
  trend: { waiting: 1_000_000, grown: null, duplicates: 0, refusals: 10 },
};

const DISK = { name: 'disk', status: 'critical', detail: 'The disk is full.' } as const;
const PORTS = { name: 'ports', status: 'degraded', detail: 'Port 25 is not bound.' } as const;
const ILL: AlertFacts = {
  ...WELL,
  checks: [
    { node: 'a', check: DISK },
    { node: 'a', check: PORTS },
    { node: 'b', check: PORTS },
  ],
  oldestDueSeconds: 5_000,
  relays: [
    { name: 'out', rests: true, isTried: true, cause: 'auth_failed 535', quota: null },
    { name: 'small', rests: true, isTried: true, cause: null, quota: { used: 91, allowance: 100 } },
  ],
  certificates: [
    { node: 'a', endsAt: NOW + 13.5 * DAY },
    { node: 'b', endsAt: NOW },
  ],
  disabledWebhooks: [{ id: 'whe_1', host: 'shop.example.com', reason: 'It answered 410.' }],
  missingNodes: ['c'],
  examined: [
    { name: 'open relay', status: 'fail', found: 'Anybody can send.' },
    { name: 'disk', status: 'fail', found: 'There is none left.' },
    { name: 'relay out', status: 'fail', found: 'It cannot be used.' },
    { name: 'relay spare', status: 'fail', found: 'The password is wrong.' },
    { name: 'clock', status: 'warn', found: 'Nobody sets it.' },
  ],
  rates: [
    rate({ recent: { delivered: 94, failed: 6 } }),
    rate({ about: 'domain', name: 'example.net', day: { delivered: 1_000, bounced: 51, complained: 4 } }),
  ],
  trend: { waiting: 1_001, grown: 376, duplicates: 1, refusals: 10.5 },
};

function rate({ recent, day, ...of }: Partial<RateFacts>): RateFacts {
  return {
    about: 'relay',
    name: 'out',
    ...of,
    recent: recent ?? { delivered: 95, failed: 5 },
    day: day ?? { delivered: 1_000, bounced: 50, complained: 3 },
  };
}

function found(change: Partial<AlertFacts>, rules = RULES): string[] {
  return measureAlerts({ ...WELL, ...change }, rules).findings.map(
    ({ rule, subject, severity, text }) => `${rule} ${subject} ${severity}: ${text}`,
  );
}

test('a server that is well, with all figures just within their bounds, has nothing to tell', () => {
  expect(found({})).toEqual([]);
});

test('each rule says what is so', () => {
  expect(found(ILL)).toEqual([
    'node_gone node:c critical: The node c has not reported for more than 30 seconds.',
    'disk node:a critical: The node a: The disk is full.',
    'mail_late  warning: A delivery has been due for 83 minutes.',
    'relay_resting relay:out warning: The relay out rests: auth_failed 535.',
    'relay_resting relay:small warning: The relay small rests.',
    'failure_rate relay:out warning: 6.0 % of the recipients of the relay out failed within six hours: 6 of 100.',
    'bounce_rate domain:example.net warning: 5.1 % of the recipients at example.net bounced within a day: 51 of 1000.',
    'complaint_rate domain:example.net critical: 0.40 % of the recipients at example.net complained within a day: 4 of 1000.',
    'queue_grows  warning: 1001 messages wait, 376 more than half an hour ago.',
    'quota relay:small info: The relay small has had 91 of the 100 recipients that it may have today (UTC).',
    'certificate node:b warning: The certificate of the node b has expired.',
    'certificate node:a warning: The certificate of the node a ends in 13 days.',
    'webhook_disabled webhook:whe_1 warning: The webhook whe_1 at shop.example.com is disabled: It answered 410.',
    'health check:ports@a warning: Port 25 is not bound.',
    'health check:ports@b warning: Port 25 is not bound.',
    'doctor check:open relay warning: open relay: Anybody can send.',
    'doctor relay:spare warning: relay spare: The password is wrong.',
    'duplicates  info: 1 message of the last hour may have arrived twice.',
    'refusals  info: 10.5 requests a second are refused.',
  ]);
});

test('a share means nothing of few recipients, nor of few events', () => {
  const few = { recent: { delivered: 0, failed: 99 }, day: { delivered: 99, bounced: 99, complained: 99 } };
  expect(found({ rates: [rate(few)] })).toEqual([]);
  const two = { recent: { delivered: 98, failed: 2 }, day: { delivered: 100, bounced: 2, complained: 2 } };
  const strict = new Map(RULES);
  for (const name of ['failure_rate', 'bounce_rate', 'complaint_rate'] as const)
    strict.set(name, ruleInForce(name, { threshold: 0.01 }));
  expect(found({ rates: [rate(two)] }, strict)).toEqual([]);
});

test('without its database a node knows of that alone', () => {
  const measures = measureAlerts({ ...WELL, databaseWell: false, oldestDueSeconds: 1e6 }, RULES);
  expect(measures.findings).toMatchObject([{ rule: 'database', subject: 'node:a', severity: 'critical' }]);
  expect([...measures.known]).toEqual(['database']);
});

test('of what is not known yet, nothing is said: neither that it is so nor that it is not', () => {
  const trend = { waiting: 0, grown: null, duplicates: null, refusals: null };
  const { known } = measureAlerts({ ...WELL, trend, examined: null }, RULES);
  const late = ['queue_grows', 'doctor', 'duplicates', 'refusals'];
  expect(ALERT_RULE_NAMES.filter((name) => !known.has(name))).toEqual(late);
  expect(measureAlerts({ ...WELL, trend: ILL.trend }, RULES).known.size).toBe(ALERT_RULE_NAMES.length);
});

test('what concerns a node that is gone, or a relay that was not tried yet, is not known', () => {
  const untried = { name: 'new', rests: false, isTried: false, cause: null, quota: null };
  const { isUnseen } = measureAlerts({ ...WELL, relays: [...WELL.relays, untried] }, RULES);
  const unseen = [
    ['node_gone', 'node:c'],
    ['disk', 'node:c'],
    ['certificate', 'node:c'],
    ['health', 'check:ports@c'],
    ['relay_resting', 'relay:new'],
  ] as const;
  const seen = [
    ['node_gone', 'node:b'],
    ['disk', 'node:a'],
    ['health', 'check:ports@b'],
    ['health', 'check:routes'],
    ['relay_resting', 'relay:out'],
    ['relay_resting', 'relay:removed'],
    ['quota', 'relay:new'],
    ['mail_late', ''],
  ] as const;
  const isIt = ([rule, subject]: readonly [AlertRuleName, string]) => isUnseen({ rule, subject });
  expect([unseen.map(isIt), seen.map(isIt)]).toEqual([unseen.map(() => true), seen.map(() => false)]);
});

test('what the doctor could not look at, or did not look at yet, is not known', () => {
  const examined = [
    { name: 'clock', status: 'ok', found: '' },
    { name: 'host name', status: 'skipped', found: '' },
  ] as const;
  const of = (subject: string) => ({ rule: 'doctor', subject }) as const;
  const { isUnseen } = measureAlerts({ ...WELL, examined }, RULES);
  expect(['check:clock', 'check:host name', 'relay:removed'].map((one) => isUnseen(of(one)))).toEqual([
    false,
    true,
    false,
  ]);
  const late = [...examined, { name: 'relays', status: 'late', found: '' } as const];
  expect(measureAlerts({ ...WELL, examined: late }, RULES).isUnseen(of('relay:out'))).toBe(true);
  expect(measureAlerts({ ...WELL, examined: null }, RULES).known.has('doctor')).toBe(false);
});

test('of one rule the worst fifty are told', () => {
  const rates = Array.from({ length: 500 }, (_, index) =>
    rate({ about: 'domain', name: `${index}.example`, recent: { delivered: 0, failed: 100 + index } }),
  );
  const { findings, isUnseen } = measureAlerts({ ...WELL, rates }, RULES);
  const failing = findings.filter(({ rule }) => rule === 'failure_rate');
  expect(failing).toHaveLength(50);
  expect(failing[0]?.subject).toBe('domain:499.example');
  // Of the others nothing new is told: neither that it is so, nor that it is over.
  const of = (index: number) => ({ rule: 'failure_rate', subject: `domain:${index}.example` }) as const;
  expect([449, 0, 500].map((index) => isUnseen(of(index)))).toEqual([true, true, false]);
});

test.each(ALERT_RULE_NAMES)('%s tells nothing once it is switched off', (name: AlertRuleName) => {
  const off = new Map(RULES).set(name, ruleInForce(name, { enabled: false }));
  const ill = name === 'database' ? { ...ILL, databaseWell: false } : ILL;
  expect(measureAlerts(ill, RULES).findings.some(({ rule }) => rule === name)).toBe(true);
  expect(measureAlerts(ill, off).findings.some(({ rule }) => rule === name)).toBe(false);
});
