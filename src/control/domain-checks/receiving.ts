/** How the domain receives mail: bounces and replies must find their way back, perhaps secured. */
import { isFullName, serverName } from '../../config/names.ts';
import { lookUpAddresses } from '../../dns/hosts.ts';
import { parseTlsReportRecord, tlsReportRecords } from '../../dns/mail-records.ts';
import { matchesPolicy, parseStsPolicy, parseStsRecord } from '../../dns/mta-sts.ts';
import type { Resolver } from '../../dns/resolver.ts';
import { fail, ok, skipped, warn } from '../doctor/finding.ts';
import { publish, zoneLine } from '../domain-records.ts';
import { type DomainCheck, optional } from './inquiry.ts';

/** Most hosts to look up. */
const MAX_HOSTS = 5;

/** Whether mail to the domain finds a host (RFC 5321 §5.1). */
export const mxCheck: DomainCheck = async ({ domain: { name }, resolver, config }, signal) => {
  const answer = await resolver.resolve(name, 'MX', signal);
  const own = serverName(config);
  const cure = isFullName(own)
    ? publish(
        `${name}. 3600 IN MX 10 ${own}.`,
        `publish, in the DNS (if another server accepts mail for ${name}, its name)`,
      )
    : `publish, in the DNS, an MX record of ${name} with the name of the server that accepts its mail`;
  if (answer.kind === 'failed') return [skipped('MX', `The hosts are unknown: ${answer.text}`)];
  if (answer.kind !== 'found') {
    const direct = await lookUpAddresses(resolver, name, 'any', signal);
    if (direct.kind === 'addresses')
      return [
        ok(
          'MX',
          `There is no record; mail goes to the domain's own address, ${direct.addresses.join(', ')}.`,
        ),
      ];
    if (direct.kind === 'deferred') return [skipped('MX', direct.reply.text)];
    return [
      fail(
        'MX',
        'No host accepts mail for the domain: bounces are lost, and many servers refuse such senders.',
        cure,
      ),
    ];
  }
  const hosts = hostsOf(answer.records);
  if (hosts.length === 0)
    return [
      fail(
        'MX',
        'The domain says that it accepts no mail at all (null MX): bounces are lost, and many servers refuse such senders.',
        cure,
      ),
    ];
  const found = await Promise.all(
    hosts.slice(0, MAX_HOSTS).map((host) => lookUpAddresses(resolver, host, 'any', signal)),
  );
  if (found.some(({ kind }) => kind === 'addresses')) return [ok('MX', `Mail goes to ${hosts.join(', ')}.`)];
  if (found.some(({ kind }) => kind === 'deferred'))
    return [skipped('MX', `The addresses of ${hosts.join(', ')} are unknown.`)];
  return [
    fail(
      'MX',
      `Mail goes to ${hosts.join(', ')}, which has no address: bounces are lost.`,
      `publish, in the DNS, an A or AAAA record of ${hosts[0]} with its address`,
    ),
  ];
};

/** Whether the domain's MTA-STS policy is available and names its hosts (RFC 8461). Having none is fine. */
export const mtaStsCheck: DomainCheck = async ({ domain: { name }, resolver, fetchPolicy, now }, signal) => {
  const answer = await resolver.resolve(`_mta-sts.${name}`, 'TXT', signal);
  if (answer.kind === 'failed') return [skipped('MTA-STS', `The record is unknown: ${answer.text}`)];
  const hosts = await mailHosts(name, resolver, signal);
  const day = new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
  const record = publish(zoneLine(`_mta-sts.${name}`, `v=STSv1; id=${day}`));
  const file = [
    `serve, at https://mta-sts.${name}/.well-known/mta-sts.txt:`,
    'version: STSv1',
    'mode: testing',
    ...hosts.map((host) => `mx: ${host}`),
    'max_age: 604800',
  ].join('\n');
  const meant = answer.kind === 'found' && answer.records.some((text) => /^v=STSv1/.test(text));
  if (!meant)
    return [
      hosts.length === 0
        ? skipped('MTA-STS', 'The domain has no MX record that a policy could name.')
        : optional(
            'MTA-STS',
            'There is no policy: mail to the domain may be sent in clear. That is usual.',
            `${record}\nand ${file}`,
          ),
    ];
  if (parseStsRecord(answer.records) === null)
    return [warn('MTA-STS', 'The record has a fault, or there is more than one: senders ignore it.', record)];
  const fetched = await fetchPolicy(name, signal);
  if (fetched.kind === 'failed')
    return [warn('MTA-STS', `The policy cannot be fetched: ${fetched.text}`, file)];
  const policy = parseStsPolicy(fetched.body);
  if (!policy.ok) return [warn('MTA-STS', `The policy is invalid: ${policy.reason}.`, file)];
  const { mode } = policy.policy;
  const left = hosts.filter((host) => !matchesPolicy(policy.policy, host));
  if (mode === 'none' || left.length === 0)
    return [ok('MTA-STS', `The policy is ${mode}, and names every host.`)];
  const tell = mode === 'enforce' ? fail : warn;
  return [
    tell('MTA-STS', `The policy (${mode}) does not name ${left.join(', ')}: no mail may go there.`, file),
  ];
};

/** Where reports on TLS to the domain go (RFC 8460). Having none is fine. */
export const tlsReportCheck: DomainCheck = async ({ domain: { name }, resolver }, signal) => {
  const place = `_smtp._tls.${name}`;
  const answer = await resolver.resolve(place, 'TXT', signal);
  if (answer.kind === 'failed') return [skipped('TLS-RPT', `The record is unknown: ${answer.text}`)];
  const cure = publish(zoneLine(place, `v=TLSRPTv1; rua=mailto:tls-reports@${name}`));
  const [text, ...others] = answer.kind === 'found' ? tlsReportRecords(answer.records) : [];
  if (text === undefined)
    return [
      optional(
        'TLS-RPT',
        'There is no record: nobody reports where TLS to the domain fails. That is usual.',
        cure,
      ),
    ];
  const uris = others.length > 0 ? null : parseTlsReportRecord(text);
  return [
    uris === null
      ? warn('TLS-RPT', 'The record has a fault, or there is more than one: senders ignore it.', cure)
      : ok('TLS-RPT', `Reports go to ${uris.join(', ')}.`),
  ];
};

async function mailHosts(name: string, resolver: Resolver, signal: AbortSignal): Promise<readonly string[]> {
  const answer = await resolver.resolve(name, 'MX', signal);
  return answer.kind === 'found' ? hostsOf(answer.records).slice(0, MAX_HOSTS) : [];
}

/** In the order in which they are tried; none for null MX (RFC 7505). */
export function hostsOf(
  records: readonly { readonly preference: number; readonly exchange: string }[],
): readonly string[] {
  const sorted = [...records].sort((a, b) => a.preference - b.preference);
  return sorted.map(({ exchange }) => exchange).filter((host) => host !== '');
}
