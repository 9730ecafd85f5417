import { isFullName, serverName } from '../../config/names.ts';
import { lookUpAddresses } from '../../dns/hosts.ts';
import type { DnsRefusal } from '../../dns/resolver.ts';
import { isLoopback } from '../../lib/network.ts';
import type { Finding } from '../../operations/system.ts';
import { fail, ok, skipped, warn } from './finding.ts';
import type { Check, Premises } from './premises.ts';
import { isInside } from './ranges.ts';

const NAME = 'host name';
/** Addresses whose names are looked up. */
const MAX_ADDRESSES = 8;

type NameFacts = Pick<Premises, 'loaded' | 'resolver' | 'machine'>;

/**
 * Whether name, addresses and reverse names agree: recipients' servers refuse or mark down mail of a host where they do
 * not. Without an `mx` relay only the smarthost sees them, and no fault is grave.
 */
export const namesCheck = async (premises: NameFacts, signal: AbortSignal): Promise<readonly Finding[]> => {
  const { config } = premises.loaded;
  const host = serverName(config);
  const tell = hasMx(premises) ? fail : warn;
  if (!isFullName(host))
    return [
      tell(
        NAME,
        `${host} is not a full DNS name: other servers cannot look it up.`,
        'server: { hostname: mail.example.com }  # your name that resolves to this machine',
      ),
    ];
  const found = await lookUpAddresses(premises.resolver, host, 'any', signal);
  if (found.kind !== 'addresses') return [notFound(host, found, premises)];
  const { addresses } = found;
  const sending = sendingAddresses(premises, addresses);
  const reverse = await Promise.all(
    sending.map((address) => reverseName(address, nameGivenFrom(address, host, premises), premises, signal)),
  );
  return [ok(NAME, `${host} is at ${addresses.join(', ')}.`), ...reverse];
};

/** The EHLO name of mail from an address: a relay's own `helo`, otherwise our host name. */
function nameGivenFrom(address: string, host: string, { loaded }: NameFacts): string {
  const outward = loaded.config.relays.flatMap(({ mx, smtp }) => mx ?? smtp ?? []);
  const bound = outward.filter(({ sourceIps }) => sourceIps.includes(address));
  const users = bound.length > 0 ? bound : outward.filter(({ sourceIps }) => sourceIps.length === 0);
  const names = new Set(users.map(({ helo }) => helo ?? host));
  // Of several names only one can match the address: ours, if it is among them.
  const [first = host] = names;
  return names.has(host) ? host : first;
}

/** Whether this machine has the relays' source addresses: others cannot be bound. */
export const sourceAddressesCheck: Check = async ({ loaded, machine }) => {
  const own = machine.addresses();
  return loaded.config.relays.flatMap(({ name, mx, smtp }) => {
    const missing = ((mx ?? smtp)?.sourceIps ?? []).filter(
      (address) => !own.includes(address) && !isLoopback(address),
    );
    if (missing.length === 0) return [];
    const some = own.length === 0 ? 'an address of this machine' : own.slice(0, MAX_ADDRESSES).join(', ');
    return [
      fail(
        `relay ${name}`,
        `source_ips has ${missing.join(', ')}, which this machine does not have: nothing can be sent from there.`,
        `relays: source_ips of ${name}: ${some}; or give the address to an interface: sudo ip address add ${missing[0]} dev eth0`,
      ),
    ];
  });
};

function notFound(host: string, { kind, reply }: DnsRefusal, premises: NameFacts): Finding {
  const servers = 'dns: { servers: ["127.0.0.1"] }  # servers that answer from here';
  if (kind === 'deferred')
    return warn(NAME, `It is unknown whether ${host} has addresses: ${reply.text}`, servers);
  const tell = hasMx(premises) ? fail : warn;
  const address = ownPublic(premises)[0] ?? '(your public address)';
  return tell(
    NAME,
    `${host} has no address in the DNS.`,
    `publish, in the DNS:\n${host}. 3600 IN ${address.includes(':') ? 'AAAA' : 'A'} ${address}`,
  );
}

function hasMx({ loaded }: NameFacts): boolean {
  return loaded.config.relays.some(({ mx }) => mx !== null);
}

function ownPublic({ machine }: NameFacts): readonly string[] {
  return machine.addresses().filter((address) => !isInside(address));
}

/** The source addresses that others see: those configured, otherwise this machine's; behind NAT those of our name. */
function sendingAddresses(premises: NameFacts, named: readonly string[]): readonly string[] {
  const { relays } = premises.loaded.config;
  const configured = relays.flatMap(({ mx, smtp }) => (mx ?? smtp)?.sourceIps ?? []);
  const own = ownPublic(premises);
  const candidates = configured.length > 0 ? configured : own.length > 0 ? own : named;
  return [...new Set(candidates)].filter((address) => !isInside(address)).slice(0, MAX_ADDRESSES);
}

/** Whether an address has a name that points back to it and is ours. */
async function reverseName(
  address: string,
  host: string,
  premises: NameFacts,
  signal: AbortSignal,
): Promise<Finding> {
  const { resolver } = premises;
  const name = `address ${address}`;
  const tell = hasMx(premises) ? fail : warn;
  const cure = `ask the provider of the address for this PTR record:\n${reverseZoneName(address)}. 3600 IN PTR ${host}.`;
  const answer = await resolver.resolve(reverseZoneName(address), 'PTR', signal);
  if (answer.kind === 'failed') return skipped(name, `Its name is unknown: ${answer.text}`);
  if (answer.kind !== 'found')
    return tell(name, 'It has no name (PTR): many servers refuse mail from it.', cure);
  const names = answer.records;
  const back = await Promise.all(names.map((ptr) => lookUpAddresses(resolver, ptr, 'any', signal)));
  const confirmed = names.filter((_name, place) => pointsTo(back[place], address));
  const shown = names.join(', ');
  if (confirmed.length === 0) return tell(name, `Its name ${shown} does not point back to it.`, cure);
  if (!confirmed.some((ptr) => ptr.toLowerCase() === host.toLowerCase()))
    return warn(
      name,
      `Its name is ${shown}, but this server calls itself ${host}.`,
      `server: { hostname: ${confirmed[0]} }  # or helo of the relay; or ${cure}`,
    );
  return ok(name, `Its name is ${host}, which points back to it.`);
}

function pointsTo(found: Awaited<ReturnType<typeof lookUpAddresses>> | undefined, address: string): boolean {
  return found?.kind === 'addresses' && found.addresses.includes(address);
}

/** The name of an address's PTR record (RFC 1035 §3.5, RFC 3596 §2.5). */
export function reverseZoneName(address: string): string {
  if (!address.includes(':')) return `${address.split('.').reverse().join('.')}.in-addr.arpa`;
  return `${[...nibbles(address)].reverse().join('.')}.ip6.arpa`;
}

/** The 32 hexadecimal digits of an IPv6 address. */
function nibbles(address: string): string {
  const [head = '', tail] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const front = groups(head);
  const back = groups(tail ?? '');
  const missing = Array.from({ length: 8 - front.length - back.length }, () => '0');
  const all = tail === undefined ? front : [...front, ...missing, ...back];
  return all.map((group) => group.padStart(4, '0')).join('');
}
