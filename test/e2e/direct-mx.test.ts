/** Direct delivery by the real program: the DNS asked, the hosts found, and what is kept and shown of it. */

import { expect, test } from 'vitest';
import type { RelayTest, RelayView } from '../../src/operations/relays.ts';
import { startDnsServer } from '../peers/dns-server.ts';
import { startSmtpSink } from '../peers/smtp-sink.ts';
import { startService } from './service.ts';

test('mail goes to the hosts of each domain, and the evidence says how', { timeout: 180_000 }, async () => {
  const dns = await startDnsServer();
  const sink = await startSmtpSink();
  for (const domain of ['one.test', 'two.test']) {
    dns.set(domain, 'MX', [{ preference: 10, exchange: `mx.${domain}` }]);
    dns.set(`mx.${domain}`, 'A', ['127.0.0.1']);
  }
  dns.set('null.test', 'MX', [{ preference: 0, exchange: '' }]);
  const service = await startService(`
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: null }
listener: { ports: [] }
server: { hostname: mail.example.com }
dns: { servers: ["127.0.0.1:${dns.endpoint.port}"] }
delivery: { default_relay: direct }
relays: [{ name: direct, type: mx, port: ${sink.port}, allow_private: true }]
`);
  try {
    const to = ['ann@one.test', 'bob@two.test', 'eve@null.test'];
    const id = await service.client.send({ from: 'a@example.com', to, subject: 'Hello', text: 'hi' });
    const record = await service.client.end(id);
    expect(record).toMatchObject({ outcome: 'partial' });
    expect(record.recipients?.map(({ status, lastEnhancedCode }) => [status, lastEnhancedCode])).toEqual([
      ['delivered', '2.0.0'],
      ['delivered', '2.0.0'],
      ['failed', '5.1.10'],
    ]);
    expect(sink.messages.map((message) => message.to).sort()).toEqual([['ann@one.test'], ['bob@two.test']]);
    expect(sink.commands[0]?.line).toBe('EHLO mail.example.com');
    const shown = await service.installation.run('messages', 'show', id);
    expect(shown.stdout).toContain('mx.one.test');

    const list = await service.installation.run('relays', 'list', '--json');
    expect((JSON.parse(list.stdout) as RelayView[]).at(-1)).toMatchObject({
      name: 'direct',
      type: 'mx',
      host: null,
      port: sink.port,
      tls: 'opportunistic',
      isDefault: true,
    });
    const tried = await service.installation.run('relays', 'test', 'direct', '--to', 'x@one.test', '--json');
    const { ok, steps } = JSON.parse(tried.stdout.trim().split('\n').at(-1) ?? '') as RelayTest;
    expect([ok, steps.at(-1)?.name]).toEqual([true, 'READY']);
    const gone = await service.installation.run('relays', 'test', 'direct', '--to', 'x@gone.test');
    expect([gone.code, gone.stdout]).toEqual([1, expect.stringContaining('dns_nxdomain')]);
    expect((await service.installation.run('relays', 'test', 'direct')).stderr).toContain('--to');
  } finally {
    await service.stop();
    await sink.close();
  }
});
