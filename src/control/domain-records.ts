import { bounceDomainsOf } from '../config/bounces.ts';
import { serverName } from '../config/names.ts';
import type { Config } from '../config/schema.ts';
import {
  type DkimAlgorithm,
  type DomainKey,
  keyState,
  recordUntil,
  type SendingDomain,
} from '../domain/domain-keys.ts';
import type { ProviderType, Relay } from '../domain/relay.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { areAligned } from '../lib/organizational-domain.ts';
import type { RecordView } from '../operations/domains.ts';
import { isInside } from './doctor/ranges.ts';

/** The DNS records that a domain needs, ready to paste. */

/** RFC 1035 §3.3: octets of one string. */
const MAX_STRING = 255;
/** How long a record may be cached, in seconds: short enough to correct a mistake the same day. */
const TTL = 3600;

/** The values of `k=`. */
export const KEY_TYPES: Readonly<Record<DkimAlgorithm, string>> = {
  'rsa-sha256': 'rsa',
  'ed25519-sha256': 'ed25519',
};

/** The name of a key's record. */
export function keyName(domain: string, selector: string): string {
  return `${selector}._domainkey.${domain}`;
}

/** The text of a key's record (RFC 6376 §3.6.1). */
export function keyRecord({ algorithm, publicKey }: DomainKey): string {
  return `v=DKIM1; k=${KEY_TYPES[algorithm]}; p=${publicKey}`;
}

/** All records of a domain: its keys', and suggested policies. */
export function recordsOf(
  domain: SendingDomain,
  config: Config,
  ownAddresses: readonly string[],
): readonly RecordView[] {
  const { name, keys, returnPath } = domain;
  return [
    ...(returnPath === null ? [] : returnPathRecords(returnPath.domain, config, ownAddresses)),
    ...keys.map((key) => txt('dkim', keyName(name, key.selector), keyRecord(key), noteOf(key))),
    txt(
      'spf',
      name,
      spfSuggestion(config, ownAddresses),
      'if the domain has no v=spf1 record yet; otherwise the check of the DNS says what to add',
    ),
    txt(
      'dmarc',
      `_dmarc.${name}`,
      dmarcSuggestion(name, config),
      'if there is none yet; rua is the address for reports, and p=none asks only for reports',
    ),
  ];
}

/** The records of a domain for return paths (contract-2 §A2). */
function returnPathRecords(
  domain: string,
  config: Config,
  ownAddresses: readonly string[],
): readonly RecordView[] {
  const value = `10 ${serverName(config)}`;
  return [
    {
      purpose: 'return_path_mx',
      name: domain,
      type: 'MX',
      value,
      zoneLine: `${domain}. ${TTL} IN MX ${value}.`,
      note: 'bounces come back here: no other MX record, and no mailbox',
    },
    txt(
      'return_path_spf',
      domain,
      spfSuggestion(config, ownAddresses),
      'receivers look for it where bounces go',
    ),
  ];
}

/** A policy for a domain without one: allows the senders used here, with softfail for all others. */
export function spfSuggestion(config: Config, ownAddresses: readonly string[]): string {
  const mechanisms = mechanismsOf(sendersOf(config, ownAddresses));
  return ['v=spf1', ...mechanisms, '~all'].join(' ');
}

/** A first policy, which only requests reports. */
export function dmarcSuggestion(domain: string, config: BounceConfig): string {
  return `v=DMARC1; p=none; rua=mailto:${dmarcReportsTo(domain, config)}`;
}

/** Where reports on a domain may go: here, if its bounce domain needs no permission for that (RFC 7489 §7.1). */
export function dmarcReportsTo(domain: string, config: BounceConfig): string {
  const { own, usual } = bounceDomainsOf(config);
  const here = own.get(domain) ?? usual;
  return here !== null && areAligned(here, domain) ? `dmarc@${here}` : `dmarc-reports@${domain}`;
}

type BounceConfig = Pick<Config, 'bounces' | 'domains'>;

/** A cure: `line`, on its own line, is to be pasted into the zone. */
export function publish(line: string, where = 'publish, in the DNS'): string {
  return `${where}:\n${line}`;
}

/** The record of a key that others may have: it withdraws the key (RFC 6376 §3.6.1). */
export function revocation({ algorithm }: Pick<DomainKey, 'algorithm'>): string {
  return `v=DKIM1; k=${KEY_TYPES[algorithm]}; p=`;
}

/** A TXT record as the line of a zone file. `value` is ASCII; control characters are escaped (RFC 1035 §5.1). */
export function zoneLine(name: string, value: string): string {
  const strings: string[] = [];
  for (let at = 0; at < value.length; at += MAX_STRING) strings.push(value.slice(at, at + MAX_STRING));
  const quoted = strings.map((text) => `"${text.replace(/["\\]/g, '\\$&').replace(CONTROL, decimal)}"`);
  return `${name}. ${TTL} IN TXT ${quoted.join(' ')}`;
}

const CONTROL = /\p{Cc}/gu;

function decimal(character: string): string {
  return `\\${String(character.charCodeAt(0)).padStart(3, '0')}`;
}

function txt(purpose: RecordView['purpose'], name: string, value: string, note: string): RecordView {
  return { purpose, name, type: 'TXT', value, zoneLine: zoneLine(name, value), note };
}

function noteOf(key: DomainKey): string {
  const until = recordUntil(key);
  if (until !== null)
    return `retired; must stay until ${formatTimestamp(until)}, then remove it; if others may have the key, replace it by "${revocation(key)}"`;
  return keyState(key) === 'signing'
    ? 'signs now: publish it exactly like this'
    : 'new: it signs once this record is visible';
}

// The senders of a domain's mail here, as SPF sees them: our addresses, and the relays' providers.

/** What a domain's SPF record should allow. */
export interface Senders {
  /** Public addresses that `mx` relays connect from, in order, each once. */
  readonly addresses: readonly string[];
  /** Domains of providers to include, with the relay that uses each. */
  readonly includes: readonly { readonly domain: string; readonly relay: string }[];
  /** Smarthosts without a known include. */
  readonly strangers: readonly { readonly host: string; readonly relay: string }[];
  /** There is an `mx` relay whose addresses are unknown. */
  readonly unknownAddresses: boolean;
}

/** The include that each provider asks of its customers; null: none, since it does not send mail itself. */
const PROVIDER_INCLUDES: Readonly<Record<ProviderType, string | null>> = {
  ses: 'amazonses.com',
  resend: 'amazonses.com',
  mailgun: 'mailgun.org',
  sendgrid: 'sendgrid.net',
  postmark: 'spf.mtasv.net',
  graph: 'spf.protection.outlook.com',
  webhook: null,
};

/** The same, by the end of a smarthost's name. */
const HOST_INCLUDES: readonly (readonly [end: string, include: string])[] = [
  ['.amazonaws.com', 'amazonses.com'],
  ['.mailgun.org', 'mailgun.org'],
  ['.sendgrid.net', 'sendgrid.net'],
  ['.postmarkapp.com', 'spf.mtasv.net'],
  ['.resend.com', 'amazonses.com'],
  ['.office365.com', 'spf.protection.outlook.com'],
  ['.outlook.com', 'spf.protection.outlook.com'],
  ['.gmail.com', '_spf.google.com'],
];

/** The senders, by the relays that are not disabled. `ownAddresses`: the machine's, for relays without their own. */
export function sendersOf({ relays }: Pick<Config, 'relays'>, ownAddresses: readonly string[]): Senders {
  const active = relays.filter(({ disabled }) => !disabled);
  const direct = active.flatMap(({ mx }) => mx ?? []);
  const addresses = direct
    .flatMap(({ sourceIps }) => (sourceIps.length > 0 ? sourceIps : ownAddresses))
    .filter((address) => !isInside(address));
  const named = active.map((relay) => ({ relay: relay.name, domain: includeOf(relay) }));
  const includes = named.flatMap(({ relay, domain }) => (domain === null ? [] : [{ relay, domain }]));
  const strangers = active.flatMap((relay) =>
    relay.smtp !== null && includeOf(relay) === null ? [{ host: relay.smtp.host, relay: relay.name }] : [],
  );
  return {
    addresses: [...new Set(addresses)],
    includes: includes.filter(({ domain }, at) => includes.findIndex((one) => one.domain === domain) === at),
    strangers,
    unknownAddresses: direct.length > 0 && addresses.length === 0,
  };
}

/** The mechanisms of an SPF record that allow them. */
export function mechanismsOf({ addresses, includes }: Senders): readonly string[] {
  return [...addresses.map(addressMechanism), ...includes.map(({ domain }) => `include:${domain}`)];
}

/** The mechanism that allows one address. */
export function addressMechanism(address: string): string {
  return `${address.includes(':') ? 'ip6' : 'ip4'}:${address}`;
}

function includeOf({ smtp, provider }: Relay): string | null {
  if (provider !== null) return PROVIDER_INCLUDES[provider.type];
  const host = `.${smtp?.host.toLowerCase() ?? ''}`;
  return HOST_INCLUDES.find(([end]) => host.endsWith(end))?.[1] ?? null;
}
