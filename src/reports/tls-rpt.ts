import type { TlsPolicy, TlsSession } from '../domain/tls-report.ts';

/** SMTP TLS reports (RFC 8460): the record that asks for them, and their JSON. */

/** Destinations of one domain that are used: whoever publishes a record decides where our mail goes. */
const MAX_TARGETS = 3;
const MAX_URI = 500;
const RECORD = /^v=TLSRPTv1[ \t]*(?:;|$)/;
const MAILTO = /^mailto:(.*)$/i;
const ADDRESS = /^[\w.!#$%&'*+/=^`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?$/i;
const HTTPS = /^https:\/\/[^\s/?#@]+(?:[/?][^\s]*)?$/i;
const DAY_MS = 86_400_000;

/** The destinations that the record of `_smtp._tls.DOMAIN` names (RFC 8460 §3); null: none, or more than one record. */
export function tlsReportTargets(records: readonly string[]): readonly string[] | null {
  const [record, ...others] = records.filter((text) => RECORD.test(text));
  if (record === undefined || others.length > 0) return null;
  const fields = record.split(';').map((field) => field.trim());
  const rua = fields.find((field) => /^rua[ \t]*=/.test(field));
  const uris = (rua ?? '')
    .replace(/^rua[ \t]*=/, '')
    .split(',')
    .map((uri) => uri.trim())
    .filter((uri) => uri.length <= MAX_URI && (mailAddressIn(uri) !== null || HTTPS.test(uri)));
  const unique = [...new Set(uris)].slice(0, MAX_TARGETS);
  return unique.length === 0 ? null : unique;
}

/** The address of a `mailto:` URI, in which some characters are encoded (RFC 6068); null if it is none. */
export function mailAddressIn(uri: string): string | null {
  const encoded = MAILTO.exec(uri)?.[1];
  if (encoded === undefined || encoded.includes('?')) return null;
  try {
    const address = decodeURIComponent(encoded);
    return ADDRESS.test(address) ? address : null;
  } catch {
    return null;
  }
}

/** Sessions alike, and how many there were. */
export interface CountedSessions {
  readonly session: TlsSession;
  readonly count: number;
}

/** What a report says of itself. */
export interface TlsReportHead {
  readonly organization: string;
  /** An address of whoever sends it. */
  readonly contact: string;
  readonly reportId: string;
  readonly domain: string;
  /** Days since 1970. */
  readonly day: number;
}

/** The report as RFC 8460 §4.4 has it: one entry for each policy that was met. */
export function tlsReportJson(head: TlsReportHead, sessions: readonly CountedSessions[]): object {
  const policies = new Map<string, { policy: TlsPolicy; sessions: CountedSessions[] }>();
  for (const one of sessions) {
    const key = JSON.stringify(one.session.policy);
    const known = policies.get(key) ?? { policy: one.session.policy, sessions: [] };
    known.sessions.push(one);
    policies.set(key, known);
  }
  return {
    'organization-name': head.organization,
    'date-range': {
      'start-datetime': timeOf(head.day * DAY_MS),
      'end-datetime': timeOf((head.day + 1) * DAY_MS - 1000),
    },
    'contact-info': head.contact,
    'report-id': head.reportId,
    policies: [...policies.values()].map((entry) => policyJson(head.domain, entry.policy, entry.sessions)),
  };
}

function policyJson(domain: string, policy: TlsPolicy, sessions: readonly CountedSessions[]): object {
  const failed = sessions.filter(({ session }) => session.result !== null);
  return {
    policy: {
      'policy-type': policy.type,
      ...(policy.strings.length > 0 && { 'policy-string': policy.strings }),
      'policy-domain': domain,
      ...(policy.mxHosts.length > 0 && { 'mx-host': policy.mxHosts }),
    },
    summary: {
      'total-successful-session-count': sum(sessions) - sum(failed),
      'total-failure-session-count': sum(failed),
    },
    ...(failed.length > 0 && { 'failure-details': failed.map(detailJson) }),
  };
}

function detailJson({ session, count }: CountedSessions): object {
  const { result, mxHost, mxAddress, localAddress, reason } = session;
  return {
    'result-type': result,
    ...(localAddress !== null && { 'sending-mta-ip': localAddress }),
    ...(mxHost !== null && { 'receiving-mx-hostname': mxHost }),
    ...(mxAddress !== null && { 'receiving-ip': mxAddress }),
    'failed-session-count': count,
    ...(reason !== null && { 'failure-reason-code': reason }),
  };
}

function sum(sessions: readonly CountedSessions[]): number {
  return sessions.reduce((total, { count }) => total + count, 0);
}

/** Whole seconds, as the examples of the RFC have it. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/** The name of the file (RFC 8460 §5.1): who reports on whom, and when. */
export function tlsReportFile({ domain, day, reportId }: TlsReportHead, reporter: string): string {
  const begin = (day * DAY_MS) / 1000;
  const unique = reportId.replace(/[^A-Za-z0-9]/g, '').slice(0, 40);
  return `${reporter}!${domain}!${begin}!${begin + DAY_MS / 1000 - 1}!${unique}.json.gz`;
}
