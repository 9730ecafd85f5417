import type { Attempt, Evidence } from '../../../src/domain/attempt.ts';
import type { EventsKept } from '../../../src/domain/event.ts';
import type { ApiKey } from '../../../src/domain/key.ts';
import type { LaneLease } from '../../../src/domain/lane.ts';
import { localReply, type Outcome } from '../../../src/domain/outcome.ts';
import { type SettlePolicy, settle } from '../../../src/domain/settle.ts';
import { createIdSource } from '../../../src/lib/id.ts';
import { seededRandom } from '../../../src/lib/random.ts';
import type { AcceptDelivery, AcceptRecord } from '../../../src/store/accepting.ts';
import type { Accounts, Keyring } from '../../../src/store/accounts.ts';
import type { Alerts } from '../../../src/store/alerts.ts';
import type { Configuring } from '../../../src/store/configuring.ts';
import type { DmarcReports } from '../../../src/store/dmarc-reports.ts';
import type { Erasures } from '../../../src/store/erasing.ts';
import type { Issuing } from '../../../src/store/issuing.ts';
import type { Journal } from '../../../src/store/journal.ts';
import type { BeginAnswer, UnitRef } from '../../../src/store/leased.ts';
import type { Registry } from '../../../src/store/registry.ts';
import type { RequestLog } from '../../../src/store/request-log.ts';
import type { Sharing } from '../../../src/store/sharing.ts';
import type { SettleAnswer, Settlement, Stamp, Store, Unit } from '../../../src/store/store.ts';
import type { SuppressionList } from '../../../src/store/suppressions.ts';
import type { Templates } from '../../../src/store/templates.ts';
import type { TlsReports } from '../../../src/store/tls-reports.ts';
import type { Traffic } from '../../../src/store/traffic.ts';
import type { PurgePolicy } from '../../../src/store/upkeep.ts';
import { type ListFilter, type ListQuery, UNFILTERED, type Views } from '../../../src/store/views.ts';
import type { Webhooks } from '../../../src/store/webhooks.ts';

/** A store under test, opened empty for one test and closed after it. */
export interface Subject {
  readonly store: Store;
  readonly views: Views;
  readonly keyring: Keyring;
  readonly registry: Registry;
  readonly configuring: Configuring;
  readonly accounts: Accounts;
  readonly journal: Journal;
  readonly suppressions: SuppressionList;
  readonly webhooks: Webhooks;
  readonly templates: Templates;
  readonly alerts: Alerts;
  readonly requests: RequestLog;
  readonly dmarc: DmarcReports;
  readonly tlsReports: TlsReports;
  readonly traffic: Traffic;
  readonly erasures: Erasures;
  readonly issuing: Issuing;
  readonly sharing: Sharing;
  holdPseudonymKey(key: Uint8Array): Promise<void>;
  /** Closes and opens again: what was committed must still be there. */
  reopen(): Promise<Subject>;
  /** Reads behind the seam's back what the store keeps by differences and no view shows. */
  books(): Promise<Books>;
  close(): Promise<void>;
}

/** See {@link Subject.books}. */
export interface Books {
  /** By key, how many of its messages are not final; a key with none may be missing. */
  readonly queues: ReadonlyMap<string, number>;
  /** Bytes of contents kept after the end, by the rule of retention that holds them. */
  readonly sentBytes: number;
  readonly capturedBytes: number;
}

/** How many records lists look at for a page, and for a slice of one; and which events are kept. */
export interface SubjectOptions {
  readonly maxExamined?: number;
  readonly sliceRecords?: number;
  readonly eventsKept?: EventsKept;
}

/** An implementation: opens one empty store after another. */
export type OpenSubject = (options?: SubjectOptions) => Promise<Subject>;

/** A Friday noon, far from any bucket's edge. */
export const T0 = Date.UTC(2026, 10, 20, 12, 0, 30);
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Retention that removes nothing. */
export const KEEP_ALL: PurgePolicy = {
  contentAgeMs: 1e12,
  contentMaxBytes: 1e12,
  capturedAgeMs: 1e12,
  capturedMaxBytes: 1e12,
  recordAgeMs: 1e12,
  eventAgeMs: 1e12,
  feedbackAgeMs: 1e12,
  maxUnsubscribeLinks: 1000,
};
export const POLICY: SettlePolicy = { firstMs: 30_000, maxMs: HOUR, maxAgeMs: 48 * HOUR, ambiguous: 'retry' };

/** A stamp at `T0 + ms` of a node. */
export function at(ms = 0, node = 'a'): Stamp {
  return { node, now: T0 + ms };
}

let clock = T0;
const nextId = createIdSource({ wall: () => clock++ }, seededRandom(1));

/** One recipient, waiting on lane `out` from `T0` on. */
export function recipient(change: Partial<AcceptDelivery> = {}): AcceptDelivery {
  const address = `r${clock++}@example.net`;
  return {
    recipient: { address, kind: 'to', notify: null, orcpt: null },
    relay: 'out',
    lane: 'out',
    rule: null,
    group: ['out'],
    dueAt: T0,
    fence: null,
    ...change,
  };
}

/** A message with one recipient, changed as wished. Ids rise from call to call. */
export function message(change: Partial<AcceptRecord> = {}): AcceptRecord {
  return {
    id: nextId(),
    createdAt: T0,
    keyId: 'key_one',
    test: false,
    source: 'api',
    sourceAddress: '127.0.0.1',
    reversePath: 'sender@example.com',
    ret: null,
    envid: null,
    header: { from: 'Sender <sender@example.com>', subject: 'Grüße', messageId: '<1@example.com>' },
    tags: [],
    metadata: {},
    sizeBytes: 1000,
    flags: { eightBit: false, utf8: false, dotStuffing: false },
    priority: 'normal',
    sendAt: null,
    expiresAt: T0 + 48 * HOUR,
    content: { segment: 1, offset: 0, length: 1000 },
    idempotency: null,
    reportable: false,
    stream: null,
    copies: null,
    ignoresSuppression: false,
    routeTable: 1,
    deliveries: [recipient()],
    ...change,
  };
}

/** Accepts messages, each changed as wished. Returns their ids. */
export async function acceptAll(store: Store, changes: readonly Partial<AcceptRecord>[]): Promise<string[]> {
  const records = changes.map(message);
  await store.accept(records, at());
  return records.map(({ id }) => id);
}

/** A page of ten at most, of the mail of all keys unless the query says otherwise. */
export async function listed(views: Views, filter: Partial<ListFilter>, query: Partial<ListQuery> = {}) {
  const all = { owner: 'all', statuses: [], before: null, limit: 10 } as const;
  const page = await views.list({ ...all, ...query, filter: { ...UNFILTERED, ...filter } });
  return { ids: page.messages.map(({ id }) => id), next: page.next };
}

/** A report on a message: to its sender, from nobody. */
export function report(change: Partial<AcceptRecord> = {}): AcceptRecord {
  return message({
    source: 'report',
    keyId: null,
    sourceAddress: null,
    reversePath: '',
    content: { segment: 9, offset: 0, length: 500 },
    deliveries: [recipient({ relay: 'back', lane: 'back', group: ['back'] })],
    ...change,
  });
}

/** Fails the deliveries of a message that are past their expiry; those without a report. */
export async function expireAll(store: Store, id: string, stamp: Stamp): Promise<boolean[]> {
  const past = (await store.expiring(1_000, stamp)).filter(({ messageId }) => messageId === id);
  const batch = past.map(({ messageId, deliveries }) => {
    return { messageId, indexes: deliveries.map(({ index }) => index), report: null };
  });
  return await store.expire(batch, stamp);
}

/** Takes a lane for an hour. */
export async function takeLane(store: Store, lane = 'out', stamp = at()): Promise<LaneLease> {
  const leases = await store.acquireLanes([lane], 0, stamp.now + HOUR, stamp);
  const lease = leases.find((one) => one.lane === lane);
  if (lease === undefined) throw new Error(`lane ${lane} was not granted`);
  return lease;
}

/** Claims up to `limit` units of a lane held by the stamp's node. */
export async function claim(
  store: Store,
  lease: LaneLease,
  limit = 100,
  stamp = at(),
): Promise<readonly Unit[]> {
  const [answer] = await store.claim([{ ...lease, order: 'high_first', limit, maxRecipients: 100 }], stamp);
  return answer?.units ?? [];
}

/** The reference to a unit; throws where none was claimed. */
export function refOf(unit: Unit | undefined): UnitRef {
  if (unit === undefined) throw new Error('no unit was claimed');
  const { messageId, lane, fence } = unit;
  return { messageId, lane, fence, indexes: unit.deliveries.map(({ index }) => index) };
}

/** The reference to a message's only delivery, leased the short way. */
export function refTo(messageId: string, lease: LaneLease, indexes: readonly number[] = [0]): UnitRef {
  return { messageId, lane: lease.lane, fence: lease.fence, indexes };
}

export const DELIVERED = {
  kind: 'delivered',
  captured: false,
  reply: { code: 250, enhanced: '2.0.0', cause: 'smtp_reply', text: 'Ok: queued as 4BQ' },
  providerMessageId: '4BQ',
  dsnPassed: false,
} as const satisfies Outcome;
export const CAPTURED: Outcome = { ...DELIVERED, captured: true, providerMessageId: null };
export const DEFERRED: Outcome = {
  kind: 'deferred',
  reply: { code: 451, enhanced: '4.7.1', cause: 'smtp_reply', text: 'Try again later' },
};
export const REJECTED: Outcome = {
  kind: 'rejected',
  reply: { code: 550, enhanced: '5.1.1', cause: 'smtp_reply', text: 'No such user' },
};
export const UNKNOWN: Outcome = { kind: 'unknown', reply: localReply('connection_lost', '4.4.2', 'gone') };

const EVIDENCE: Evidence = {
  host: 'mx.example.net',
  address: '192.0.2.1',
  tls: null,
  localAddress: '127.0.0.1',
  security: { verdict: 'none', mtaSts: 'none', dane: null },
  dns: [{ name: 'example.net', type: 'MX', result: 'found', answers: ['10 mx'], authenticated: false }],
  reused: false,
  timings: {
    queueMs: 4,
    dnsMs: null,
    connectMs: 1,
    tlsMs: null,
    mailMs: 1,
    transferMs: 2,
    replyMs: 1,
    totalMs: 3,
  },
  steps: [],
};

/** What an attempt with these outcomes, one per index of the unit, asks to be written. */
export function settlement(unit: UnitRef, outcomes: readonly Outcome[], stamp = at()): Settlement {
  const fresh = { attempts: 0, expiresAt: T0 + 48 * HOUR };
  return {
    unit,
    attempt: {
      startedAt: stamp.now,
      relay: unit.lane,
      evidence: EVIDENCE,
      results: unit.indexes.map((index, place) => ({ index, outcome: outcomes[place] ?? UNKNOWN })),
    },
    transitions: outcomes.map((outcome) => settle(fresh, outcome, POLICY, stamp.now, 0.5)),
    report: null,
    delayReported: [],
    refund: null,
  };
}

/** What `settle` answers when nothing was cancelled meanwhile, and when it wrote nothing. */
export const SETTLED: SettleAnswer = { kind: 'settled', cancelled: [] };
export const STALE: SettleAnswer = { kind: 'stale' };

/** Begins attempts by relays without a quota. */
export function beginAll(store: Store, units: readonly UnitRef[], stamp = at()): Promise<BeginAnswer[]> {
  return store.begin(
    units.map((unit) => ({ ...unit, recipients: [], quota: null })),
    stamp,
  );
}

/** Gives back units that took nothing off a quota. */
export function releaseAll(store: Store, units: readonly UnitRef[], stamp = at()): Promise<SettleAnswer[]> {
  return store.release(
    units.map((unit) => ({ ...unit, refund: null })),
    stamp,
  );
}

/** Begins an attempt of a unit and settles it, both at the stamp's time. */
export async function attempt(
  store: Store,
  unit: UnitRef,
  outcomes: readonly Outcome[],
  stamp = at(),
): Promise<SettleAnswer | undefined> {
  await beginAll(store, [unit], stamp);
  const [answer] = await store.settle([settlement(unit, outcomes, stamp)], stamp);
  return answer;
}

/** Every attempt of a message that has few. */
export async function attemptsOf(views: Views, id: string): Promise<readonly Attempt[]> {
  const { attempts } = await views.attempts(id, { after: 0, limit: 200 });
  return attempts;
}

/** The record of a message that must exist. */
export async function read(views: Views, id: string) {
  const detail = await views.message(id);
  if (detail === null) throw new Error(`message ${id} is missing`);
  return detail;
}

/** A key that may send, called as its id is. */
export function apiKey(id: string, rest: Partial<ApiKey> = {}): ApiKey {
  return {
    id,
    name: id,
    mode: 'live',
    prefix: 'wb_live_abc',
    scopes: ['messages:send'],
    createdAt: T0,
    lastUsedAt: null,
    expiresAt: null,
    revokedAt: null,
    rateLimit: null,
    cidrs: [],
    senderDomains: [],
    contentDays: null,
    recordDays: null,
    ...rest,
  };
}
