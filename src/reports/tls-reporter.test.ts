import { gunzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { REPORTED_DAY as DAY, tlsCount, tlsSession } from '../../test/support/tls-report.ts';
import type { DnsAnswer, Resolver } from '../dns/resolver.ts';
import type { Submission } from '../domain/message.ts';
import type { IntakeAnswer } from '../engine/contract.ts';
import { createIdSource } from '../lib/id.ts';
import { silentLog } from '../lib/log.ts';
import { seededRandom } from '../lib/random.ts';
import { fieldValue } from '../mail/header-block.ts';
import { parameterOf, readReportParts } from '../mail/report-reading.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import { TlsReporter, type TlsReportTerms } from './tls-reporter.ts';

const DAY_MS = 86_400_000;
const FROM = 'tls@example.com';
const TERMS = { from: FROM, organization: 'Example', hostname: 'mail.example.com', isSigned: true };

function world() {
  // In the morning after the day that is reported on: every domain has had its turn.
  const clock = new ManualClock((DAY + 1) * DAY_MS + 5 * 3_600_000);
  const { tlsReports: store } = openSqlite(':memory:');
  const zone = new Map<string, string[]>();
  const sent: Submission[] = [];
  const posted: { uri: string; gzip: Uint8Array }[] = [];
  const state = {
    suspended: false,
    postFails: null as string | null,
    posting: Promise.resolve(),
    dnsFails: false,
    terms: TERMS as TlsReportTerms | null,
  };
  const resolver: Resolver = {
    async resolve(name, _type) {
      if (state.dnsFails) return { kind: 'failed', cause: 'dns_servfail', text: 'no' } as DnsAnswer<never>;
      const records = zone.get(name);
      const found = { kind: 'found', records, authenticated: false };
      return (records === undefined ? { kind: 'nxdomain', authenticated: false } : found) as DnsAnswer<never>;
    },
  };
  const accept = async ([submission]: readonly Submission[]): Promise<IntakeAnswer[]> => {
    if (submission === undefined) return [];
    const suspension = { code: 'disk_full', detail: 'The disk is full.' } as never;
    if (state.suspended) return [{ kind: 'suspended', suspension }];
    sent.push(submission);
    return [{ kind: 'accepted', id: submission.id ?? '', captured: false }];
  };
  const make = () =>
    new TlsReporter({
      store,
      intake: { accept, newId: createIdSource(clock, seededRandom(1)) },
      resolver,
      post: async (uri, gzip) => {
        posted.push({ uri, gzip });
        await state.posting;
        return state.postFails;
      },
      clock,
      log: silentLog,
      terms: () => state.terms,
    });
  const days = async () =>
    (await store.tlsDays({ domain: null, after: null, limit: 9 })).map(({ report }) => report);
  return { clock, store, zone, sent, posted, state, make, reporter: make(), days };
}

const quiet = new AbortController().signal;
let here: ReturnType<typeof world>;
beforeEach(async () => {
  here = world();
  const failed = {
    kind: 'bad',
    session: tlsSession({ result: 'starttls-not-supported', mxHost: 'mx.example.net' }),
  };
  await here.store.countTlsSessions([tlsCount(), tlsCount({ ...failed, count: 1 })], 9);
});

const rua = (...uris: string[]) =>
  here.zone.set('_smtp._tls.example.net', [`v=TLSRPTv1; rua=${uris.join()}`]);

test('a report goes by mail to whom the domain names, once', async () => {
  rua('mailto:tls@example.net');
  await here.reporter.round(quiet);
  await here.reporter.round(quiet);
  expect(here.sent).toHaveLength(1);
  const [message] = here.sent;
  expect(message).toMatchObject({
    envelope: { reversePath: '', recipients: [{ address: 'tls@example.net' }] },
    source: 'report',
    signing: 'any',
    header: { from: FROM },
  });
  const [root, text, file] = readReportParts(Buffer.concat([...(message?.content.chunks ?? [])]));
  if (root === undefined || file === undefined) throw new Error('it has no parts');
  expect(root.type).toBe('multipart/report');
  expect(parameterOf(root, 'report-type')).toBe('tlsrpt');
  const field = (name: string) => fieldValue(root.fields, name)?.trim();
  expect(field('subject')).toMatch(
    /^Report Domain: example\.net Submitter: mail\.example\.com\s+Report-ID: <2026-11-20-example\.net-\w{12}@mail\.example\.com>$/,
  );
  expect([field('tls-report-domain'), field('tls-report-submitter'), field('tls-required')]).toEqual([
    'example.net',
    'mail.example.com',
    'No',
  ]);
  expect(text?.type).toBe('text/plain');
  expect(file.type).toBe('application/tlsrpt+gzip');
  expect(fieldValue(file.fields, 'content-disposition')).toMatch(
    /filename="mail\.example\.com!example\.net!\d+!\d+!\w+\.json\.gz"/,
  );
  expect(JSON.parse(gunzipSync(file.octets).toString())).toMatchObject({
    'contact-info': FROM,
    policies: [{ summary: { 'total-successful-session-count': 3, 'total-failure-session-count': 1 } }],
  });
  expect(await here.days()).toMatchObject([{ state: 'sent', targets: [{ messageId: message?.id }] }]);
});

test('a message that carries a report is known as one, here and after a restart', async () => {
  rua('mailto:tls@example.net');
  await here.reporter.round(quiet);
  const id = here.sent[0]?.id ?? '';
  expect(here.reporter.isReport(id)).toBe(true);
  const next = here.make();
  expect(next.isReport(id)).toBe(false);
  await next.look();
  expect([next.isReport(id), next.isReport('msg_other')]).toEqual([true, false]);
});

test('a report goes over HTTPS, and is tried again until it is taken, without a second mail', async () => {
  rua('mailto:tls@example.net', 'https://tls.example.net/v1');
  here.state.postFails = 'the answer was 503';
  await here.reporter.round(quiet);
  expect(await here.days()).toMatchObject([
    { state: 'waiting', targets: [{ state: 'sent' }, { state: 'waiting', detail: 'the answer was 503' }] },
  ]);
  await here.reporter.round(quiet);
  expect(here.posted).toHaveLength(1);
  here.state.postFails = null;
  await here.clock.advance(600_000);
  await here.reporter.round(quiet);
  expect(here.posted).toHaveLength(2);
  expect(JSON.parse(gunzipSync(here.posted[1]?.gzip ?? new Uint8Array()).toString())).toHaveProperty(
    'report-id',
  );
  expect(here.sent).toHaveLength(1);
  expect(await here.days()).toMatchObject([{ state: 'sent', tries: 2 }]);
});

test('what is not taken within two days is given up', async () => {
  rua('https://tls.example.net/v1');
  here.state.postFails = 'refused';
  await here.reporter.round(quiet);
  await here.clock.advance(2 * DAY_MS);
  await here.reporter.round(quiet);
  expect(await here.days()).toMatchObject([
    { state: 'failed', targets: [{ state: 'failed', detail: 'refused' }] },
  ]);
});

test('a destination is given up with its report, also where the DNS is silent in the end', async () => {
  rua('https://tls.example.net/v1');
  here.state.postFails = 'refused';
  await here.reporter.round(quiet);
  here.state.dnsFails = true;
  await here.clock.advance(2 * DAY_MS);
  await here.reporter.round(quiet);
  expect(await here.days()).toMatchObject([
    { state: 'failed', targets: [{ state: 'failed', detail: 'refused' }] },
  ]);
});

test('while mail is not accepted, or the DNS does not answer, a report waits', async () => {
  rua('mailto:tls@example.net');
  here.state.dnsFails = true;
  await here.reporter.round(quiet);
  expect(await here.days()).toMatchObject([{ state: 'waiting', tries: 1 }]);
  here.state.dnsFails = false;
  here.state.suspended = true;
  await here.clock.advance(600_000);
  await here.reporter.round(quiet);
  expect(await here.days()).toMatchObject([
    { state: 'waiting', tries: 2, targets: [{ detail: 'The disk is full.' }] },
  ]);
  here.state.suspended = false;
  await here.clock.advance(1_200_000);
  await here.reporter.round(quiet);
  expect(await here.days()).toMatchObject([{ state: 'sent' }]);
});

test('a domain that wants none gets none, and is not asked again', async () => {
  await here.reporter.round(quiet);
  rua('mailto:tls@example.net');
  await here.clock.advance(DAY_MS);
  await here.reporter.round(quiet);
  expect(here.sent).toEqual([]);
  expect(await here.days()).toMatchObject([{ state: 'unwanted', targets: [] }]);
});

test('a day is reported on when it is over, spread over hours; and not at all without an address', async () => {
  rua('mailto:tls@example.net');
  const early = world();
  early.zone.set('_smtp._tls.example.net', ['v=TLSRPTv1; rua=mailto:tls@example.net']);
  await early.store.countTlsSessions([tlsCount({ day: DAY + 1 })], 9);
  await early.reporter.round(quiet);
  expect(await early.days()).toEqual([null]);
  here.state.terms = null;
  await here.reporter.round(quiet);
  expect(await here.days()).toEqual([null]);
  here.state.terms = TERMS;
  await here.reporter.round(quiet);
  const [report] = await here.days();
  const delay = 600_000 * 2 ** 0;
  expect(report?.nextAt).toBe(here.clock.wall() + delay);
});

test('a report that nothing signs waits, and goes over HTTPS all the same', async () => {
  rua('mailto:tls@example.net', 'https://tls.example.net/v1');
  here.state.terms = { ...TERMS, isSigned: false };
  await here.reporter.round(quiet);
  expect(here.sent).toEqual([]);
  expect(await here.days()).toMatchObject([
    { state: 'waiting', targets: [{ detail: `nothing signs mail from ${FROM}` }, { state: 'sent' }] },
  ]);
  here.state.terms = TERMS;
  await here.clock.advance(600_000);
  await here.reporter.round(quiet);
  expect([here.sent.length, here.posted.length]).toEqual([1, 1]);
  expect(await here.days()).toMatchObject([{ state: 'sent' }]);
});

test('a server that is silent holds up no other domain', async () => {
  rua('https://tls.example.net/v1');
  here.zone.set('_smtp._tls.zzz.example', ['v=TLSRPTv1; rua=mailto:tls@zzz.example']);
  await here.store.countTlsSessions([tlsCount({ domain: 'zzz.example' })], 9);
  const silence = Promise.withResolvers<void>();
  here.state.posting = silence.promise;
  const round = here.reporter.round(quiet);
  await expect.poll(() => [here.posted.length, here.sent.length]).toEqual([1, 1]);
  silence.resolve();
  await round;
});
