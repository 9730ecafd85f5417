import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startDnsServer } from '../../test/peers/dns-server.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { loadConfig, NOTHING_STORED } from '../config/load.ts';
import { seededRandom } from '../lib/random.ts';
import { createMailDns } from './mail-dns.ts';

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
  const { resolver, policies } = createMailDns(() => config, new ManualClock(), seededRandom(1));
  expect(await policies.policyFor('evil.test', resolver, new AbortController().signal)).toEqual({
    kind: 'none',
    why: 'the policy cannot be had: mta-sts.evil.test has no address that may be connected to',
  });
});
