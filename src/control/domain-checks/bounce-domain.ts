import { isFullName, serverName } from '../../config/names.ts';
import type { Config } from '../../config/schema.ts';
import { lookUpAddresses } from '../../dns/hosts.ts';
import type { Resolver } from '../../dns/resolver.ts';
import { evaluateSpf, type SpfNode, walkSpf } from '../../dns/spf.ts';
import type { Finding } from '../../operations/system.ts';
import { fail, ok, skipped, warn } from '../doctor/finding.ts';
import type { Machine } from '../doctor/premises.ts';
import { isInside } from '../doctor/ranges.ts';
import { publish, sendersOf, spfSuggestion, zoneLine } from '../domain-records.ts';
import { hostsOf } from './receiving.ts';
import { withPublicAddresses } from './spf.ts';

/** Whether bounces come back to a domain of return paths (contract-2 §A2): its MX is this server, and SPF allows us. */

/** What the checks need. */
export interface BounceFacts {
  readonly domain: string;
  readonly config: Config;
  readonly resolver: Resolver;
  readonly machine: Pick<Machine, 'addresses' | 'dialogue'>;
  /** A local part of ours, and what we answer to mail there; null if the key of our tokens cannot be read. */
  readonly probe: { readonly localPart: string; readonly proof: string } | null;
}

/** What was found. */
export interface BounceVerdict {
  /** MX, SPF and the probe, in this order. */
  readonly findings: readonly Finding[];
  /** Whether mail may use it, by MX and SPF; null: not known now. */
  readonly isGood: boolean | null;
}

/** Most hosts to look up. */
const MAX_HOSTS = 5;
/** Addresses that a probe tries. */
const MAX_TRIED = 2;
const SMTP_PORT = 25;

/** Checks a domain. The findings' names begin with `name`. */
export async function checkBounceDomain(
  name: string,
  facts: BounceFacts,
  signal: AbortSignal,
): Promise<BounceVerdict> {
  const [place, spf] = await Promise.all([
    mxOf(`${name} MX`, facts, signal),
    spfOf(`${name} SPF`, facts, signal),
  ]);
  const probe = await probed(`${name} probe`, place.addresses, facts, signal);
  const both = [place.finding.status, spf.status];
  const isGood = both.includes('fail') ? false : both.includes('skipped') ? null : true;
  return { findings: [place.finding, spf, probe], isGood };
}

/** Where mail to the domain goes. */
interface Place {
  readonly finding: Finding;
  /** Of hosts that are this server. */
  readonly addresses: readonly string[];
}

async function mxOf(name: string, facts: BounceFacts, signal: AbortSignal): Promise<Place> {
  const { domain, config, resolver } = facts;
  const own = serverName(config);
  const nowhere = (finding: Finding): Place => ({ finding, addresses: [] });
  const cure = publish(
    `${domain}. 3600 IN MX 10 ${own}.`,
    'publish, in the DNS, and no other MX record there',
  );
  const answer = await resolver.resolve(domain, 'MX', signal);
  if (answer.kind === 'failed')
    return nowhere(skipped(name, `The hosts of ${domain} are unknown: ${answer.text}`));
  const hosts = answer.kind === 'found' ? hostsOf(answer.records).slice(0, MAX_HOSTS) : [];
  if (hosts.length === 0)
    return nowhere(fail(name, `No host accepts mail for ${domain}: bounces are lost.`, cure));
  const [ours, ...found] = await Promise.all([
    ownAddresses(facts, signal),
    ...hosts.map((host) => lookUpAddresses(resolver, host, 'any', signal)),
  ]);
  const isOurs = hosts.map((host, at) => {
    const there = found[at];
    const isNamed = host.toLowerCase() === own.toLowerCase();
    return isNamed || (there?.kind === 'addresses' && there.addresses.some((address) => ours.has(address)));
  });
  const addresses = found.flatMap((there, at) =>
    isOurs[at] && there.kind === 'addresses' ? there.addresses : [],
  );
  if (addresses.length > 0) {
    const others = hosts.filter((_, at) => !isOurs[at]);
    const finding =
      others.length === 0
        ? ok(name, `Mail to ${domain} goes to ${hosts.join(', ')}.`)
        : warn(
            name,
            `Mail to ${domain} goes to ${others.join(', ')}, too: unless these are nodes of this installation, bounces are lost there.`,
            cure,
          );
    return { finding, addresses };
  }
  if (found.some(({ kind }) => kind === 'deferred'))
    return nowhere(skipped(name, `The addresses of ${hosts.join(', ')} are unknown.`));
  return nowhere(
    fail(
      name,
      `Mail to ${domain} goes to ${hosts.join(', ')}, which is not this server: bounces are lost.`,
      cure,
    ),
  );
}

/** The machine's, and those of the server's name: behind NAT they differ. */
async function ownAddresses(
  { config, resolver, machine }: BounceFacts,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const host = serverName(config);
  const named = isFullName(host) ? await lookUpAddresses(resolver, host, 'any', signal) : null;
  return new Set([...machine.addresses(), ...(named?.kind === 'addresses' ? named.addresses : [])]);
}

async function spfOf(name: string, facts: BounceFacts, signal: AbortSignal): Promise<Finding> {
  const { domain, resolver } = facts;
  const [addresses, { root }] = await Promise.all([
    sendingAddresses(facts, signal),
    walkSpf(domain, resolver, signal),
  ]);
  const cure = publish(zoneLine(domain, spfSuggestion(facts.config, addresses)));
  const flaw = flawOf(root);
  if (root.flaw?.kind === 'unknown')
    return skipped(name, `The record of ${domain} is unknown: ${root.flaw.detail}`);
  if (flaw !== null) return fail(name, `${flaw} Mail with return paths there does not pass.`, cure);
  if (addresses.length === 0) return skipped(name, 'It is unknown which public address mail is sent from.');
  const results = addresses.map((address) => ({ address, result: evaluateSpf(root, address) }));
  const refused = results.filter(({ result }) => result !== 'pass' && result !== 'unknown');
  if (refused.length > 0)
    return fail(
      name,
      `The record of ${domain} does not allow ${refused.map(({ address }) => address).join(', ')}, from which mail is sent.`,
      cure,
    );
  const unsure = results.filter(({ result }) => result === 'unknown');
  if (unsure.length > 0)
    return skipped(
      name,
      `Whether the record of ${domain} allows ${unsure.map(({ address }) => address).join(', ')} depends on the message, or is unknown.`,
    );
  return ok(name, `The record of ${domain} allows ${addresses.join(', ')}.`);
}

function flawOf({ flaw, domain }: SpfNode): string | null {
  switch (flaw?.kind) {
    case 'none':
      return `${domain} has no SPF record.`;
    case 'many':
      return `${domain} has ${flaw.detail} SPF records, so none of them counts.`;
    case 'malformed':
      return `The SPF record of ${domain} has an invalid term, ${flaw.detail}.`;
    default:
      return null;
  }
}

/** Those that mail goes out from; without an `mx` relay, those of this server. */
async function sendingAddresses(facts: BounceFacts, signal: AbortSignal): Promise<readonly string[]> {
  const own = facts.machine.addresses();
  const senders = sendersOf(facts.config, own);
  const known =
    senders.addresses.length > 0 ? senders.addresses : own.filter((address) => !isInside(address));
  if (known.length > 0) return known;
  const { addresses } = await withPublicAddresses({ ...senders, unknownAddresses: true }, facts, signal);
  return addresses;
}

/** Sends a bounce to ourselves, over the network, to where the DNS leads: only this installation knows the answer. */
async function probed(
  name: string,
  addresses: readonly string[],
  { domain, config, machine, probe }: BounceFacts,
  signal: AbortSignal,
): Promise<Finding> {
  if (addresses.length === 0) return skipped(name, 'No bounce was sent, as it would not come here.');
  if (probe === null) return skipped(name, 'No bounce was sent: the key of return paths cannot be read.');
  const host = serverName(config);
  const port = config.relays.find(({ mx }) => mx !== null)?.mx?.port ?? SMTP_PORT;
  const lines = [
    `EHLO ${host}`,
    'MAIL FROM:<>',
    `RCPT TO:<${probe.localPart}@${domain}>`,
    'DATA',
    probeText(host, domain),
  ];
  const tried: string[] = [];
  for (const address of addresses.slice(0, MAX_TRIED)) {
    const { connected, replies } = await machine.dialogue({ host: address, port }, lines, signal);
    const last = replies.at(-1) ?? '';
    if (last.includes(probe.proof))
      return ok(name, `A bounce sent to ${address}, port ${port}, came back here.`);
    tried.push(
      connected
        ? `${address} answered ${last === '' ? 'nothing' : last}`
        : `${address}, port ${port}, cannot be reached from here`,
    );
  }
  return warn(
    name,
    `A bounce sent to ${domain} did not come back: ${tried.join('; ')}.`,
    'let port 25 of that address lead to this server, and try from outside: some routers do not lead back inside',
  );
}

/** A notification on no message, with the line that ends it. */
function probeText(host: string, domain: string): string {
  return [
    `From: MAILER-DAEMON@${host}`,
    'Subject: Do bounces come back?',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="probe"',
    '',
    '--probe',
    '',
    `A test by waybill of its bounce domain, ${domain}.`,
    '--probe',
    'Content-Type: message/delivery-status',
    '',
    `Reporting-MTA: dns; ${host}`,
    '',
    `Final-Recipient: rfc822; nobody@${domain}`,
    'Action: failed',
    'Status: 5.1.1',
    '',
    '--probe--',
    '.',
  ].join('\r\n');
}
