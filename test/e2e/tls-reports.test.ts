/** TLS reports by the real program: mail to real servers, a day that passes, and the report that one of them gets. */

import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { fieldValue } from '../../src/mail/header-block.ts';
import { parameterOf, readReportParts } from '../../src/mail/report-reading.ts';
import type { DomainDetail } from '../../src/operations/domains.ts';
import type { TlsReportsPage } from '../../src/operations/tls-reports.ts';
import { createCertificate } from '../peers/certificate.ts';
import { startDnsServer } from '../peers/dns-server.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { askMailauth } from '../support/dkim.ts';
import { keyRecords } from '../support/domain-desk.ts';
import { type Service, startService } from './service.ts';

const FROM = 'tls@example.com';

test('domains that ask for it are told of yesterday’s sessions, once, in a signed message', {
  timeout: 240_000,
}, async ({ onTestFinished }) => {
  const dns = await startDnsServer();
  const plain = await startSmtpSink();
  const certificate = createCertificate({ hosts: ['mx.secure.test'] });
  const secure = await startSmtpSink({ host: '127.0.0.2', port: plain.port, tls: 'starttls', certificate });
  for (const [domain, address] of [
    ['plain.test', '127.0.0.1'],
    ['secure.test', '127.0.0.2'],
  ] as const) {
    dns.set(domain, 'MX', [{ preference: 10, exchange: `mx.${domain}` }]);
    dns.set(`mx.${domain}`, 'A', [address]);
  }
  // Where reports go speaks no TLS: reports on TLS must not depend on it.
  dns.set('_smtp._tls.plain.test', 'TXT', ['v=TLSRPTv1; rua=mailto:tls%21rpt@plain.test']);
  const service = await startService(`
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: null }
listener: { ports: [] }
server: { hostname: mail.example.com }
dns: { servers: ["127.0.0.1:${dns.endpoint.port}"] }
delivery: { default_relay: direct }
relays: [{ name: direct, type: mx, port: ${plain.port}, allow_private: true }]
tls_reports: { from: ${FROM}, organization: Example }
`);
  onTestFinished(async () => {
    await service.stop();
    await plain.close();
    await secure.close();
  });
  const doctor = async () => (await service.installation.run('doctor')).stdout;
  expect(await doctor()).toContain(`Nothing signs mail from ${FROM}`);
  const added = await service.installation.run('domains', 'add', 'example.com', '--json');
  const detail = JSON.parse(added.stdout) as DomainDetail;
  expect(await doctor()).toContain(`They come from ${FROM}, signed by example.com.`);

  await sendTo(service, 'ann@plain.test');
  await sendTo(service, 'bob@secure.test');
  await daysPass(service, 2);
  await plain.until(() => reportsAt(plain).length === 1);
  const [report] = reportsAt(plain);
  if (report === undefined) throw new Error('there is no report');
  expect(report.to).toEqual(['tls!rpt@plain.test']);
  const [root, , file] = readReportParts(report.content);
  if (root === undefined || file === undefined) throw new Error('it has no parts');
  expect([root.type, parameterOf(root, 'report-type'), file.type]).toEqual([
    'multipart/report',
    'tlsrpt',
    'application/tlsrpt+gzip',
  ]);
  expect(JSON.parse(gunzipSync(file.octets).toString())).toMatchObject({
    'organization-name': 'Example',
    'contact-info': FROM,
    policies: [
      {
        policy: { 'policy-type': 'no-policy-found', 'policy-domain': 'plain.test' },
        summary: { 'total-successful-session-count': 0, 'total-failure-session-count': 1 },
        'failure-details': [
          {
            'result-type': 'starttls-not-supported',
            'receiving-mx-hostname': 'mx.plain.test',
            'receiving-ip': '127.0.0.1',
            'failed-session-count': 1,
          },
        ],
      },
    ],
  });
  // Receivers ignore a report that is not signed (RFC 8460 §3), and its fields are signed with it.
  const records = Object.fromEntries(
    keyRecords(detail, 'signing').map(({ name, zoneLine }) => [
      name,
      [...zoneLine.matchAll(/"([^"]*)"/g)].map(([, text]) => text).join(''),
    ]),
  );
  expect(new Set(await askMailauth(report.content, records))).toEqual(new Set(['pass']));
  expect(fieldValue(root.fields, 'dkim-signature')?.toLowerCase().replace(/\s/g, '')).toMatch(
    /h=[^;]*tls-report-domain[^;]*tls-report-submitter|h=[^;]*tls-report-submitter[^;]*tls-report-domain/,
  );

  // After another start it is not sent again, and its own session is in no report.
  await service.server.end('SIGTERM');
  await service.restart();
  await sendTo(service, 'ann@secure.test');
  const { stdout } = await service.installation.run('tls-reports', 'list', '--json');
  const { days } = JSON.parse(stdout) as TlsReportsPage;
  expect(days.filter(({ domain }) => domain === 'plain.test')).toMatchObject([
    {
      sessions: 1,
      failed: 1,
      state: 'sent',
      targets: [{ state: 'sent', uri: 'mailto:tls%21rpt@plain.test' }],
    },
  ]);
  expect(days.find(({ domain, state }) => domain === 'secure.test' && state !== 'counting')).toMatchObject({
    sessions: 1,
    failed: 0,
    state: 'unwanted',
  });
  expect(reportsAt(plain)).toHaveLength(1);
});

async function sendTo(service: Service, to: string): Promise<void> {
  const message = { from: 'a@example.com', to, subject: 'Hello', text: 'hi' };
  const record = await service.client.end(await service.client.send(message));
  expect(record.status).toBe('delivered');
}

/** Ends the server, which writes what it has counted; lets it find that days ago; and starts it again. */
async function daysPass(service: Service, days: number): Promise<void> {
  expect(await service.server.end('SIGTERM')).toBe(0);
  const database = new Database(join(service.installation.dataDir, 'waybill.db'));
  database.prepare('UPDATE tls_sessions SET day = day - ?').run(days);
  database.close();
  await service.restart();
}

function reportsAt(sink: SmtpSink) {
  return sink.messages.filter(({ content }) => content.includes('TLS-Report-Domain:'));
}
