import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  createWorld,
  EPOCH,
  FIGURES,
  ownNode,
  type SourceChanges,
  viewsWith,
} from '../../test/protocol/ops/world.ts';
import { storedEndpoint } from '../../test/support/webhooks.ts';
import { readReport } from '../control/nodes/report.ts';
import type { ToldReport } from '../control/nodes/sight.ts';
import { ALERT_RULE_NAMES, type AlertRuleName } from '../domain/alert-rules.ts';
import type { BreakerState, HealthCheck } from '../domain/health.ts';
import { HEALTHY } from '../domain/webhook.ts';
import { seededRandom } from '../lib/random.ts';
import type { NodeStatus } from '../observe/health-report.ts';
import type { Finding } from '../operations/system.ts';
import { openSqlite, type SqliteStores } from '../store/sqlite/open.ts';
import type { Figures } from '../store/views.ts';
import { watchAlerts } from './alerts.ts';

/** That what the server knows of itself reaches the rules of alerts: from health, the counters, the doctor, other nodes. */

const MINUTE = 60_000;
const DAY_MS = 86_400_000;
const MIB = 1024 ** 2;

/** What is so; a case changes some of it. */
interface Facts {
  readonly figures: Figures;
  readonly storeFailed: boolean;
  readonly freeBytes: number;
  readonly notices: readonly HealthCheck[];
  readonly nodes: readonly NodeStatus[];
  readonly reports: readonly ToldReport[];
  readonly breaker: BreakerState;
  readonly quotaUsed: number;
  readonly certificateLeftMs: number;
  readonly findings: readonly Finding[];
  /** Recipients of the relay in the last hour. */
  readonly counts: Readonly<Record<string, number>>;
}

const WELL: Facts = {
  figures: { ...FIGURES, oldestDueAt: null },
  storeFailed: false,
  freeBytes: 5 * 1024 * MIB,
  notices: [],
  nodes: [ownNode(0)],
  reports: [],
  breaker: 'closed',
  quotaUsed: 0,
  certificateLeftMs: 60 * DAY_MS,
  findings: [],
  counts: { relay_delivered: 1_000 },
};

let stores: SqliteStores;
let facts: Facts;

beforeEach(() => {
  stores = openSqlite(':memory:');
  facts = WELL;
});
afterEach(() => stores.store.close());

/** A server that watches itself, in which those facts are so. */
async function watching() {
  const nodes = { nodes: () => facts.nodes, reports: () => facts.reports };
  const out = { name: 'out', disabled: false, limits: { reservePercent: 0, warmUp: null } };
  const quota = { state: () => ({ allowance: 100, used: facts.quotaUsed, warming: false }) };
  const relays = {
    all: () => [{ relay: out, inflight: 0, quota }],
    breakerState: () => facts.breaker,
    refusalOf: () => null,
  };
  const sources: SourceChanges = {
    views: viewsWith(async () => facts.figures),
    spool: { space: async () => ({ freeBytes: facts.freeBytes, totalBytes: 10 * 1024 * MIB }) },
    store: () => ({ failed: facts.storeFailed, waitingMs: 0 }),
    notices: () => facts.notices,
    nodes: () => facts.nodes,
    relays: () => [],
  };
  const { clock, health, events } = await createWorld(sources);
  const faults: string[] = [];
  const fired: { readonly rule: string; readonly subject: string }[] = [];
  events.on((event) => {
    if (event.type === 'fault') faults.push(event.message);
    if (event.type === 'alert') fired.push(event);
  });
  const storage = {
    ...stores,
    views: {
      events: stores.views.events,
      counts: async () => new Map(Object.entries(facts.counts).map(([name, sum]) => [name, [sum]])),
    },
  };
  const stopping = new AbortController();
  const parts = {
    storage,
    clock,
    events,
    nodes,
    signal: stopping.signal,
    random: seededRandom(3),
    version: '1.2.3',
    node: 'n1',
    live: {
      config: {
        relays: [out],
        events: { keep: 'all' },
        retention: { activityDays: 30 },
        server: { hostname: 'mail.example.com' },
      },
    },
    engine: { relays, intake: {}, isFirst: () => true },
    queue: { lanes: () => [{ relay: 'out', lastReply: { code: 250 } }], lane: () => null },
    operations: { doctor: async () => facts.findings },
  };
  const watched = watchAlerts(parts as never, { health }, () => clock.wall() + facts.certificateLeftMs);
  /** What is wrong after so many minutes: rules, each with what it is about. Without the store, what fires. */
  const passed = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute++) await clock.advance(MINUTE);
    expect(faults).toEqual([]);
    const { alerts } = await stores.alerts.alertHistory({ which: 'open', before: null, limit: 99 });
    return [...new Set([...fired, ...alerts].map(({ rule, subject }) => `${rule} ${subject}`))];
  };
  const stop = async () => {
    stopping.abort();
    await clock.advance(0);
    await watched;
    health.stop();
  };
  return { passed, stop };
}

/** A fact, and what an alert of the rule is then about. */
interface Case {
  readonly so: () => Partial<Facts> | Promise<Partial<Facts>>;
  readonly about: string;
  /** It begins so many minutes after the watch did. Absent: it is so from the start. */
  readonly after?: number;
  /** Within so many minutes; absent: one. */
  readonly within?: number;
}

/** Another node is there, and reports this. */
function told(report: object): Partial<Facts> {
  const other = { ...ownNode(0), id: 'n2', name: 'two' };
  return {
    nodes: [ownNode(0), other],
    reports: [{ ...readReport(JSON.stringify(report)), node: other.id }],
  };
}

function figures(change: Partial<Figures>): Partial<Facts> {
  return { figures: { ...WELL.figures, ...change } };
}

function counted(counts: Readonly<Record<string, number>>): Partial<Facts> {
  return { counts: { ...WELL.counts, ...counts } };
}

const ENDPOINT = storedEndpoint();
const CASES: Readonly<Record<AlertRuleName, readonly Case[]>> = {
  node_gone: [
    { so: () => ({ nodes: [ownNode(0), { ...ownNode(0), name: 'two', missing: true }] }), about: 'node:two' },
  ],
  database: [{ so: () => ({ storeFailed: true }), about: 'node:one', after: 1, within: 2 }],
  disk: [
    { so: () => ({ freeBytes: 500 * MIB }), about: 'node:one' },
    {
      so: () => told({ checks: [{ name: 'disk', status: 'degraded', detail: 'It is full.' }] }),
      about: 'node:two',
    },
  ],
  mail_late: [{ so: () => figures({ oldestDueAt: EPOCH - 16 * MINUTE }), about: '' }],
  relay_resting: [
    { so: () => ({ breaker: 'open' }), about: 'relay:out' },
    { so: () => told({ relays: [{ name: 'out', state: 'open', inflight: 0 }] }), about: 'relay:out' },
  ],
  failure_rate: [{ so: () => counted({ relay_failed: 100 }), about: 'relay:out' }],
  bounce_rate: [{ so: () => counted({ relay_bounced: 100 }), about: 'relay:out' }],
  complaint_rate: [{ so: () => counted({ relay_complained: 10 }), about: 'relay:out' }],
  queue_grows: [
    { so: () => figures({ spool: { ...FIGURES.spool, incoming: 9_000 } }), about: '', after: 30, within: 2 },
  ],
  quota: [{ so: () => ({ quotaUsed: 91 }), about: 'relay:out' }],
  certificate: [
    { so: () => ({ certificateLeftMs: 13 * DAY_MS }), about: 'node:one' },
    { so: () => told({ certificateEndsAt: EPOCH + DAY_MS }), about: 'node:two' },
  ],
  webhook_disabled: [
    {
      so: async () => {
        const { webhooks } = stores;
        await webhooks.addWebhookEndpoint(ENDPOINT, { ofKey: 9, all: 9 });
        const health = { ...HEALTHY, state: 'disabled', reason: 'It answered 410.' } as const;
        await webhooks.setWebhookHealth(ENDPOINT.endpoint.id, health, EPOCH);
        return {};
      },
      about: `webhook:${ENDPOINT.endpoint.id}`,
    },
  ],
  health: [
    {
      so: () => ({ notices: [{ name: 'configuration', status: 'degraded', detail: 'It has a fault.' }] }),
      about: 'check:configuration@one',
    },
    {
      so: () => told({ checks: [{ name: 'ports', status: 'degraded', detail: 'Port 25 is taken.' }] }),
      about: 'check:ports@two',
    },
  ],
  doctor: [
    {
      so: () => ({ findings: [{ name: 'DNS', status: 'fail', found: 'Nobody answers.', cure: null }] }),
      about: 'check:DNS',
      within: 11,
    },
  ],
  duplicates: [
    {
      so: () => figures({ possibleDuplicates: FIGURES.possibleDuplicates + 1 }),
      about: '',
      after: 1,
      within: 2,
    },
  ],
  refusals: [
    {
      so: () => figures({ today: { ...FIGURES.today, denied: FIGURES.today.denied + 7_000 } }),
      about: '',
      after: 10,
      within: 2,
    },
  ],
};

test.each(ALERT_RULE_NAMES.flatMap((rule) => CASES[rule].map((one) => ({ rule, ...one }))))(
  '$rule ($about)',
  async ({ rule, so, about, after = 0, within = 1 }) => {
    const begin = async () => {
      facts = { ...facts, ...(await so()) };
    };
    if (after === 0) await begin();
    const { passed, stop } = await watching();
    expect(await passed(after)).toEqual([]);
    if (after > 0) await begin();
    expect(await passed(within)).toEqual([`${rule} ${about}`]);
    await stop();
  },
);
