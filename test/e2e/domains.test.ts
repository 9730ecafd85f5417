/** Domains by the real program: registered, published, checked, rotated; and what a recipient's server sees of it. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CheckedDomain, DomainDetail, DomainView } from '../../src/operations/domains.ts';
import { startDnsServer } from '../peers/dns-server.ts';
import { startSmtpSink } from '../peers/smtp-sink.ts';
import { keyRecords, publishRecords } from '../support/domain-desk.ts';
import { installed, startService } from './service.ts';

const NAME = 'example.com';

function configuration(dnsPort: number, sinkPort: number): string {
  return `
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: null }
listener: { ports: [] }
server: { hostname: mail.example.com }
dns: { servers: ["127.0.0.1:${dnsPort}"] }
delivery: { default_relay: out }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${sinkPort}, tls: none }]
`;
}

test('a domain is added, published, checked and rotated, and its mail signed accordingly', {
  timeout: 180_000,
}, async () => {
  const dns = await startDnsServer();
  const sink = await startSmtpSink();
  const service = await startService(configuration(dns.endpoint.port, sink.port));
  const domains = async (...args: string[]) => {
    const { code, stdout, stderr } = await service.installation.run('domains', ...args, '--json');
    expect(stderr).toBe('');
    return { code, result: JSON.parse(stdout) };
  };
  const detail = async (...args: string[]) => (await domains(...args)).result as DomainDetail;
  const check = async () => {
    const { code, result } = await domains('check', NAME);
    const [checked] = (result as { domains: CheckedDomain[] }).domains;
    if (checked === undefined) throw new Error('nothing was checked');
    return { code, ...checked };
  };
  /** The selectors that a letter sent now is signed with. */
  const signedWith = async () => {
    const before = sink.messages.length;
    const message = { from: `a@${NAME}`, to: 'b@example.net', subject: 'Hello', text: 'hi' };
    await service.client.end(await service.client.send(message));
    const [letter] = sink.messages.slice(before);
    const text = String(letter?.content).replace(/\r\n[ \t]+/g, '');
    const found = [...text.matchAll(/^DKIM-Signature:.*?\bs=([a-z0-9-]+)/gim)];
    return found.map(([, selector]) => selector).sort();
  };
  try {
    const added = await detail('add', NAME, '--selector', 'one');
    expect(added.keys.map(({ selector, state }) => `${selector} ${state}`)).toEqual([
      'oner signing',
      'onee signing',
    ]);
    expect(await signedWith()).toEqual(['onee', 'oner']);
    expect(await check()).toMatchObject({ code: 1 });

    publishRecords(dns, added.records);
    dns.set(NAME, 'MX', [{ preference: 10, exchange: `mx.${NAME}` }]);
    dns.set(`mx.${NAME}`, 'A', ['192.0.2.1']);
    const good = await check();
    expect(good.findings.filter(({ status }) => status === 'fail' || status === 'warn')).toEqual([]);
    expect(good.code).toBe(0);

    const rotated = await detail('rotate', NAME, '--selector', 'two');
    expect(await check()).toMatchObject({ code: 0, switchedTo: [] });
    expect(await signedWith()).toEqual(['onee', 'oner']);
    publishRecords(dns, keyRecords(rotated, 'waiting'));
    expect(await check()).toMatchObject({ code: 0, switchedTo: ['twor', 'twoe'] });
    expect(await signedWith()).toEqual(['twoe', 'twor']);
    const shown = await detail('show', NAME);
    expect(shown.keys.map(({ selector, state }) => `${selector} ${state}`)).toEqual([
      'oner retired',
      'onee retired',
      'twor signing',
      'twoe signing',
    ]);
    expect(keyRecords(shown, 'retired').map(({ note }) => note)).toEqual([
      expect.stringContaining('must stay until'),
      expect.stringContaining('must stay until'),
    ]);
    // An RSA key's PKCS #8 begins with these octets, an Ed25519 key's with those: neither stands anywhere in plain.
    for (const file of readdirSync(service.installation.dataDir).filter((name) =>
      name.startsWith('waybill.db'),
    ))
      expect(readFileSync(join(service.installation.dataDir, file)).toString('latin1')).not.toMatch(
        /MIIEv[A-Za-z0-9]{3}BADANBgkq|MC4CAQAwBQYDK2Vw/,
      );

    expect((await detail('remove', NAME)).name).toBe(NAME);
    expect(await signedWith()).toEqual([]);
    expect((await domains('list')).result).toEqual([]);
  } finally {
    await service.stop();
    await sink.close();
  }
});

test('without a server the same commands work, and wrong ones are refused', {
  timeout: 180_000,
}, async (context) => {
  const installation = installed(context, configuration(1, 1));
  const domains = (...args: string[]) => installation.run('domains', ...args);
  for (const wrong of [
    'example',
    '[192.0.2.1]',
    '192.0.2.1',
    'a@example.com',
    'ex ample.com',
    'a-.example',
  ]) {
    const { code, stderr } = await domains('add', wrong);
    expect([wrong, code, stderr]).toEqual([wrong, 2, expect.stringContaining('is not a domain')]);
  }
  const added = await domains('add', 'Bücher.Example', '--algorithm', 'ed25519');
  expect([added.code, added.stdout]).toEqual([
    0,
    expect.stringMatching(
      /wb[0-9]{8}e\._domainkey\.xn--bcher-kva\.example\. 3600 IN TXT "v=DKIM1; k=ed25519; p=/,
    ),
  ]);
  expect((await domains('add', 'xn--bcher-kva.example')).code).toBe(1);
  const list = JSON.parse((await domains('list', '--json')).stdout) as DomainView[];
  expect(list.map(({ name, keys }) => [name, keys.length])).toEqual([['xn--bcher-kva.example', 1]]);
  expect((await domains('rotate', 'bücher.example', '--selector', 'a.b')).code).toBe(2);
  expect((await domains('show', 'example.org')).stderr).toContain('waybill domains list');
  const now = await domains('rotate', 'bücher.example', '--now', '--selector', 'next');
  expect(now.stdout).toContain('sign from now on');
  expect((await domains('remove', 'bücher.example')).stdout).toContain(
    'next._domainkey.xn--bcher-kva.example',
  );
});
