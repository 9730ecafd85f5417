import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startAuthority, type TestAuthority } from '../../test/peers/acme-authority.ts';
import { MemoryIssuing } from '../../test/support/issuing.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createVault } from '../config/secrets.ts';
import type { Log, LogFields } from '../lib/log.ts';
import { systemRandom } from '../lib/random.ts';
import { ChallengeDesk } from '../tls/challenge-desk.ts';
import { certificateId } from '../tls/request.ts';
import { Connection } from './https.ts';
import { CertificateKeeper, type IssuingTerms } from './keeper.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The first retry is due after five minutes, or a tenth earlier. */
const BEFORE_RETRY = 4 * 60_000;

let authority: TestAuthority;
let clock: ManualClock;
let desk: ChallengeDesk;
let issuing: MemoryIssuing;
let folder: string;
let terms: IssuingTerms | null;
let isOverruled: boolean;
let lines: [event: string, fields: LogFields | undefined][];
let stopping: AbortController;
let running: Promise<void>[];
let keepers: CertificateKeeper[];

beforeEach(async () => {
  clock = new ManualClock(Date.now());
  desk = new ChallengeDesk(clock, systemRandom);
  authority = await startAuthority(
    (token) => desk.textFor(`/.well-known/acme-challenge/${token}`),
    () => clock.wall(),
  );
  folder = mkdtempSync(join(tmpdir(), 'waybill-acme-'));
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, authority.ca);
  issuing = new MemoryIssuing();
  isOverruled = false;
  lines = [];
  running = [];
  keepers = [];
  stopping = new AbortController();
  terms = {
    names: ['mail.example.com', 'smtp.example.com'],
    directory: authority.directory,
    caFile,
    challenge: 'http-01',
    keyType: 'ec-256',
    renewPercent: 33,
    agreesToTerms: true,
    contact: 'postmaster@example.com',
    binding: null,
  };
});

afterEach(async () => {
  stopping.abort();
  await Promise.all(running);
  await authority.stop();
  rmSync(folder, { recursive: true });
});

function change(part: Partial<IssuingTerms>): void {
  terms = terms === null ? null : { ...terms, ...part };
}

function start(node = 'n1', isShared = false): CertificateKeeper {
  const at = (event: string, fields?: LogFields) => lines.push([event, fields]);
  const log: Log = { debug: at, info: at, warn: at, error: at };
  const vault = createVault(Buffer.alloc(32, 7), systemRandom);
  const keeper = new CertificateKeeper({
    issuing,
    desk,
    clock,
    random: systemRandom,
    log,
    node,
    isShared,
    connect: (ca) => new Connection(ca, 'Waybill/test', clock, stopping.signal),
    terms: () => terms,
    isOverruled: () => isOverruled,
    vault: () => vault,
    changed: () => {},
    stopping: stopping.signal,
  });
  keepers.push(keeper);
  running.push(keeper.run());
  return keeper;
}

function count(event: string): number {
  return lines.filter(([one]) => one === event).length;
}

/** Lets time pass until something was logged so often: the network takes real time, of which the clock does not know. */
async function until(event: string, times = 1, step = 100): Promise<void> {
  await vi.waitFor(
    async () => {
      await clock.advance(step);
      expect(count(event), JSON.stringify(lines)).toBeGreaterThanOrEqual(times);
    },
    { timeout: 20_000, interval: 5 },
  );
}

/** Lets every keeper look at once, until something was logged so often. */
async function soon(event: string, times: number): Promise<void> {
  for (const keeper of keepers) keeper.wake();
  await until(event, times);
}

/** Lets the wall clock go on, and every keeper look. */
async function pass(ms: number): Promise<void> {
  clock.jump(ms);
  for (const keeper of keepers) keeper.wake();
  await clock.advance(10);
}

function serial(keeper: CertificateKeeper): string {
  return new X509Certificate(keeper.pair?.cert ?? '').serialNumber;
}

function code(): unknown {
  return lines.find(([event]) => event === 'certificate.order_failed')?.[1]?.['code'];
}

describe('an order', () => {
  test('is made at once, and its key is sealed', async () => {
    const keeper = start();
    await until('certificate.issued');
    const found = new X509Certificate(keeper.pair?.cert ?? '');
    expect(found.subjectAltName).toBe('DNS:mail.example.com, DNS:smtp.example.com');
    expect(JSON.stringify(issuing.rows())).not.toContain('PRIVATE KEY');
    expect(desk.looksAtTls).toBe(false);
    expect(issuing.rows().challenges).toEqual([]);
  });

  test('is not made while the operator’s own certificate is in use, nor without names', async () => {
    isOverruled = true;
    start();
    await pass(DAY);
    isOverruled = false;
    terms = null;
    await pass(DAY);
    expect(issuing.rows().accounts).toEqual([]);
    expect(authority.asked).toEqual([]);
  });

  test('takes another nonce where the authority refuses the first', async () => {
    authority.faults.badNonces = 3;
    start();
    await until('certificate.issued');
    expect(count('certificate.order_failed')).toBe(0);
  });

  test('is made with another account where the authority has closed the first', async () => {
    const keeper = start();
    await until('certificate.issued');
    const first = serial(keeper);
    authority.faults.closesAccounts = true;
    const done = keeper.order();
    await until('certificate.issued', 2);
    await done;
    expect(authority.accounts.size).toBe(2);
    expect(serial(keeper)).not.toBe(first);
  });

  test('is made anew once the names have changed, and the present certificate stays until then', async () => {
    const keeper = start();
    await until('certificate.issued');
    const first = serial(keeper);
    change({ names: ['other.example.com'] });
    expect(serial(keeper)).toBe(first);
    await soon('certificate.issued', 2);
    expect(new X509Certificate(keeper.pair?.cert ?? '').subjectAltName).toBe('DNS:other.example.com');
  });

  test('is made by one of several nodes; all give the answers, and load the certificate', async () => {
    start('n1', true);
    start('n2', true);
    await until('certificate.issued', 1, 1000);
    await clock.advance(10_000);
    await vi.waitFor(() => expect(keepers.every(({ pair }) => pair !== null)).toBe(true));
    expect(new Set(keepers.map(serial)).size).toBe(1);
    expect(authority.orders).toHaveLength(1);
  });

  test('is made after the one that is under way, and not beside it', async () => {
    const keeper = start();
    await until('certificate.issued');
    const both = Promise.all([keeper.order(), keeper.order()]);
    await until('certificate.issued', 3);
    await both;
    expect(count('certificate.order_failed')).toBe(0);
  });

  test('that an operator wants is refused while another node makes one', async () => {
    const keeper = start('n1', true);
    await until('certificate.issued', 1, 1000);
    await vi.waitUntil(() => issuing.rows().holder === null);
    await issuing.leaseIssuing('n2', clock.wall(), clock.wall() + HOUR);
    await expect(keeper.order()).rejects.toThrow('another node orders it now');
    expect(authority.orders).toHaveLength(1);
  });

  test('is not made without agreement to the terms, even where there is an account', async () => {
    const keeper = start();
    await until('certificate.issued');
    change({ agreesToTerms: false });
    await expect(keeper.order()).rejects.toMatchObject({ code: 'terms_not_agreed' });
    expect(authority.orders).toHaveLength(1);
  });
});

describe('what goes wrong', () => {
  test.each<[what: string, expected: string, make: () => void]>([
    ['a limit of the authority', 'rate_limited', () => (authority.faults.rateLimited = '7200')],
    ['a challenge that fails', 'challenge_failed', () => (authority.faults.challengeError = 'unauthorized')],
    ['a name that the DNS does not have', 'dns_failed', () => (authority.faults.challengeError = 'dns')],
    ['a name that cannot be reached', 'not_reached', () => (authority.faults.challengeError = 'connection')],
    ['a CAA record', 'caa_forbids', () => (authority.faults.challengeError = 'caa')],
    ['an order that is given up', 'authority_failed', () => (authority.faults.givesUp = true)],
    ['a certificate for another key', 'certificate_unfit', () => (authority.faults.otherKey = true)],
    [
      'a certificate for another name',
      'certificate_unfit',
      () => (authority.faults.otherName = 'x.example.com'),
    ],
    [
      'a challenge that is not offered',
      'challenge_not_offered',
      () => (authority.faults.onlyOffers = 'dns-01'),
    ],
    ['an answer without end', 'authority_failed', () => (authority.faults.endless = true)],
    ['nonces that are never good', 'order_failed', () => (authority.faults.badNonces = 1000)],
  ])('%s is told as %s, and the certificate stays', async (_what, expected, make) => {
    const keeper = start();
    await until('certificate.issued');
    const first = serial(keeper);
    make();
    const done = keeper.order().catch((error: unknown) => error);
    await until('certificate.order_failed');
    expect(code()).toBe(expected);
    expect(await done).toMatchObject({ code: expected });
    expect(serial(keeper)).toBe(first);
    expect(keeper.view.renewal.fault).toMatchObject({ code: expected });
    expect(issuing.rows().holder).toBe(null);
  });

  test('an authority that does not answer', async () => {
    authority.faults.silent = true;
    const keeper = start();
    await until('certificate.order_failed', 1, 5_000);
    expect(code()).toBe('authority_slow');
    expect(keeper.pair).toBe(null);
  });

  test('an authority that is away', async () => {
    await authority.stop();
    start();
    await until('certificate.order_failed');
    expect(code()).toBe('authority_away');
    authority = await startAuthority(
      () => null,
      () => clock.wall(),
    );
  });

  test('an authority that is not trusted, until its root is given', async () => {
    const caFile = terms?.caFile ?? null;
    change({ caFile: null });
    start();
    await until('certificate.order_failed');
    expect(code()).toBe('authority_not_trusted');
    clock.jump(1000);
    const correctedAt = clock.wall();
    change({ caFile });
    await soon('certificate.issued', 1);
    expect(clock.wall() - correctedAt).toBeLessThan(BEFORE_RETRY);
  });

  test('a failed order is tried again, later each time, and not before the authority allows it', async () => {
    authority.faults.rateLimited = '7200';
    const keeper = start();
    await until('certificate.order_failed');
    const { fault, notBefore } = keeper.view.renewal;
    expect((notBefore ?? 0) - (fault?.at ?? 0)).toBe(2 * HOUR);
    authority.faults.rateLimited = null;
    await pass(HOUR);
    expect(count('certificate.issued')).toBe(0);
    clock.jump(HOUR);
    await soon('certificate.issued', 1);
    expect(keeper.view.renewal).toMatchObject({ failures: 0, fault: null });
  });

  test('it is tried at once where the settings are corrected', async () => {
    change({ agreesToTerms: false });
    start();
    await until('certificate.order_failed');
    expect(code()).toBe('terms_not_agreed');
    expect(authority.asked).toEqual([]);
    clock.jump(1000);
    const correctedAt = clock.wall();
    change({ agreesToTerms: true });
    await soon('certificate.issued', 1);
    expect(clock.wall() - correctedAt).toBeLessThan(BEFORE_RETRY);
  });
});

describe('a renewal', () => {
  test('is made when a third of the life is left', async () => {
    const keeper = start();
    await until('certificate.issued');
    const first = serial(keeper);
    await pass(59 * DAY);
    expect(serial(keeper)).toBe(first);
    clock.jump(2 * DAY);
    await soon('certificate.issued', 2);
    expect(serial(keeper)).not.toBe(first);
  });

  test('is made when the authority says so, as the successor of the certificate', async () => {
    const start0 = clock.wall();
    const window = { start: start0 + 10 * DAY, end: start0 + 11 * DAY };
    authority.suggestion = { window, retryAfter: '21600', explanation: 'https://ca.example/why' };
    const keeper = start();
    await soon('certificate.renewal_advised', 1);
    const id = certificateId(keeper.pair?.cert ?? '');
    const { orderAt, renewal } = keeper.view;
    expect(orderAt).toBeGreaterThanOrEqual(window.start);
    expect(orderAt).toBeLessThanOrEqual(window.end);
    expect(renewal.advice?.window.explanation).toBe('https://ca.example/why');
    expect(authority.orders[0]).not.toHaveProperty('replaces');
    clock.jump(11 * DAY);
    await soon('certificate.issued', 2);
    expect(authority.orders[1]).toMatchObject({ replaces: id });
  });

  test('is made at once where the window has passed: the authority wants to revoke it', async () => {
    const now = clock.wall();
    authority.suggestion = { window: { start: now + 60 * DAY, end: now + 61 * DAY }, retryAfter: '3600' };
    start();
    await soon('certificate.renewal_advised', 1);
    authority.suggestion = { window: { start: now - 2 * DAY, end: now - DAY }, retryAfter: '3600' };
    clock.jump(HOUR);
    await soon('certificate.issued', 2);
  });

  test('is made without a predecessor where the authority knows of another successor', async () => {
    const now = clock.wall();
    authority.suggestion = { window: { start: now + 60 * DAY, end: now + 61 * DAY }, retryAfter: '3600' };
    authority.faults.refusesReplaces = true;
    const keeper = start();
    await until('certificate.issued');
    const done = keeper.order();
    await until('certificate.issued', 2);
    await done;
    expect(authority.orders.map((order) => 'replaces' in order)).toEqual([false, true, false]);
  });

  test('is asked for once, where another node asked while this one waited for its turn', async () => {
    const now = clock.wall();
    const window = { start: now + 60 * DAY, end: now + 61 * DAY };
    authority.suggestion = { window, retryAfter: '3600' };
    const lease = issuing.leaseIssuing.bind(issuing);
    issuing.leaseIssuing = async (holder, at, until) => {
      const { issued, renewal } = issuing.rows();
      if (issued !== null && renewal.advice === null) {
        await lease('n2', at, until);
        const { start: drawnAt } = window;
        const advice = { window: { ...window, explanation: null }, drawnAt, askAgainAt: at + HOUR };
        await issuing.putRenewal('n2', { ...renewal, advice });
        await issuing.endIssuing('n2');
      }
      return await lease(holder, at, until);
    };
    start('n1', true);
    const eventually = (expected: () => void) =>
      vi.waitFor(() => clock.advance(1000).then(expected), { timeout: 20_000 });
    await eventually(() =>
      expect(issuing.rows()).toMatchObject({ holder: null, renewal: { advice: { drawnAt: window.start } } }),
    );
    expect(authority.asked).not.toContain('renewal');
    clock.jump(HOUR);
    await eventually(() => expect(authority.asked).toContain('renewal'));
  });
});
