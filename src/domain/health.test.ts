import { expect, test } from 'vitest';
import { assessHealth, diskStatus, type HealthFacts, type PortFault } from './health.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

const well: HealthFacts = {
  store: 'well',
  disk: 'ok',
  diskHoldsMail: true,
  portFaults: [],
  smtpBound: true,
  relays: [
    { name: 'out', state: 'closed', disabled: false, refusal: null },
    { name: 'out', state: 'half_open', disabled: false, refusal: null },
  ],
  spent: [],
  latenessMs: 0,
  restored: 0,
  unrouted: false,
  missingRelays: [],
  missingNodes: [],
  certificateLeftMs: 90 * DAY,
  notices: [],
};

function port(fault: Partial<PortFault>): PortFault {
  return { key: 'listener.ports', port: 25, reason: 'in_use', set: true, fallback: null, ...fault };
}

test.each<[string, Partial<HealthFacts>, string, string | null]>([
  ['nothing wrong', {}, 'healthy', null],
  ['no certificate at all', { certificateLeftMs: null }, 'healthy', null],
  ['a store that is silent', { store: 'silent' }, 'critical', 'database'],
  ['a store that cannot commit', { store: 'failed' }, 'critical', 'database'],
  ['a low disk', { disk: 'low' }, 'degraded', 'disk'],
  ['a full disk', { disk: 'critical' }, 'critical', 'disk'],
  ['a disk that cannot be asked', { disk: 'unknown' }, 'degraded', 'disk'],
  ['a full disk that no mail is kept on', { disk: 'critical', diskHoldsMail: false }, 'degraded', 'disk'],
  ['a disk with room that no mail is kept on', { diskHoldsMail: false }, 'healthy', null],
  ['a node that is not heard of', { missingNodes: ['b-1-f00d'] }, 'degraded', 'node_missing'],
  ['a port that was set and is taken', { portFaults: [port({})] }, 'degraded', 'ports'],
  ['a default port that is taken', { portFaults: [port({ set: false })] }, 'degraded', 'ports'],
  [
    'a port that was set and needs privilege',
    { portFaults: [port({ reason: 'no_privilege' })] },
    'degraded',
    'ports',
  ],
  [
    'a default port that needs privilege',
    { portFaults: [port({ set: false, reason: 'no_privilege' })] },
    'healthy',
    null,
  ],
  ['no SMTP port, as was asked for', { smtpBound: false }, 'healthy', null],
  [
    'no SMTP port at all, though none was set and all need privilege',
    { smtpBound: false, portFaults: [port({ set: false, reason: 'no_privilege' })] },
    'degraded',
    'ports',
  ],
  [
    'a default port that is taken, with another in its place',
    { portFaults: [port({ set: false, fallback: 2525 })] },
    'healthy',
    null,
  ],
  [
    'a port that was set, with another in its place',
    { portFaults: [port({ fallback: 2525 })] },
    'degraded',
    'ports',
  ],
  [
    'a default port on no address of ours',
    { portFaults: [port({ set: false, reason: 'unavailable' })] },
    'degraded',
    'ports',
  ],
  [
    'an excused port beside one that is not',
    { portFaults: [port({ set: false, reason: 'no_privilege' }), port({ port: 587, set: false })] },
    'degraded',
    'ports',
  ],
  [
    'an open breaker',
    {
      relays: [
        { name: 'out', state: 'closed', disabled: false, refusal: null },
        { name: 'out', state: 'open', disabled: false, refusal: null },
      ],
    },
    'degraded',
    'relays',
  ],
  ['a delivery 5 minutes late', { latenessMs: 5 * MINUTE }, 'healthy', null],
  ['mail that came back with a backup', { restored: 3 }, 'degraded', 'restored'],
  ['mail without a route', { unrouted: true }, 'degraded', 'routes'],
  ['a delivery more than 5 minutes late', { latenessMs: 5 * MINUTE + 1 }, 'degraded', 'queue'],
  ['a certificate with 14 days left', { certificateLeftMs: 14 * DAY }, 'healthy', null],
  ['a certificate with less', { certificateLeftMs: 14 * DAY - 1 }, 'degraded', 'certificate'],
  ['an expired certificate', { certificateLeftMs: 0 }, 'degraded', 'certificate'],
  [
    'a finding of another room',
    { notices: [{ name: 'config', status: 'degraded', detail: 'The file cannot be read.' }] },
    'degraded',
    'config',
  ],
])('%s', (_case, facts, status, culprit) => {
  const verdict = assessHealth({ ...well, ...facts });
  expect(verdict.status).toBe(status);
  expect(verdict.checks.filter((check) => check.status !== 'healthy').map((check) => check.name)).toEqual(
    culprit === null ? [] : [culprit],
  );
});

test('the worst check decides, and the message tells of every one that is not healthy', () => {
  const verdict = assessHealth({ ...well, disk: 'low', store: 'failed' });
  expect(verdict.status).toBe('critical');
  expect(verdict.message).toBe(
    'The database cannot commit: nothing can be accepted. ' +
      'The disk is nearly full: less is free than health.disk_low_bytes.',
  );
});

test('a disabled relay is told and no illness', () => {
  const { status, checks } = assessHealth({
    ...well,
    relays: [{ name: 'out', state: 'closed', disabled: true, refusal: null }],
  });
  expect(status).toBe('healthy');
  expect(checks.find((check) => check.name === 'relays')?.detail).toContain('A relay is disabled');
});

test('a missing default port says how to get it', () => {
  const { checks } = assessHealth({
    ...well,
    portFaults: [port({ set: false, reason: 'no_privilege' })],
  });
  expect(checks.find((check) => check.name === 'ports')?.detail).toBe(
    'Port 25 of listener.ports is not bound: it needs CAP_NET_BIND_SERVICE, ' +
      'or a lower sysctl net.ipv4.ip_unprivileged_port_start.',
  );
});

test('no SMTP port at all is told, with the cause of each', () => {
  const { message } = assessHealth({ ...well, smtpBound: false, portFaults: [port({ set: false })] });
  expect(message).toBe(
    'No SMTP port is bound: nobody can send mail over SMTP. Port 25 of listener.ports is not bound: another program uses it.',
  );
});

test('a port in the place of another is told', () => {
  const { checks } = assessHealth({ ...well, portFaults: [port({ set: false, fallback: 2525 })] });
  expect(checks.find((check) => check.name === 'ports')?.detail).toBe(
    'Port 25 of listener.ports is not bound: another program uses it. Port 2525 is bound instead.',
  );
});

test.each([
  [null, 'unknown'],
  [0, 'critical'],
  [199, 'critical'],
  [200, 'low'],
  [999, 'low'],
  [1000, 'ok'],
])('%s free bytes are %s', (free, status) => {
  expect(diskStatus(free, { lowBytes: 1000, criticalBytes: 200 })).toBe(status);
});

const spent: HealthFacts['spent'][number] = {
  relay: 'smart',
  allowance: 3,
  warming: false,
  begins: null,
  waiting: 2,
  latenessMs: 6 * MINUTE,
};

test.each<[string, Partial<typeof spent>, string, string]>([
  [
    'late for its quota',
    {},
    'degraded',
    'smart has used up today.s quota of 3 recipients.* 2 deliveries wait.* midnight UTC',
  ],
  ['not late yet', { latenessMs: 4 * MINUTE }, 'healthy', 'smart has used up .* midnight UTC'],
  ['nothing waits', { waiting: 0, latenessMs: 0 }, 'healthy', 'smart has used up .* no delivery waits'],
  ['late for a step of its warm-up', { warming: true }, 'healthy', 'smart has used up .* 2 deliveries wait'],
  [
    'a warm-up that begins later',
    { warming: true, allowance: 0, begins: '2026-12-01' },
    'healthy',
    'smart gets no mail before 2026-12-01',
  ],
])('a spent relay: %s', (_, change, status, detail) => {
  const { checks, status: whole } = assessHealth({ ...well, spent: [{ ...spent, ...change }] });
  const check = checks.find(({ name }) => name === 'quotas');
  expect(check).toEqual({ name: 'quotas', status, detail: expect.stringMatching(detail) });
  expect(whole).toBe(status);
});

test('of many spent relays a few are told, and first those whose mail is late', () => {
  const many = ['a', 'b', 'c', 'd'].map((relay) => ({ ...spent, relay, latenessMs: 0 }));
  const { checks } = assessHealth({ ...well, spent: [...many, spent] });
  const detail = checks.find(({ name }) => name === 'quotas')?.detail;
  expect(detail).toMatch(/^smart .* a .* b .*The same applies to 2 more[.]$/);
});

test('a rule that names a relay which is gone is told with the cure; of many, a few', () => {
  const missing = ['a', 'b', 'c', 'd', 'e'].map((relay) => ({ rule: `to-${relay}`, relay }));
  const detailOf = (missingRelays: HealthFacts['missingRelays'], unrouted = false) =>
    assessHealth({ ...well, missingRelays, unrouted }).checks.find(({ name }) => name === 'routes');
  const one = detailOf(missing.slice(0, 1));
  expect(one).toMatchObject({
    status: 'degraded',
    detail:
      'The rule to-a names the relay a, which does not exist: its group does without it. Add the relay, or: publish rules without it: waybill routes publish FILE.',
  });
  const many = detailOf(missing, true)?.detail;
  expect(many).toContain('The same applies to 2 more.');
  expect(many).toContain('Mail waits for a route');
  expect(many).not.toContain('to-d');
});

test('a relay whose next hop refuses us is named with its cause, and what to do', () => {
  const relays = [{ name: 'out', state: 'open', disabled: false, refusal: 'auth_failed 535 5.7.8' }] as const;
  const { checks } = assessHealth({ ...well, relays });
  expect(checks.find(({ name }) => name === 'relays')).toEqual({
    name: 'relays',
    status: 'degraded',
    detail:
      'The next hop refuses us, relay out: auth_failed 535 5.7.8. Correct the relay, then: waybill relays test out.',
  });
});
