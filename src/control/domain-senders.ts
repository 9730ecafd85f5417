/** Who sends mail for a domain here, as SPF sees it: addresses of ours, and the providers that relays hand mail to. */
import type { Config } from '../config/schema.ts';
import type { ProviderType, Relay } from '../domain/relay.ts';
import { isInside } from './doctor/ranges.ts';

/** What the record of a domain should allow. */
export interface Senders {
  /** Public addresses that `mx` relays connect from, in order, each once. */
  readonly addresses: readonly string[];
  /** Domains of providers to include, with the relay that uses each. */
  readonly includes: readonly { readonly domain: string; readonly relay: string }[];
  /** Smarthosts of whom it is not known what to include. */
  readonly strangers: readonly { readonly host: string; readonly relay: string }[];
  /** Some `mx` relay is there, and its addresses are not known. */
  readonly unknownAddresses: boolean;
}

/** What each provider asks its customers to include; null: nothing, for it does not send mail itself. */
const PROVIDER_INCLUDES: Readonly<Record<ProviderType, string | null>> = {
  ses: 'amazonses.com',
  resend: 'amazonses.com',
  mailgun: 'mailgun.org',
  sendgrid: 'sendgrid.net',
  postmark: 'spf.mtasv.net',
  graph: 'spf.protection.outlook.com',
  webhook: null,
};

/** The same by the end of a smarthost's name. */
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

/** Who sends, by the relays that are not disabled. `ownAddresses` are the machine's, for relays that name none. */
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
