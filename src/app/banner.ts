import type { Config } from '../config/schema.ts';
import { portDetail } from '../domain/health.ts';
import { INBOX } from '../domain/relay.ts';
import { COMMAND, dataOption } from '../lib/command-name.ts';
import type { BoundPorts } from './ports.ts';

/** What a person reads once the service is up: where it listens, and what to paste next (contract §14). */
export function banner(
  version: string,
  dataDir: string,
  config: Config,
  ports: BoundPorts,
  setUpPath: string | null,
): string {
  const lines = [`Waybill ${version} is running.`, ''];
  const show = (name: string, value: string) => lines.push(`  ${name.padEnd(16)}${value}`);
  if (ports.api !== null) show('Ingestion API', `http://localhost:${ports.api}`);
  if (ports.apiTls !== null) show('', `https://localhost:${ports.apiTls}`);
  if (ports.webui !== null) show('Dashboard', `https://localhost:${ports.webui}${setUpPath ?? '/'}`);
  if (ports.webui !== null) show('Health', `https://localhost:${ports.webui}/health`);
  if (ports.webui !== null) show('Metrics', `https://localhost:${ports.webui}/metrics`);
  const smtp = [
    ...ports.smtp.map((port) => `smtp://localhost:${port}`),
    ...ports.smtpTls.map((port) => `smtps://localhost:${port}`),
  ];
  for (const [index, url] of smtp.entries()) show(index === 0 ? 'SMTP' : '', url);
  show('Data', dataDir);
  if (ports.faults.length > 0) lines.push('', ...ports.faults.map((fault) => `  ${portDetail(fault)}`));
  if (ports.webui !== null && setUpPath !== null)
    lines.push(
      '',
      '  Open the dashboard by this link, which works once and for an hour, and choose a password. Its certificate is',
      '  self-signed unless tls.cert_file says otherwise. From another machine, put the name of this one for localhost.',
      `  A new link: ${COMMAND} admin setup-link`,
    );
  if (config.delivery.defaultRelay === INBOX)
    lines.push('', '  Mail is captured in the local inbox; nothing is sent until a relay is added.');
  if (ports.api !== null) lines.push('', ...firstSteps(dataDir, ports.api));
  const [smtpPort] = ports.smtp;
  if (smtpPort !== undefined) lines.push(...(ports.api === null ? [''] : []), ...firstLetter(smtpPort));
  return lines.join('\n');
}

function firstSteps(dataDir: string, port: number): string[] {
  const data = dataOption(dataDir);
  const message = '{"from":"me@example.com","to":["you@example.com"],"subject":"Hello","text":"It works."}';
  // A name of its own each time it is pasted: names of keys that are not revoked are unique.
  return [
    'Create a key and send a first message from another terminal:',
    '',
    `  KEY=$(${COMMAND} keys create first-$(date +%s) --quiet${data})`,
    `  curl -s http://localhost:${port}/api/v1/messages -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '${message}'`,
    '',
  ];
}

function firstLetter(port: number): string[] {
  const letter = "printf 'Subject: Hello\\n\\nIt works.\\n'";
  const envelope = '--mail-from me@example.com --mail-rcpt you@example.com';
  return ['Or over SMTP:', '', `  ${letter} | curl -sS smtp://localhost:${port} ${envelope} --crlf -T -`, ''];
}
