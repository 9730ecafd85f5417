import { type DmarcRecord, dmarcRecords, parseDmarcRecord, parseTags } from '../../dns/mail-records.ts';
import type { Resolver } from '../../dns/resolver.ts';
import { areAligned } from '../../lib/organizational-domain.ts';
import type { Finding } from '../../operations/system.ts';
import { fail, ok, skipped, warn } from '../doctor/finding.ts';
import { dmarcReportsTo, dmarcSuggestion, publish, zoneLine } from '../domain-records.ts';
import type { DomainCheck, Inquiry } from './inquiry.ts';

const NAME = 'DMARC';
/** Most parents of a domain to ask for a policy. */
const MAX_PARENTS = 5;
/** Most report addresses to examine. */
const MAX_REPORT_URIS = 5;

/** Whether the domain, or one above it, has a DMARC policy, and where reports go (RFC 7489). */
export const dmarcCheck: DomainCheck = async (inquiry, signal) => {
  const { name } = inquiry.domain;
  for (const owner of ownersOf(name)) {
    const answer = await inquiry.resolver.resolve(`_dmarc.${owner}`, 'TXT', signal);
    if (answer.kind === 'failed') return [skipped(NAME, `The policy is unknown: ${answer.text}`)];
    const [text, ...others] = answer.kind === 'found' ? dmarcRecords(answer.records) : [];
    if (text === undefined) continue;
    if (owner !== name && parseDmarcRecord(text)?.isSuffix === true) continue;
    return await judge(text, others.length, owner, inquiry, signal);
  }
  return [
    fail(
      NAME,
      'There is no policy: receivers do not know what to do with forged mail, and the big ones refuse bulk mail.',
      publish(zoneLine(`_dmarc.${name}`, dmarcSuggestion(name, inquiry.config))),
    ),
  ];
};

/**
 * The domain itself, its organizational domain, which is all that receivers ask (RFC 7489 §6.6.3), then those between:
 * they count if the policy above says that it belongs to a public suffix.
 */
function ownersOf(name: string): readonly string[] {
  const labels = name.split('.');
  const above = labels.map((_, at) => labels.slice(at).join('.')).filter((owner) => areAligned(owner, name));
  return [name, ...above.slice(1).slice(-MAX_PARENTS).reverse()];
}

async function judge(
  text: string,
  others: number,
  owner: string,
  { domain, resolver, config }: Inquiry,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const place = `_dmarc.${owner}`;
  if (others > 0)
    return [fail(NAME, `There are ${others + 1} policies at ${place}, so none counts.`, 'keep one of them')];
  const record = parseDmarcRecord(text);
  if (record === null)
    return [
      fail(
        NAME,
        `The record at ${place} is not a policy: ${text}`,
        publish(zoneLine(place, dmarcSuggestion(owner, config))),
      ),
    ];
  if (record.reportTo.length === 0)
    return [
      warn(
        NAME,
        `${sentence(record, owner, domain.name)}, and reports go nowhere: nobody tells you who sends in your name.`,
        publish(
          zoneLine(
            place,
            `${text.trimEnd().replace(/;$/, '')}; rua=mailto:${dmarcReportsTo(domain.name, config)}`,
          ),
        ),
      ),
    ];
  const foreign = await unwelcome(record.reportTo, owner, resolver, signal);
  if (foreign !== null)
    return [
      warn(
        NAME,
        `Reports are to go to ${foreign}, which does not say that it accepts them: receivers send it none.`,
        publish(
          zoneLine(`${owner}._report._dmarc.${foreign}`, 'v=DMARC1'),
          `give an address on ${owner}, or publish, in the zone of ${foreign}`,
        ),
      ),
    ];
  return [weighed(record, text, owner, domain.name)];
}

/** The verdict on a well-formed policy for a domain. */
function weighed(record: DmarcRecord, text: string, owner: string, name: string): Finding {
  const place = `_dmarc.${owner}`;
  if (record.isAssumed)
    return warn(
      NAME,
      `What is at ${place} has no p=, or an invalid sp=, and counts as p=none.`,
      publish(zoneLine(place, without(text, ['p', 'sp'], 'p=none'))),
    );
  const { tag, policy } = effective(record, owner, name);
  const said = sentence(record, owner, name);
  if (policy !== 'none' && record.percent === 0)
    return warn(
      NAME,
      `${said}, but pct=0 applies it to no mail.`,
      publish(zoneLine(place, without(text, ['pct']))),
    );
  const part = policy === 'none' || record.percent === 100 ? '' : `, for ${record.percent} % of the mail`;
  const next =
    policy === 'none'
      ? ` It asks only for reports; once they show that your own mail passes, publish ${tag}=quarantine.`
      : '';
  return ok(NAME, `${said}${part}.${next}`);
}

/** The policy for a domain, and its tag: `sp=` of a policy above, if present. */
function effective({ policy, below }: DmarcRecord, owner: string, name: string) {
  return owner === name || below === null
    ? { tag: 'p' as const, policy }
    : { tag: 'sp' as const, policy: below };
}

function sentence(record: DmarcRecord, owner: string, name: string): string {
  const { tag, policy } = effective(record, owner, name);
  return `The policy is ${tag}=${policy}${owner === name ? '' : `, from ${owner}`}`;
}

/** A policy without some of its tags, and with others after its version. */
function without(text: string, names: readonly string[], ...others: readonly string[]): string {
  const kept = [...(parseTags(text) ?? [])].filter(([name]) => name !== 'v' && !names.includes(name));
  return ['v=DMARC1', ...others, ...kept.map(([name, value]) => `${name}=${value}`)].join('; ');
}

/** A domain of another organization that gets reports without its consent (RFC 7489 §7.1); null if there is none. */
async function unwelcome(
  uris: readonly string[],
  owner: string,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<string | null> {
  for (const uri of uris.slice(0, MAX_REPORT_URIS)) {
    const host = /^mailto:[^@]+@([^?]+)/i.exec(uri)?.[1]?.toLowerCase();
    if (host === undefined || areAligned(host, owner)) continue;
    const answer = await resolver.resolve(`${owner}._report._dmarc.${host}`, 'TXT', signal);
    if (answer.kind === 'failed') continue;
    if (answer.kind !== 'found' || dmarcRecords(answer.records).length === 0) return host;
  }
  return null;
}
