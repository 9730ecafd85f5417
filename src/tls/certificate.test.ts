import { X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import type { Log, LogFields } from '../lib/log.ts';
import { systemRandom } from '../lib/random.ts';
import { type Certificate, loadCertificate } from './certificate.ts';
import { createSelfSigned } from './self-signed.ts';

const DAY = 86_400_000;
const EPOCH = Date.UTC(2026, 10, 20);

let folder: string;
let clock: ManualClock;
let lines: [event: string, message: LogFields[string]][];
let open: Certificate[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waybill-tls-'));
  clock = new ManualClock(EPOCH);
  lines = [];
  open = [];
});

afterEach(() => {
  for (const certificate of open) certificate.stop();
  rmSync(folder, { recursive: true });
});

async function load(files: boolean, hostname = 'mail.example.com'): Promise<Certificate> {
  const own = lines;
  const at = (event: string, fields?: LogFields) => own.push([event, fields?.['message']]);
  const log: Log = { debug: at, info: at, warn: at, error: at };
  const certificate = await loadCertificate({
    files: files ? { certFile: join(folder, 'c.pem'), keyFile: join(folder, 'k.pem') } : null,
    directory: folder,
    hostname,
    clock,
    random: systemRandom,
    log,
  });
  open.push(certificate);
  return certificate;
}

function writePair(host: string, days = 90): void {
  const pair = createSelfSigned({
    hosts: [host],
    notBefore: EPOCH,
    notAfter: EPOCH + days * DAY,
    random: systemRandom,
  });
  writeFileSync(join(folder, 'c.pem'), pair.cert);
  writeFileSync(join(folder, 'k.pem'), pair.key);
}

/** Lets time pass until `done`: reading files takes real time, which the clock does not know of. */
async function passUntil(done: () => boolean): Promise<void> {
  while (!done()) await clock.advance(10_000);
}

function parsed(certificate: Certificate): X509Certificate {
  return new X509Certificate(certificate.current.cert);
}

test('without files one is made for the host name, localhost and local addresses, and kept for its owner', async () => {
  const certificate = await load(false);
  for (const host of ['mail.example.com', 'localhost'])
    expect(parsed(certificate).checkHost(host)).toBe(host);
  for (const address of ['127.0.0.1', '::1']) expect(parsed(certificate).checkIP(address)).toBe(address);
  expect(certificate.expiresAt - parsed(certificate).validFromDate.getTime()).toBe(397 * DAY);
  for (const file of ['tls.key', 'tls.crt']) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(folder, 'tls.crt'), 'utf8')).toBe(certificate.current.cert);
});

test('it is the same after a restart', async () => {
  const first = await load(false);
  expect((await load(false)).current).toEqual(first.current);
});

test.each([
  ['another host name', 'other.example.com', 0],
  ['a clock set back before its first day', 'mail.example.com', -2 * DAY],
  ['fewer than 30 days left', 'mail.example.com', 366 * DAY],
])('it is made anew for %s', async (_case, hostname, days) => {
  const first = await load(false);
  clock = new ManualClock(EPOCH + days);
  expect((await load(false, hostname)).current.cert).not.toBe(first.current.cert);
});

test('it is made anew when the stored one is damaged', async () => {
  await load(false);
  writeFileSync(join(folder, 'tls.key'), 'nonsense');
  const again = await load(false);
  expect(readFileSync(join(folder, 'tls.key'), 'utf8')).toBe(again.current.key);
});

test('it renews itself 30 days before it expires, and tells', async () => {
  const certificate = await load(false);
  const first = certificate.current;
  const told: unknown[] = [];
  certificate.onChange((pair) => told.push(pair));
  clock.jump(365 * DAY);
  await certificate.reload();
  expect(certificate.current).toBe(first);
  clock.jump(DAY);
  await passUntil(() => told.length > 0);
  expect(told).toEqual([certificate.current]);
  expect(certificate.current).not.toEqual(first);
});

test('a machine without a proper name gets one for localhost, once', async () => {
  const first = await load(false, 'my_host!');
  expect(parsed(first).subject).toBe('CN=localhost');
  expect((await load(false, 'my_host!')).current).toEqual(first.current);
});

test('files are used, and reloaded when they change', async () => {
  writePair('a.example.com', 90);
  const certificate = await load(true);
  expect(parsed(certificate).subject).toBe('CN=a.example.com');
  expect(certificate.expiresAt).toBe(EPOCH + 90 * DAY);
  expect(existsSync(join(folder, 'tls.key'))).toBe(false);
  let changes = 0;
  certificate.onChange(() => changes++);
  writePair('b.example.com', 120);
  await passUntil(() => changes > 0);
  expect(parsed(certificate).subject).toBe('CN=b.example.com');
  expect(certificate.expiresAt).toBe(EPOCH + 120 * DAY);
});

test('a change that is no good is logged once, and the old pair stays until both files fit', async () => {
  writePair('a.example.com');
  const certificate = await load(true);
  const key = readFileSync(join(folder, 'k.pem'));
  writePair('b.example.com');
  writeFileSync(join(folder, 'k.pem'), key);
  await certificate.reload();
  await certificate.reload();
  expect(parsed(certificate).subject).toBe('CN=a.example.com');
  expect(lines).toEqual([
    [
      'certificate.not_reloaded',
      `tls.key_file (${join(folder, 'k.pem')}): the key is not the one of the certificate in tls.cert_file (${join(folder, 'c.pem')})`,
    ],
  ]);
  writePair('c.example.com');
  await certificate.reload();
  expect(parsed(certificate).subject).toBe('CN=c.example.com');
});

test('a start with files that are no good fails and names setting and file', async () => {
  await expect(load(true)).rejects.toThrow(
    `tls.cert_file (${join(folder, 'c.pem')}) cannot be read: there is no such file`,
  );
  writePair('a.example.com');
  writeFileSync(join(folder, 'c.pem'), 'nonsense');
  await expect(load(true)).rejects.toThrow(
    `tls.cert_file (${join(folder, 'c.pem')}): there is no certificate in PEM form in it`,
  );
});

test('one that has ended is used, with a warning', async () => {
  writePair('a.example.com', -1);
  await load(true);
  expect(lines).toEqual([
    [
      'certificate.expired',
      `tls.cert_file (${join(folder, 'c.pem')}): the certificate expired at 2026-11-19T00:00:00.000Z; clients will refuse it`,
    ],
  ]);
});
