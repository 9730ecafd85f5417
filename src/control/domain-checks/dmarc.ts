import { dmarcRecords, parseDmarcRecord } from '../../dns/mail-records.ts';
import type { Resolver } from '../../dns/resolver.ts';
import { type Finding, fail, ok, skipped, warn } from '../doctor/finding.ts';
import { dmarcSuggestion, publish, zoneLine } from '../domain-records.ts';
import type { DomainCheck, Inquiry } from './inquiry.ts';

const NAME = 'DMARC';
/** Parents of a domain that are asked for a policy. */
const MAX_PARENTS = 5;
/** Addresses for reports that are looked at. */
const MAX_REPORT_URIS = 5;

/** Whether the domain, or one above it, has a DMARC policy, and where reports go (RFC 7489). */
export const dmarcCheck: DomainCheck = async (inquiry, signal) => {
  const { name } = inquiry.domain;
  for (const owner of ownersOf(name)) {
    const answer = await inquiry.resolver.resolve(`_dmarc.${owner}`, 'TXT', signal);
    if (answer.kind === 'failed') return [skipped(NAME, `The policy cannot be told: ${answer.text}`)];
    const [text, ...others] = answer.kind === 'found' ? dmarcRecords(answer.records) : [];
    if (text === undefined) continue;
    return await judge(text, others.length, owner, inquiry, signal);
  }
  return [
    fail(
      NAME,
      'There is no policy: receivers do not know what to do with forged mail, and the big ones refuse bulk mail.',
      publish(zoneLine(`_dmarc.${name}`, dmarcSuggestion(name))),
    ),
  ];
};

/** The domain itself, and those above it that are not a top level alone. */
function ownersOf(name: string): readonly string[] {
  const labels = name.split('.');
  const owners = labels.map((_, at) => labels.slice(at).join('.')).filter((owner) => owner.includes('.'));
  return [name, ...owners.slice(1).slice(-MAX_PARENTS)];
}

async function judge(
  text: string,
  others: number,
  owner: string,
  { domain, resolver }: Inquiry,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const place = `_dmarc.${owner}`;
  if (others > 0)
    return [
      fail(NAME, `There are ${others + 1} policies at ${place}, and then none counts.`, 'keep one of them'),
    ];
  const record = parseDmarcRecord(text);
  if (record === null)
    return [
      fail(
        NAME,
        `What is at ${place} is no policy: ${text}`,
        publish(zoneLine(place, dmarcSuggestion(owner))),
      ),
    ];
  if (record.reportTo.length === 0)
    return [
      warn(
        NAME,
        `The policy is p=${record.policy}, and reports go nowhere: nobody tells you who sends in your name.`,
        publish(zoneLine(place, `${text.replace(/;?\s*$/, '')}; rua=mailto:dmarc-reports@${domain.name}`)),
      ),
    ];
  const foreign = await unwelcome(record.reportTo, owner, resolver, signal);
  if (foreign !== null)
    return [
      warn(
        NAME,
        `Reports are to go to ${foreign}, which does not say that it takes them: receivers send it none.`,
        publish(
          zoneLine(`${owner}._report._dmarc.${foreign}`, 'v=DMARC1'),
          `give an address on ${owner}, or have published, in the zone of ${foreign}`,
        ),
      ),
    ];
  const from = owner === domain.name ? '' : `, which is that of ${owner}`;
  const next =
    record.policy === 'none'
      ? ' It asks for reports alone; once they show that your own mail passes, publish p=quarantine.'
      : '';
  return [ok(NAME, `The policy is p=${record.policy}${from}.${next}`)];
}

/** A domain that reports are sent to without its consent (RFC 7489 §7.1); null when there is none. */
async function unwelcome(
  uris: readonly string[],
  owner: string,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<string | null> {
  for (const uri of uris.slice(0, MAX_REPORT_URIS)) {
    const host = /^mailto:[^@]+@([^?]+)/i.exec(uri)?.[1]?.toLowerCase();
    if (host === undefined || isRelated(host, owner)) continue;
    const answer = await resolver.resolve(`${owner}._report._dmarc.${host}`, 'TXT', signal);
    if (answer.kind === 'failed') continue;
    if (answer.kind !== 'found' || dmarcRecords(answer.records).length === 0) return host;
  }
  return null;
}

/** Whether one lies below the other; that two below a third are the same house cannot be told here. */
function isRelated(a: string, b: string): boolean {
  return a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`);
}
