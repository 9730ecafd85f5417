/** Fills a store and its spool by their verbs: messages in every state, with whatever else an installation has. */

import { FRESH_STATE } from '../../src/domain/certificate.ts';
import { NO_FACTS, NO_MESSAGE } from '../../src/domain/feedback.ts';
import type { Suppression } from '../../src/domain/suppression.ts';
import type { Spool } from '../../src/spool/spool.ts';
import type { AcceptRecord } from '../../src/store/accepting.ts';
import type { Accounts, Keyring } from '../../src/store/accounts.ts';
import type { Alerts } from '../../src/store/alerts.ts';
import { dayOf } from '../../src/store/counting.ts';
import type { DmarcReports } from '../../src/store/dmarc-reports.ts';
import { BEGINNING, type Erasures } from '../../src/store/erasing.ts';
import type { Issuing } from '../../src/store/issuing.ts';
import type { Journal } from '../../src/store/journal.ts';
import type { Registry } from '../../src/store/registry.ts';
import type { RequestLog } from '../../src/store/request-log.ts';
import type { Sharing } from '../../src/store/sharing.ts';
import type { Store } from '../../src/store/store.ts';
import type { SuppressionList } from '../../src/store/suppressions.ts';
import type { TellingItem, TellRules } from '../../src/store/telling.ts';
import type { Templates } from '../../src/store/templates.ts';
import type { TlsReports } from '../../src/store/tls-reports.ts';
import type { Traffic } from '../../src/store/traffic.ts';
import type { Webhooks } from '../../src/store/webhooks.ts';
import {
  at,
  attempt,
  CAPTURED,
  claim,
  DAY,
  DEFERRED,
  DELIVERED,
  HOUR,
  MINUTE,
  message,
  REJECTED,
  recipient,
  refOf,
  T0,
  takeLane,
} from '../contract/store/fixtures.ts';
import { alert, alertChannel, alertSilence } from './alerts.ts';
import { dmarcReport } from './dmarc-report.ts';
import { challengeAnswer, issuedCertificate } from './issuing.ts';
import { requestLine } from './request-line.ts';
import { savedView, storyLink } from './sharing.ts';
import { TELL_RULES } from './telling.ts';
import { tlsCount, tlsReport } from './tls-report.ts';
import { replyCount, trafficCount } from './traffic.ts';
import { storedEndpoint, tryOf } from './webhooks.ts';

const RULES: TellRules = { ...TELL_RULES, maxEntries: 100 };

/** What is filled. */
export interface Populated {
  readonly store: Store;
  readonly keyring: Keyring;
  readonly registry: Registry;
  readonly accounts: Accounts;
  readonly journal: Journal;
  readonly erasures: Erasures;
  readonly suppressions: SuppressionList;
  readonly webhooks: Webhooks;
  readonly templates: Templates;
  readonly dmarc: DmarcReports;
  readonly alerts: Alerts;
  readonly tlsReports: TlsReports;
  readonly traffic: Traffic;
  readonly issuing: Issuing;
  readonly sharing: Sharing;
  readonly requests: RequestLog;
  readonly spool: Spool;
}

/** Larger than what is read whole. */
const LARGE_BYTES = 1_300_000;
/** No database but SQLite holds a NUL in a text. */
const AWKWARD = 'Grüße \u0000 \u{1F4E8} "quoted"\r\n\tand folded';

/** Fills it with at least `count` messages of each kind, and leaves mail in processing. Gives the ids of all messages. */
export async function populate(into: Populated, count = 3): Promise<string[]> {
  const ids: string[] = [];
  const accept = async (changes: Partial<AcceptRecord>, size = 40) => {
    const record = await withContents(into.spool, changes, size + ids.length);
    await into.store.accept([record], at());
    into.spool.decided([record.content]);
    ids.push(record.id);
    return record.id;
  };
  for (let i = 0; i < count; i++) {
    await accept({ tags: [`tag ${i}`, 'all', 'x'.repeat(700)], keyId: i === 0 ? null : `key_${i}` });
    await accept({ idempotency: { key: `once ${i}`, hash: 'ab'.repeat(32) }, metadata: { order: `${i}` } });
    const header = { from: AWKWARD, subject: AWKWARD, messageId: `<${i}@x>` };
    await accept({
      header,
      priority: 'high',
      stream: AWKWARD,
      copies: [{ start: 0, length: 40, checksum: 1 }],
    });
  }
  await accept({ deliveries: [inLane('out'), inLane('other'), inLane('out')] }, LARGE_BYTES);
  const later = { sendAt: T0 + DAY, deliveries: [{ ...inLane('later'), dueAt: T0 + DAY }] };
  const copies = [{ start: 0, length: 40, checksum: 0xffff_ffff }];
  await accept({
    ...later,
    priority: 'bulk',
    door: 'ses',
    box: 'b.1',
    tls: 'required',
    stream: 'news',
    ignoresSuppression: true,
    copies,
  });
  await accept({ deliveries: [{ ...recipient(), relay: null, lane: null, group: [], rule: 'none' }] });
  await end(into.store, ids.length);
  await fillRegistry(into);
  await fillAccounts(into);
  await fillSuppressions(into);
  await fillFeedback(into.store, ids);
  await fillWebhooks(into.webhooks);
  await fillTemplates(into.templates);
  await into.dmarc.addDmarcReport(dmarcReport());
  await fillAlerts(into.alerts);
  await into.tlsReports.countTlsSessions([tlsCount()], 9);
  await into.tlsReports.saveTlsReport(tlsReport());
  await into.traffic.addTraffic([trafficCount()], 9);
  await into.traffic.addReplies([replyCount()], 9);
  await fillIssuing(into.issuing);
  await fillSharing(into.sharing);
  await into.requests.writeRequests([requestLine({ at: T0 })]);
  return ids;
}

/** Lets mail end in every way, and leaves some under way: begun, and not. */
async function end(store: Store, count: number): Promise<void> {
  const lease = await takeLane(store);
  const units = await claim(store, lease, count);
  const outcomes = [DELIVERED, DEFERRED, REJECTED, CAPTURED];
  for (const [place, unit] of units.slice(0, -3).entries()) {
    const outcome = outcomes[place % outcomes.length] ?? DELIVERED;
    const all = unit.deliveries.map(() => outcome);
    await attempt(store, refOf(unit), all, at(place * MINUTE));
  }
  await store.mark(
    units.map(({ messageId: id }) => ({ id, read: true, tags: [AWKWARD] })),
    at(MINUTE),
  );
  const quota = { relay: 'out', day: dayOf(T0), recipients: 1, limit: 100 };
  await store.begin(
    units.slice(-2).map((unit) => ({ ...refOf(unit), recipients: [], quota })),
    at(MINUTE),
  );
  await store.purge(
    {
      contentAgeMs: 0,
      contentMaxBytes: 1e9,
      capturedAgeMs: DAY,
      capturedMaxBytes: 1e9,
      recordAgeMs: 90 * DAY,
      eventAgeMs: 90 * DAY,
      feedbackAgeMs: 90 * DAY,
      maxUnsubscribeLinks: 1000,
    },
    1,
    at(HOUR),
  );
}

async function fillRegistry({ registry, keyring, store }: Populated): Promise<void> {
  for (const name of ['shop', 'news'])
    await keyring.create(
      {
        id: `key_${name}`,
        name,
        mode: 'live',
        prefix: 'wb_live_a',
        scopes: ['messages:send'],
        createdAt: T0,
        lastUsedAt: null,
        expiresAt: null,
        revokedAt: null,
        rateLimit: 7,
        cidrs: ['192.0.2.0/24'],
        senderDomains: ['example.com'],
        contentDays: null,
        recordDays: 30,
      },
      name.padEnd(64, '0'),
    );
  await keyring.revoke('key_news', T0);
  await keyring.rotate('key_shop', 'f'.repeat(64), 'wb_live_b', T0 + DAY, { id: 'WBONE', sealed: 'sealed' });
  await registry.putRelay({ name: 'out', definition: '{"host":"a"}', secret: 'sealed', disabled: true });
  await registry.putSettings(new Map([['delivery.default_relay', '"out"']]));
  await registry.putDomain({ name: 'example.com', definition: '{}', secrets: '{"s":"sealed"}' });
  await registry.putHold('out', { kind: 'pause', since: T0 });
  for (const origin of ['file', 'stored'] as const)
    await registry.publishRoutes({ publishedAt: T0, origin, definition: `{"origin":"${origin}"}` });
  await store.tally([{ event: 'denied', count: 4 }], at(DAY));
}

async function fillWebhooks(webhooks: Webhooks): Promise<void> {
  const stored = storedEndpoint({ description: AWKWARD, tags: ['news'] });
  await webhooks.addWebhookEndpoint(stored, { ofKey: 9, all: 9 });
  const cursor = await webhooks.webhookCursor();
  const deliveries = [1, 2].map((sequence) => {
    return { endpoint: stored.endpoint.id, sequence, type: 'message.queued' as const };
  });
  await webhooks.fanOut(cursor, cursor, deliveries, T0);
  const tried = {
    attempts: 0,
    one: tryOf({ status: 500, answer: 'broken' }),
    state: 'failed',
    nextTryAt: null,
  } as const;
  await webhooks.settleDelivery({ endpoint: stored.endpoint.id, sequence: 1, ...tried });
}

async function fillTemplates(templates: Templates): Promise<void> {
  const texts = { subject: 'Hello', html: '<p>Hello</p>', text: null, sample: { name: AWKWARD } };
  const saved = { id: 'tpl_00000000000000000000000001', alias: 'welcome', name: 'Welcome', ...texts };
  const bounds = { templates: 9, versions: 9 };
  await templates.saveTemplate({ ...saved, at: T0, by: 'ann', note: 'The first.' }, null, bounds);
  await templates.publishTemplate('welcome', 1, T0);
  await templates.saveTemplate({ ...saved, text: 'Hello', at: T0, by: '', note: '' }, 1, bounds);
}

async function fillIssuing(issuing: Issuing): Promise<void> {
  await issuing.leaseIssuing('n1', T0, T0 + DAY);
  await issuing.putAcmeAccount('n1', 'https://acme.example/directory', 'sealed');
  await issuing.putIssued('n1', issuedCertificate({ certificate: AWKWARD }), FRESH_STATE);
  await issuing.putChallenges('n1', [challengeAnswer()]);
}

async function fillSharing(sharing: Sharing): Promise<void> {
  const view = savedView({ name: AWKWARD, search: { q: AWKWARD } });
  await sharing.addView(view, 9);
  await sharing.shareView(view.user, view.id, 9);
  const link = storyLink({ madeBy: AWKWARD, expiresAt: T0 + DAY });
  await sharing.addStoryLink({ link, hash: 'f'.repeat(64) }, { ofMessage: 9, all: 9 }, T0);
}

async function fillAlerts(alerts: Alerts): Promise<void> {
  await alerts.setAlertRule('disk', { enabled: false });
  await alerts.addAlertChannel({ channel: alertChannel({ name: AWKWARD }), secret: 'sealed' }, 9);
  await alerts.addAlertSilence(alertSilence({ note: AWKWARD, until: T0 + DAY }), 9, T0);
  await alerts.writeAlerts([alert({ text: AWKWARD, state: 'resolved', resolvedAt: T0 })], []);
}

async function fillSuppressions({ suppressions }: Populated): Promise<void> {
  const entry = {
    scope: 'global',
    stream: null,
    reason: 'manual',
    source: 'api',
    evidence: null,
    note: AWKWARD,
    createdAt: T0,
    updatedAt: T0,
    expiresAt: null,
  } as const;
  const evidence = { messageId: null, at: T0, code: 550, enhancedCode: '5.1.1', text: AWKWARD };
  const entries: Suppression[] = [
    { ...entry, id: 'sup_1', address: 'ann@example.org' },
    { ...entry, id: 'sup_2', address: '*@*.example.net', scope: 'key:key_shop', stream: 'news' },
    { ...entry, id: 'sup_3', address: 'bob@example.org', evidence, expiresAt: T0 + DAY },
    { ...entry, id: 'sup_4', address: 'gone@example.org' },
  ];
  await suppressions.addSuppressions(entries, { max: 100, by: 'hand', now: T0 });
  await suppressions.removeSuppressions(['sup_4'], false, T0);
}

/** What became of mail: a bounce, confirmations, evidence, and something that comes too early. */
async function fillFeedback(store: Store, ids: readonly string[]): Promise<void> {
  const told = (id: string | undefined, kind: 'bounce' | 'confirmation', place: number): TellingItem => ({
    feedback: {
      kind,
      source: 'webhook:out',
      message: { ...NO_MESSAGE, id: id ?? null },
      recipient: null,
      bounce: { ...NO_FACTS, type: 'soft', text: 'later' },
      at: null,
    },
    onceId: `once ${place}`,
    entryId: `sup_told_${place}`,
  });
  // Mail of high priority went first.
  const items = [told(ids[2], 'bounce', 0), ...ids.map((id, place) => told(id, 'confirmation', place + 1))];
  const evidence = { contentType: 'message/rfc822', base64: Buffer.from(AWKWARD).toString('base64') };
  const early = [told('msg_none', 'confirmation', 99)];
  const telling = { source: 'webhook:out', evidence, mayBeEarly: true } as const;
  await store.tell(
    [
      { ...telling, id: 'fbk_1', items },
      { ...telling, id: 'fbk_2', items: early },
    ],
    RULES,
    at(HOUR),
  );
}

async function fillAccounts({ accounts, journal, erasures }: Populated): Promise<void> {
  await erasures.addErasure({
    id: 'era_1',
    pseudonym: 'erased-0@erased.invalid',
    sealed: 'v1.sealed',
    requestedAt: T0,
    finishedAt: null,
    progress: { ...BEGINNING, changed: { journal: 3 } },
  });
  await accounts.claimFirst('ada', '$argon2id$ada', T0);
  await accounts.addUser({ name: 'bert', role: 'viewer', createdAt: T0 });
  await accounts.putLink(
    { hash: 'd'.repeat(64), user: 'bert', expiresAt: T0 + DAY, mail: { to: AWKWARD, message: 'msg_x' } },
    T0,
  );
  await accounts.putSecondFactor('ada', { sealed: 'sealed', step: 5, recoveryHashes: ['a'.repeat(64)] });
  const passkey = {
    id: 'AAAA',
    user: 'ada',
    handle: 'BBBB',
    host: 'mail.example.com',
    publicKey: 'AAAA',
    counter: 3,
    label: 'Laptop',
    createdAt: T0,
    lastUsedAt: null,
  };
  await accounts.addPasskey(passkey, { hash: 'f'.repeat(64), expiresAt: T0 + DAY });
  const challenge = { hash: 'e'.repeat(64), expiresAt: T0 + DAY };
  await accounts.recordPasskeyUse('AAAA', { counter: 4, now: T0, challenge });
  await accounts.welcome(
    {
      account: { issuer: 'https://sso.example.com', subject: '0f3a' },
      role: 'operator',
      names: ['grace@example.com'],
      challenge: { hash: 'f'.repeat(64), expiresAt: T0 + DAY },
    },
    T0,
  );
  await accounts.addSession(
    {
      hash: 'e'.repeat(64),
      id: 'ses_1',
      user: 'ada',
      stage: 'full',
      createdAt: T0,
      lastSeenAt: T0,
      expiresAt: T0 + DAY,
      sourceAddress: '::1',
      agent: 'curl',
      offered: null,
    },
    { passwordHash: '$argon2id$ada', limit: 5, replaces: null },
  );
  for (let i = 0; i < 3; i++)
    await journal.record([
      {
        at: T0 + i,
        actorKind: 'user',
        actor: 'ada',
        sourceAddress: '::1',
        action: 'putSetting',
        subject: 'delivery.default_relay',
        before: null,
        after: '"out"',
      },
    ]);
  await journal.forgetEntries(T0 + 1, 1);
}

function inLane(lane: string) {
  return recipient({ relay: lane, lane, group: [lane] });
}

async function withContents(
  spool: Spool,
  changes: Partial<AcceptRecord>,
  size: number,
): Promise<AcceptRecord> {
  const record = message(changes);
  const line = `Message ${record.id}\r\n`;
  const bytes = Buffer.from(line.repeat(Math.ceil(size / line.length)));
  const content = { chunks: [bytes], sizeBytes: bytes.length, flags: record.flags };
  const [ref] = await spool.append([{ messageId: record.id, content }]);
  if (ref === undefined) throw new Error('nothing was appended');
  return { ...record, content: ref, sizeBytes: bytes.length };
}
