import type { ResultOf } from '../../../../src/operations/table.ts';

/** What a check of the DNS found, beside the records that it is about. */

/** A record to publish. */
export type DnsRecord = ResultOf<'domain'>['records'][number];
/** What was found in one place. */
export type Finding = ResultOf<'checkDomains'>[number]['findings'][number];

/** What a record is called by the findings on it. */
function findingName({ purpose, name }: Pick<DnsRecord, 'purpose' | 'name'>): string {
  return purpose === 'dkim' ? `DKIM ${name.split('.')[0] ?? ''}` : purpose.toUpperCase();
}

/** What was found on a record: the worst of it; null where nobody has looked. */
export function findingOf(
  record: Pick<DnsRecord, 'purpose' | 'name'>,
  findings: readonly Finding[],
): Finding | null {
  const own = findings.filter(({ name }) => name === findingName(record));
  return own.find(({ status }) => status === worstOf(own)) ?? null;
}

/** What was found that is about none of the records: how the domain receives mail, for example. */
export function otherFindings(
  records: readonly DnsRecord[],
  findings: readonly Finding[],
): readonly Finding[] {
  const shown = records.map((record) => findingOf(record, findings));
  return findings.filter((finding) => !shown.includes(finding));
}

/** How a domain is, all in all: the worst that was found. */
export function worstOf(findings: readonly Finding[]): Finding['status'] | null {
  const order = ['fail', 'warn', 'ok', 'skipped'] as const;
  return order.find((status) => findings.some((finding) => finding.status === status)) ?? null;
}
