import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startDnsServer } from '../../test/peers/dns-server.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { loadConfig, NOTHING_STORED } from '../config/load.ts';
import { seededRandom } from '../lib/random.ts';
import { type BoundSmtp, createMailDns, NOTHING_BOUND } from './mail-dns.ts';

/** The configuration that a file with this text makes. */
function configOf(text: string) {
  const dataDir = mkdtempSync(join(tmpdir(), 'waybill-mail-dns-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  writeFileSync(join(dataDir, 'waybill.yaml'), text);
  return loadConfig({ dataDir, environment: {}, stored: NOTHING_STORED, random: seededRandom(1) }).config;
}

test('no relay allows that a policy be fetched from a private address', async () => {
  const dns = await startDnsServer();
  const { address, port } = dns.endpoint;
  dns.set('_mta-sts.evil.test', 'TXT', ['v=STSv1; id=1;']);
  dns.set('mta-sts.evil.test', 'A', ['127.0.0.1']);
  const config = configOf(
    `dns: { servers: ["${address}:${port}"] }
relays: [{ name: inside, type: mx, helo: mx.example.net, allow_private: true }]\n`,
  );
  expect(config.relays.at(-1)).toMatchObject({ mx: { allowPrivate: true } });
  const { resolver, policies } = createMailDns(
    () => config,
    () => NOTHING_BOUND,
    new ManualClock(),
    seededRandom(1),
  );
  expect(await policies.policyFor('evil.test', resolver, new AbortController().signal)).toEqual({
    kind: 'none',
    why: 'the policy cannot be fetched: mta-sts.evil.test has no address that Waybill may connect to',
    fault: 'unfetched',
  });
});

describe('an address and a port are this server', () => {
  const ownOf = (text: string, bound: Partial<BoundSmtp>) => {
    const config = configOf(text);
    const { isOwn } = createMailDns(
      () => config,
      () => ({ ...NOTHING_BOUND, ...bound }),
      new ManualClock(),
      seededRandom(1),
    );
    return isOwn;
  };

  test('where it listens, whatever it was asked to listen on', () => {
    const isOwn = ownOf('listener: { ports: [25, 587] }\n', { smtp: [2525, 587], smtpTls: [465] });
    expect([2525, 587, 465].map((port) => isOwn('127.0.0.1', port))).toEqual([true, true, true]);
    // Another program has it: mail for it is not ours.
    expect(isOwn('127.0.0.1', 25)).toBe(false);
    expect(isOwn('192.0.2.1', 2525)).toBe(false);
  });

  test('nowhere while it does not listen, as a node that only delivers', () => {
    expect(ownOf('listener: { ports: [25] }\n', {})('127.0.0.1', 25)).toBe(false);
  });

  test('not at an address of this machine that it leaves to others', () => {
    const isOwn = ownOf('listener: { bind: ["192.0.2.7", "2001:db8::7"], ports: [25] }\n', { smtp: [25] });
    expect(isOwn('127.0.0.1', 25)).toBe(false);
    expect([isOwn('192.0.2.7', 25), isOwn('2001:db8::7', 25), isOwn('::ffff:192.0.2.7', 25)]).toEqual([
      true,
      true,
      true,
    ]);
    const isOwnOverIpv4 = ownOf('listener: { bind: ["0.0.0.0"], ports: [25] }\n', { smtp: [25] });
    expect([isOwnOverIpv4('127.0.0.1', 25), isOwnOverIpv4('::1', 25)]).toEqual([true, false]);
  });
});
