import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { createServerList, parseResolvConf } from './servers.ts';

const HERE = [{ address: '127.0.0.1', port: 53 }];

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'waybill-resolv-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

test('three servers are read, and what is none is passed over', () => {
  const text = `# nameserver 192.0.2.9
; nameserver 192.0.2.9
search example.net
nameserver 192.0.2.1
nameserver\t2001:db8::1 # ours
 nameserver 192.0.2.9
nameserver fe80::1%eth0
nameserver dns.example.net
options timeout:1
nameserver 192.0.2.2\r
nameserver 192.0.2.3
`;
  expect(parseResolvConf(text).map(({ address }) => address)).toEqual([
    '192.0.2.1',
    '2001:db8::1',
    '192.0.2.2',
  ]);
});

test('a file that names no server, or is not there, means one on this host', () => {
  expect(parseResolvConf('search example.net\n')).toEqual(HERE);
  expect(createServerList(new ManualClock(), join(folder(), 'none'))(null)).toEqual(HERE);
});

test('a change of the file holds within a second', async () => {
  const clock = new ManualClock();
  const file = join(folder(), 'resolv.conf');
  writeFileSync(file, 'nameserver 192.0.2.1\n');
  const servers = createServerList(clock, file);
  expect(servers(null)).toMatchObject([{ address: '192.0.2.1' }]);
  // Replaced as tools do it: a new file in the place of the old one.
  writeFileSync(`${file}.new`, 'nameserver 192.0.2.2\n');
  renameSync(`${file}.new`, file);
  await clock.advance(999);
  expect(servers(null)).toMatchObject([{ address: '192.0.2.1' }]);
  await clock.advance(1);
  expect(servers(null)).toMatchObject([{ address: '192.0.2.2' }]);
  rmSync(file);
  await clock.advance(1000);
  expect(servers(null)).toEqual(HERE);
});

test('what is configured counts in its stead', () => {
  const servers = createServerList(new ManualClock(), join(folder(), 'none'));
  expect(servers(['192.0.2.1:5353', '::1'])).toEqual([
    { address: '192.0.2.1', port: 5353 },
    { address: '::1', port: 53 },
  ]);
});
