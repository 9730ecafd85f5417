/** Alerts and what belongs to them, for tests. */
import type { Alert, AlertSilence } from '../../src/domain/alert.ts';
import type { AlertChannel } from '../../src/domain/alert-channel.ts';
import type { AlertFacts } from '../../src/domain/alert-measures.ts';
import { createIdSource, type IdPrefix } from '../../src/lib/id.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { T0 } from '../contract/store/fixtures.ts';

function ids(prefix: IdPrefix): () => string {
  return createIdSource({ wall: () => T0 }, seededRandom(11), prefix);
}

const nextAlert = ids('alr_');
const nextChannel = ids('alc_');
const nextSilence = ids('als_');

/** An alert that fires since `T0`, of which nobody was told. */
export function alert(change: Partial<Alert> = {}): Alert {
  return {
    id: nextAlert(),
    rule: 'relay_resting',
    subject: 'relay:out',
    severity: 'warning',
    text: 'The relay out rests.',
    state: 'firing',
    since: T0,
    seenAt: T0,
    firedAt: T0,
    clearSince: null,
    unseenSince: null,
    resolvedAt: null,
    toldAt: null,
    notices: [],
    ...change,
  };
}

/** A channel that hears of everything. */
export function alertChannel(change: Partial<AlertChannel> = {}): AlertChannel {
  return {
    id: nextChannel(),
    name: 'ops',
    kind: 'slack',
    url: null,
    to: [],
    from: null,
    relay: null,
    enabled: true,
    severity: 'info',
    rules: [],
    createdAt: T0,
    updatedAt: T0,
    ...change,
  };
}

/** A silence over everything, for an hour. */
export function alertSilence(change: Partial<AlertSilence> = {}): AlertSilence {
  return {
    id: nextSilence(),
    rule: null,
    subject: null,
    createdAt: T0,
    until: T0 + 3_600_000,
    by: 'ann',
    note: '',
    ...change,
  };
}

/** What is measured where all is well. */
export function alertFacts(now: number, node: string): AlertFacts {
  return {
    now,
    node,
    databaseWell: true,
    checks: [],
    oldestDueSeconds: 0,
    relays: [],
    certificates: [],
    disabledWebhooks: [],
    nodes: [node],
    missingNodes: [],
    examined: null,
    rates: [],
    trend: { waiting: 0, grown: null, duplicates: null, refusals: null },
  };
}
