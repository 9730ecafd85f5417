/** Settings of the SMTP listener, by the real server. */
import { expect, type TestContext, test } from 'vitest';
import type { HealthReport } from '../../src/observe/health-report.ts';
import { ask } from '../crash/customer.ts';
import type { RunningServer } from '../peers/server.ts';
import { SmtpClient } from '../peers/smtp-client.ts';
import { startSmtpSink } from '../peers/smtp-sink.ts';
import { installed } from './service.ts';

const OURS = 'postmaster@mail.example.com';

/** What mail goes through to a relay, unless something keeps it here. */
async function setUp(context: TestContext) {
  const sink = await startSmtpSink();
  context.onTestFinished(() => sink.close());
  const configuration = (more: string) => `
api: { port: null }
webui: { port: null }
listener: { ports: [0], bind: ["127.0.0.1"] }
server: { hostname: mail.example.com${more} }
delivery: { default_relay: out }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none }]
`;
  const installation = installed(context, configuration(''));
  const server = await installation.start();
  return { sink, installation, server, configuration };
}

/** Hands in a message for these recipients. */
async function send(server: RunningServer, ...recipients: readonly string[]): Promise<void> {
  const client = await SmtpClient.connect(server.runtime.smtp[0] ?? 0);
  await client.reply();
  await client.ask('EHLO client.example.com');
  await client.ask('MAIL FROM:<ann@example.com>');
  for (const recipient of recipients) expect(await client.ask(`RCPT TO:<${recipient}>`)).toMatch(/^250 /);
  await client.ask('DATA');
  expect(await client.ask('Subject: x\r\n\r\nx\r\n.')).toMatch(/^250 2\.0\.0 queued as msg_/);
}

test('until somebody is named, mail to our own postmaster stays here, and no other', async (context) => {
  const { sink, installation, server, configuration } = await setUp(context);
  await send(server, 'Postmaster', OURS.toUpperCase(), 'postmaster@example.com');
  await sink.until(() => sink.messages.length === 1);
  expect(sink.messages.map(({ to }) => to)).toEqual([['postmaster@example.com']]);

  installation.configure(configuration(', postmaster: ops@example.net'));
  await server.printed(/config\.applied.*server\.postmaster|server\.postmaster.*config\.applied/);
  await send(server, 'postmaster', OURS);
  await sink.until(() => sink.messages.length === 2);
  expect(sink.messages[1]?.to).toEqual(['ops@example.net', OURS]);
});

test('the rows of listener.sources are shown one by one, as the file has them', async (context) => {
  const installation = installed(
    context,
    'listener: { ports: [], allowed_cidrs: [192.0.2.0/24], sources: [{ name: a, cidr: 192.0.2.1 }, { name: b, cidr: 192.0.2.2, tags: [x] }] }',
  );
  const row = { sender_domains: [], rate_per_minute: 0, tags: [] };
  const { stdout } = await installation.run('config', '--json');
  const rows = (JSON.parse(stdout) as { key: string; value: unknown }[])
    .filter(({ key }) => key.startsWith('listener.sources'))
    .map(({ key, value }) => [key, value]);
  expect(rows).toEqual([
    ['listener.sources[0]', { ...row, name: 'a', cidr: '192.0.2.1' }],
    ['listener.sources[1]', { ...row, name: 'b', cidr: '192.0.2.2', tags: ['x'] }],
  ]);
});

test('settings that need a restart stay as they run, and say so, until they are changed back', async (context) => {
  const configuration = (listener: string) =>
    `api: { port: null }\nwebui: { port: 0 }\nlistener: { bind: ["127.0.0.1"], ${listener} }\n`;
  const installation = installed(context, configuration('ports: [0]'));
  const server = await installation.start();
  const row = async (key: string) => {
    const { stdout } = await installation.run('config', '--json');
    return (JSON.parse(stdout) as { key: string }[]).find((setting) => setting.key === key);
  };
  const asStarted = await row('listener.ports');
  expect(asStarted).toMatchObject({ value: [0] });
  expect(asStarted).not.toHaveProperty('afterRestart');

  installation.configure(configuration('ports: [0, 0], hard_errors: 60'));
  await server.printed(/"keys":"listener.ports","event":"config.restart_needed"/);
  expect(await row('listener.ports')).toEqual({ ...asStarted, afterRestart: [0, 0] });
  expect(await row('listener.hard_errors')).toMatchObject({ value: 60 });
  expect((await installation.run('config')).stdout).toMatch(
    /^listener\.ports +\[0\] .*waybill\.yaml +restart needed: \[0,0\]$/m,
  );
  const health = JSON.parse((await ask(server, '/health')).body) as HealthReport;
  expect(health.smtp.configuredPorts).toEqual([0]);

  installation.configure(configuration('ports: [0], hard_errors: 61'));
  await server.printed(
    /"keys":"listener.hard_errors","event":"config.applied"[\s\S]*"keys":"listener.hard_errors"/,
  );
  expect(await row('listener.ports')).toEqual(asStarted);
  expect(server.output.match(/config\.restart_needed/g)).toHaveLength(1);
});
