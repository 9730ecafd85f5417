/** What comes back by mail to the real program: records tell of it, also after a death, and nothing of it goes on. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { type DnsServer, startDnsServer } from '../peers/dns-server.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { bring as bringTo, notification, TAKEN } from '../support/bounce-mail.ts';
import { createKey, type Service, startService } from './service.ts';

const DOMAIN = 'bounces.example.com';
/** How long a report may take to be written, sent and read, in ms. */
const PATIENCE = { timeout: 30_000, interval: 100 };
const LETTER = { from: 'a@example.com', subject: 'Hello', text: 'It works.' };

function configuration(sink: SmtpSink, dns: DnsServer, threads: number): string {
  return `
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [0], bind: ["127.0.0.1"], allowed_cidrs: ["192.0.2.1"] }
server: { hostname: mail.example.com, public_url: https://mail.example.com }
threads: { ingest: ${threads} }
dns: { servers: ["127.0.0.1:${dns.endpoint.port}"] }
bounces: { domain: ${DOMAIN} }
delivery: { default_relay: direct }
health: { disk_critical_bytes: 0, disk_low_bytes: 0 }
relays: [{ name: direct, type: mx, port: ${sink.port}, allow_private: true }]
`;
}

async function started(threads: number) {
  const [dns, sink] = await Promise.all([startDnsServer(), startSmtpSink()]);
  dns.set('one.test', 'MX', [{ preference: 10, exchange: 'mx.one.test' }]);
  dns.set('mx.one.test', 'A', ['127.0.0.1']);
  dns.set(DOMAIN, 'MX', [{ preference: 10, exchange: 'mail.example.com' }]);
  dns.set(DOMAIN, 'TXT', ['v=spf1 +all']);
  dns.set('mail.example.com', 'A', ['127.0.0.1']);
  const service = await startService(configuration(sink, dns, threads));
  onTestFinished(async () => {
    await service.stop();
    await sink.close();
  });
  return { service, sink, dns };
}

/** {@link bringTo} to the listener of a service. */
const bring = ({ server }: Service, to: string, lines: readonly string[]) =>
  bringTo(server.runtime.smtp[0] ?? 0, to, lines);

/** Makes direct delivery go to the port of another server. */
async function sendTo(other: Service, service: Service, sink: SmtpSink, dns: DnsServer): Promise<void> {
  const [port] = other.server.runtime.smtp;
  service.installation.configure(configuration(sink, dns, 1).replace(`port: ${sink.port}`, `port: ${port}`));
  service.server.signal('SIGHUP');
  await vi.waitFor(async () => {
    const { stdout } = await service.installation.run('relays', 'show', 'direct', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ port });
  }, PATIENCE);
}

async function outcomesOf({ client }: Service, id: string) {
  const { status, recipients } = await client.record(id);
  return [status, ...recipients.map(({ outcome }) => outcome)];
}

test.each([1, 2])('a bounce that was taken is never forgotten (%i threads)', async (threads) => {
  const { service, sink } = await started(threads);
  const scopes = ['events:read', 'messages:read_all'].flatMap((name) => ['--scope', name]);
  const follower = await createKey(service.installation, 'follower', ...scopes);
  const to = ['ann@one.test', 'bob@one.test'];
  const ids = await Promise.all(to.map((address) => service.client.send({ ...LETTER, to: address })));
  const [id = '', other = ''] = ids;
  for (const sent of ids) expect(await service.client.end(sent)).toMatchObject({ status: 'delivered' });
  const pathTo = (address: string) =>
    sink.messages.find((message) => message.to.includes(address))?.from.replace(/^<(.*)>.*$/, '$1') ?? '';
  expect(pathTo('ann@one.test')).toMatch(/^b-[0-9a-hjkmnp-tv-z]{40}@bounces\.example\.com$/);
  expect(pathTo('bob@one.test')).not.toBe(pathTo('ann@one.test'));
  expect((await service.installation.run('messages', 'show', id)).stdout).toContain(pathTo('ann@one.test'));

  expect(await bring(service, `x${pathTo('ann@one.test')}`, notification('failed', 'ann@one.test'))).toMatch(
    /^550 5\.1\.1 /,
  );
  expect(await bring(service, 'ann@one.test', ['', 'Hi.'])).toMatch(/^550 5\.7\.1 /);
  expect(await bring(service, pathTo('bob@one.test'), notification('delivered', 'bob@one.test'))).toMatch(
    TAKEN,
  );
  expect(await bring(service, pathTo('ann@one.test'), notification('failed', 'ann@one.test'))).toMatch(TAKEN);
  await service.server.end('SIGKILL');
  await service.restart();
  expect(await outcomesOf(service, id)).toEqual(['failed', 'bounced']);
  const [ann] = (await service.client.record(id)).recipients;
  expect(ann?.bounce).toMatchObject({ type: 'hard', source: 'dsn', code: 550, enhancedCode: '5.1.1' });
  expect(await outcomesOf(service, other)).toEqual(['delivered', 'accepted']);
  expect((await service.client.record(other)).recipients[0]?.confirmedAt).toMatch(/^20/);

  const again = await service.client.send({ ...LETTER, to: 'ann@one.test' });
  await service.client.end(again);
  expect(await outcomesOf(service, again)).toEqual(['failed', 'suppressed']);
  const url = `${service.server.api}/api/v1/events?message=${id}&limit=50&after=0`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${follower}` } });
  const { events } = (await answer.json()) as { readonly events: readonly { readonly type: string }[] };
  expect(events.map(({ type }) => type)).toEqual(['message.queued', 'message.delivered', 'message.bounced']);
  // Nothing of what came in went on, and nobody was told by mail.
  expect(sink.messages.map((message) => message.to)).toHaveLength(2);
});

test('a recipient leaves by mail, and gets no more of this stream', async () => {
  const { service, sink } = await started(2);
  await service.installation.run('domains', 'add', 'example.com');
  const letter = { ...LETTER, to: 'ann@one.test', unsubscribe: { stream: 'news' } };
  const id = await service.client.send(letter);
  expect(await service.client.end(id)).toMatchObject({ status: 'delivered' });
  const [, path = ''] =
    /<mailto:(u-[^@]+@bounces\.example\.com)\?/.exec(String(sink.messages[0]?.content)) ?? [];
  expect(await bring(service, path, ['From: ann@one.test', 'Subject: unsubscribe', ''])).toMatch(TAKEN);
  expect((await service.client.record(id)).recipients[0]?.unsubscribedAt).toMatch(/^20/);
  const outcomeOf = async (fields: object) => {
    const sent = await service.client.send({ ...letter, ...fields });
    await service.client.end(sent);
    return await outcomesOf(service, sent);
  };
  expect(await outcomeOf({})).toEqual(['failed', 'suppressed']);
  expect(await outcomeOf({ unsubscribe: { stream: 'sales' } })).toEqual(['delivered', 'accepted']);
});

test('the doctor sends a bounce to itself, and says whether it came back', async () => {
  const { service, sink, dns } = await started(1);
  const found = async () => {
    const { stdout } = await service.installation.run('doctor', '--json');
    const { findings } = JSON.parse(stdout) as {
      readonly findings: readonly { name: string; status: string }[];
    };
    // What SPF says depends on the addresses of this machine.
    const own = findings.filter(({ name }) => /^bounce (MX|probe)$/.test(name));
    return own.map(({ name, status }) => `${name}: ${status}`);
  };
  // Direct delivery has the port of another server.
  expect(await found()).toEqual(['bounce MX: ok', 'bounce probe: warn']);
  await sendTo(service, service, sink, dns);
  expect(await found()).toEqual(['bounce MX: ok', 'bounce probe: ok']);
});

test('another Waybill bounces by its own report, and the record goes on to its end', async () => {
  const { service, sink, dns } = await started(1);
  // It takes everything from us, and its next hop refuses it.
  const refusing = await startSmtpSink({ script: { RCPT: '550 5.1.1 No such user here' } });
  const other = await startService(`
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: 0, bind: ["127.0.0.1"] }
listener:
  ports: [0]
  bind: ["127.0.0.1"]
  sources: [{ name: peer, cidr: 127.0.0.1, sender_domains: [${DOMAIN}, example.com] }]
server: { hostname: mx.one.test }
dns: { servers: ["127.0.0.1:${dns.endpoint.port}"] }
delivery: { default_relay: in, report_relay: back }
health: { disk_critical_bytes: 0, disk_low_bytes: 0 }
relays:
  - { name: in, type: smtp, host: 127.0.0.1, port: ${refusing.port}, tls: none }
  - { name: back, type: mx, port: ${service.server.runtime.smtp[0]}, allow_private: true }
`);
  onTestFinished(async () => {
    await other.stop();
    await refusing.close();
  });
  await sendTo(other, service, sink, dns);
  const id = await service.client.send({ ...LETTER, to: 'ann@one.test' });
  await vi.waitFor(
    async () => expect(await outcomesOf(service, id)).toEqual(['failed', 'bounced']),
    PATIENCE,
  );
  const [ann] = (await service.client.record(id)).recipients;
  expect(ann?.bounce).toMatchObject({ type: 'hard', source: 'dsn', code: 550, enhancedCode: '5.1.1' });
  const again = await service.client.send({ ...LETTER, to: 'ann@one.test' });
  await service.client.end(again);
  expect(await outcomesOf(service, again)).toEqual(['failed', 'suppressed']);
});
