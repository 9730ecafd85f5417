import { isFullName } from '../../config/helo-name.ts';
import { serverName } from '../../config/server-name.ts';
import { lookUpAddresses } from '../../dns/addresses.ts';
import {
  evaluateSpf,
  MAX_SPF_LOOKUPS,
  MAX_SPF_VOIDS,
  type SpfNode,
  type SpfWalk,
  walkSpf,
} from '../../dns/spf.ts';
import { type Finding, fail, ok, skipped, warn } from '../doctor/finding.ts';
import { isInside } from '../doctor/ranges.ts';
import { spfSuggestion, zoneLine } from '../domain-records.ts';
import { addressMechanism, type Senders, sendersOf } from '../domain-senders.ts';
import { type DomainCheck, type Inquiry, publish } from './inquiry.ts';

const NAME = 'SPF';

/** Whether the domain's SPF record lets through what is sent for it here (RFC 7208). */
export const spfCheck: DomainCheck = async (inquiry, signal) => {
  const { domain, resolver, config, ownAddresses } = inquiry;
  const senders = await withPublicAddresses(sendersOf(config, ownAddresses), inquiry, signal);
  const walk = await walkSpf(domain.name, resolver, signal);
  const flaw = flawOf(walk.root, inquiry, senders);
  if (flaw !== null) return [flaw];
  const problems = [...costs(walk, domain.name), ...open(walk.root), ...missing(walk, senders, domain.name)];
  return problems.length > 0 ? problems : [allIsWell(walk, senders)];
};

/** Behind NAT the machine does not know where its mail seems to come from; its name should. */
async function withPublicAddresses(
  senders: Senders,
  { config, resolver }: Inquiry,
  signal: AbortSignal,
): Promise<Senders> {
  const host = serverName(config);
  if (!senders.unknownAddresses || !isFullName(host)) return senders;
  const found = await lookUpAddresses(resolver, host, 'any', signal);
  const addresses = found.kind === 'addresses' ? found.addresses.filter((address) => !isInside(address)) : [];
  return { ...senders, addresses, unknownAddresses: addresses.length === 0 };
}

function flawOf({ flaw, domain, text }: SpfNode, { config }: Inquiry, senders: Senders): Finding | null {
  const whole = publish(zoneLine(domain, spfSuggestion(config, senders.addresses)));
  switch (flaw?.kind) {
    case undefined:
      return null;
    case 'unknown':
      return skipped(NAME, `The record cannot be told: ${flaw.detail}`);
    case 'none':
      return fail(
        NAME,
        'There is no record: nobody can tell our mail from forged mail by its address.',
        whole,
      );
    case 'many':
      return fail(
        NAME,
        `There are ${flaw.detail} records, and then none of them counts.`,
        `keep one, with all that is in the others; for what is sent here: ${whole}`,
      );
    case 'malformed':
      return fail(
        NAME,
        `The record has a term that is none, ${flaw.detail}, and so counts for nothing.`,
        `mend it: ${text}`,
      );
  }
}

function costs({ lookups, voids }: SpfWalk, domain: string): readonly Finding[] {
  if (lookups > MAX_SPF_LOOKUPS)
    return [
      fail(
        NAME,
        `The record makes receivers ask the DNS ${lookups} times or more; beyond ${MAX_SPF_LOOKUPS} it counts for nothing.`,
        `take includes of ${domain} away that no mail is sent by, or write ip4: and ip6: for a, mx and include`,
      ),
    ];
  if (voids > MAX_SPF_VOIDS)
    return [
      warn(
        NAME,
        `${voids} of the names in the record have no answer; beyond ${MAX_SPF_VOIDS} some receivers count it for nothing.`,
        `take what is not there any more out of the record of ${domain}`,
      ),
    ];
  return [];
}

function open({ terms, text }: SpfNode): readonly Finding[] {
  const all = terms.find(({ mechanism }) => mechanism.name === 'all');
  if (all?.mechanism.qualifier !== 'pass') return [];
  return [
    fail(NAME, 'The record lets everybody send for the domain (+all).', `end it in ~all or -all: ${text}`),
  ];
}

function missing({ root, includes }: SpfWalk, senders: Senders, domain: string): readonly Finding[] {
  const results = senders.addresses.map((address) => ({ address, result: evaluateSpf(root, address) }));
  const refused = results.filter(({ result }) => result !== 'pass' && result !== 'unknown');
  const absent = senders.includes.filter((one) => !includes.has(one.domain));
  const additions = [
    ...refused.map(({ address }) => addressMechanism(address)),
    ...absent.map((one) => `include:${one.domain}`),
  ];
  const whole = `${publish(zoneLine(domain, amended(root.text, additions)))}, in the place of what is there`;
  return [
    ...refused.map(({ address, result }) =>
      fail(
        NAME,
        `The record does not allow ${address}, which mail is sent from: the result is ${result}.`,
        whole,
      ),
    ),
    ...absent.map((one) =>
      warn(
        NAME,
        `The record does not include ${one.domain}, by which the relay ${one.relay} sends: where the provider uses an address of this domain as envelope sender, its mail fails.`,
        whole,
      ),
    ),
  ];
}

/** The record with more mechanisms, before all others: nothing that is there can end it earlier. */
function amended(text: string, additions: readonly string[]): string {
  const [version = 'v=spf1', ...terms] = text.split(' ').filter((term) => term !== '');
  return [version, ...additions, ...terms].join(' ');
}

function allIsWell(
  { root, lookups }: SpfWalk,
  { addresses, includes, strangers, unknownAddresses }: Senders,
): Finding {
  const unsure = addresses.filter((address) => evaluateSpf(root, address) === 'unknown');
  const sure = addresses.filter((address) => !unsure.includes(address));
  const allowed = [...sure, ...includes.map(({ domain }) => domain)];
  const sentences = [
    allowed.length > 0
      ? `It allows ${allowed.join(', ')}; ${lookups} of ${MAX_SPF_LOOKUPS} questions.`
      : 'There is one record.',
    ...(unsure.length > 0
      ? [`Whether it allows ${unsure.join(', ')} depends on the message, or was not told.`]
      : []),
    ...strangers.map(({ host }) => `What it must have for ${host}, its operator can tell.`),
    ...(unknownAddresses ? ['Which public address mail is sent from is not known here.'] : []),
  ];
  return ok(NAME, sentences.join(' '));
}
