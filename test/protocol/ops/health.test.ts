/** `GET /health` (contract §7), over real sockets with TLS. */
import { expect, test } from 'vitest';
import type { PortFault } from '../../../src/domain/health.ts';
import type { WaitingDelivery } from '../../../src/store/views.ts';
import { startDashboard } from './dashboard-server.ts';
import { EPOCH, FIGURES, ownNode, QUOTA, type SourceChanges, viewsWith } from './world.ts';

const GIB = 1024 ** 3;
const DAY = 86_400_000;

test('the report has exactly the shape of the contract', async () => {
  const { ask } = await startDashboard();
  const { status, headers, body } = await ask({ path: '/health' });
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  const report = JSON.parse(body);
  expect({ ...report, checks: undefined }).toEqual({
    status: 'healthy',
    message: 'All is well.',
    version: '0.1.0',
    startedAt: '2026-11-20T11:15:00.000Z',
    uptimeSeconds: 2,
    time: '2026-11-20T11:15:02.000Z',
    database: { reachable: true, engine: 'sqlite', sizeBytes: 61, latencyMs: 0 },
    disk: { freeBytes: 5 * GIB, totalBytes: 10 * GIB, status: 'ok' },
    spool: { incoming: 31, processing: 32, failed: 33, oldestSeconds: 92 },
    encryption: { contents: true, key: '00000000000000ab', segments: 5, encryptedSegments: 3 },
    smtp: {
      listening: true,
      configuredPorts: [25, 587],
      listeningPorts: [2525, 587],
      ports: [25, 587],
      configuredTlsPorts: [465],
      listeningTlsPorts: [465],
    },
    api: { listening: true, port: 8025, tlsPort: null },
    relays: [
      { name: 'inbox', state: 'closed', inflight: 0, disabled: false },
      { name: 'out', state: 'half_open', inflight: 3, disabled: false },
    ],
    nodes: [
      {
        id: 'n1',
        name: 'one',
        roles: ['api', 'smtp', 'delivery', 'webui'],
        version: '0.1.0',
        lastSeenAt: '2026-11-20T11:15:02.000Z',
      },
    ],
  });
  for (const check of report.checks)
    expect(check).toEqual({ name: expect.any(String), status: 'healthy', detail: expect.any(String) });
});

const OFF = { configured: [], listening: [] };
const API = { port: 8025, tlsPort: null };

const NOTHING_ENCRYPTED = { encrypting: false, keyId: '00000000000000ab', segments: 5, encrypted: 0 };

test.each<[string, SourceChanges, unknown]>([
  [
    'nothing is, and no key is named',
    { encryption: async () => NOTHING_ENCRYPTED },
    { contents: false, key: null, segments: 5, encryptedSegments: 0 },
  ],
  [
    'only what was stored before is',
    { encryption: async () => ({ ...NOTHING_ENCRYPTED, encrypted: 2 }) },
    { contents: false, key: '00000000000000ab', segments: 5, encryptedSegments: 2 },
  ],
  ['the database does not say', { encryption: () => Promise.reject(new Error('gone')) }, null],
])('what is encrypted at rest: %s', async (_, sources, encryption) => {
  const { ask } = await startDashboard({ sources });
  const { body } = await ask({ path: '/health' });
  expect(JSON.parse(body).encryption).toEqual(encryption);
});

test('an SMTP listener that is switched off is healthy', async () => {
  const ports = () => ({ smtp: OFF, smtpTls: OFF, api: API, faults: [] });
  const { ask } = await startDashboard({ sources: { ports } });
  const { body } = await ask({ path: '/health' });
  expect(JSON.parse(body)).toMatchObject({ status: 'healthy', smtp: { listening: false } });
});

test('an SMTP listener that has only ports of implicit TLS listens', async () => {
  const ports = () => ({ smtp: OFF, smtpTls: { configured: [0], listening: [1465] }, api: API, faults: [] });
  const { ask } = await startDashboard({ sources: { ports } });
  const { body } = await ask({ path: '/health' });
  expect(JSON.parse(body)).toMatchObject({ smtp: { listening: true, listeningTlsPorts: [1465] } });
});

const OUT = { name: 'out', state: 'closed', inflight: 0, refusal: null, disabled: false } as const;

/** A store with one lane, in which mail has been due for longer than health likes. */
function waitsFor(lane: string): NonNullable<SourceChanges['views']> {
  const oldestDueAt = EPOCH - 300_000;
  return {
    ...viewsWith(async () => ({ ...FIGURES, oldestDueAt })),
    lanes: async () => [{ lane, waiting: 2, processing: 0, oldestDueAt }],
  };
}

const taken: PortFault = { key: 'listener.ports', port: 587, reason: 'in_use', set: true, fallback: null };

test.each<[string, SourceChanges, number, string, string | null]>([
  [
    'disk under health.disk_critical_bytes',
    { spool: { space: async () => ({ freeBytes: GIB / 10, totalBytes: GIB }) } },
    503,
    'critical',
    'disk',
  ],
  [
    'a store that cannot commit',
    { store: () => ({ failed: true, waitingMs: 0 }) },
    503,
    'critical',
    'database',
  ],
  [
    'a store whose commits hang',
    { store: () => ({ failed: false, waitingMs: 2000 }) },
    503,
    'critical',
    'database',
  ],
  [
    'a store that cannot be read',
    { views: viewsWith(() => Promise.reject(new Error('SQLITE_BUSY /var/lib/secret'))) },
    503,
    'critical',
    'database',
  ],
  [
    'disk under health.disk_low_bytes',
    { spool: { space: async () => ({ freeBytes: GIB / 2, totalBytes: GIB }) } },
    200,
    'degraded',
    'disk',
  ],
  [
    'a missing port',
    {
      ports: () => ({
        smtp: { configured: [587], listening: [] },
        smtpTls: OFF,
        api: API,
        faults: [taken],
      }),
    },
    200,
    'degraded',
    'ports',
  ],
  [
    'a relay whose breaker is open',
    {
      relays: () => [
        { name: 'out', state: 'open', inflight: 0, disabled: false, refusal: null, quota: null },
      ],
    },
    200,
    'degraded',
    'relays',
  ],
  [
    'a delivery due for more than 5 minutes',
    { views: viewsWith(async () => ({ ...FIGURES, oldestDueAt: EPOCH - 300_000 })) },
    200,
    'degraded',
    'queue',
  ],
  [
    'mail without a route',
    {
      // Sound because nothing looks at what it is.
      views: {
        ...viewsWith(async () => FIGURES),
        waiting: async () => ({ deliveries: [{} as WaitingDelivery], next: null }),
      },
    },
    200,
    'degraded',
    'routes',
  ],
  [
    'mail that is late because a quota is used up',
    {
      relays: () => [{ ...OUT, quota: { ...QUOTA, spent: true } }],
      views: waitsFor('out'),
    },
    200,
    'degraded',
    'quotas',
  ],
  [
    'mail that waits for the next step of a warm-up',
    {
      relays: () => [{ ...OUT, quota: { ...QUOTA, warming: true, spent: true } }],
      views: waitsFor('out'),
    },
    200,
    'healthy',
    null,
  ],
  [
    'mail of another relay that is late beside a quota that is used up',
    {
      relays: () => [{ ...OUT, quota: { ...QUOTA, spent: true } }],
      views: waitsFor('other'),
    },
    200,
    'degraded',
    'queue',
  ],
  [
    'a certificate expiring within 14 days',
    { certificateExpiresAt: () => EPOCH + 13 * DAY },
    200,
    'degraded',
    'certificate',
  ],
  [
    'a node that is missing',
    {
      nodes: () => [ownNode(EPOCH), { ...ownNode(EPOCH - 40_000), id: 'n2', name: 'two', missing: true }],
    },
    200,
    'degraded',
    'node_missing',
  ],
  ['no certificate of ours to expire', { certificateExpiresAt: () => null }, 200, 'healthy', null],
])('%s', async (_case, sources, status, overall, culprit) => {
  const { ask } = await startDashboard({ sources });
  const answer = await ask({ path: '/health' });
  expect(answer.status).toBe(status);
  const report = JSON.parse(answer.body);
  expect(report.status).toBe(overall);
  const ill = report.checks.filter((check: { status: string }) => check.status !== 'healthy');
  expect(ill).toEqual(culprit === null ? [] : [{ name: culprit, status: overall, detail: report.message }]);
  expect(answer.body).not.toContain('SQLITE');
  expect(answer.body).not.toContain('/var');
});

test('health answers in time while the store is blocked', async () => {
  const { ask, clock } = await startDashboard({
    sources: { views: viewsWith(() => new Promise(() => {})) },
  });
  const first = await ask({ path: '/health' });
  expect(first.status).toBe(503);
  expect(JSON.parse(first.body)).toMatchObject({ status: 'critical', database: { reachable: false } });
  await clock.advance(60_000);
  const later = await ask({ path: '/health' });
  expect(JSON.parse(later.body).database).toMatchObject({ reachable: false, latencyMs: 62_000 });
  expect((await ask({ path: '/metrics' })).body).toContain('\nsvc_database_reachable 0\n');
});

test('health answers in time while the volume is blocked', async () => {
  const { ask } = await startDashboard({ sources: { spool: { space: () => new Promise(() => {}) } } });
  const { status, body } = await ask({ path: '/health' });
  expect(status).toBe(200);
  expect(JSON.parse(body)).toMatchObject({
    status: 'degraded',
    disk: { freeBytes: null, totalBytes: null, status: 'unknown' },
  });
});

test('a store that blocks later keeps the last figures, and is reachable again when it answers', async () => {
  let release = () => {};
  let blocked = false;
  const figures = async () => {
    if (blocked) await new Promise<void>((resolve) => (release = resolve));
    return FIGURES;
  };
  const { ask, clock } = await startDashboard({ sources: { views: viewsWith(figures) } });
  blocked = true;
  await clock.advance(4000);
  expect(JSON.parse((await ask({ path: '/health' })).body)).toMatchObject({
    status: 'critical',
    database: { reachable: false },
    spool: { incoming: 31 },
  });
  blocked = false;
  release();
  await clock.advance(0);
  expect(JSON.parse((await ask({ path: '/health' })).body)).toMatchObject({ status: 'healthy' });
});
