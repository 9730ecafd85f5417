/** What is wrong between fields of a relay that are each right by themselves. */
import { isIPv6 } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { INBOX } from '../domain/relay.ts';
import { isPublicAddress } from '../lib/network.ts';
import { type Fault, nearest } from './fault.ts';
import {
  RELAY_FIELDS,
  REQUIRED_FIELDS,
  type RelayField,
  type RelayFieldName,
  type RelayValues,
} from './relay-fields.ts';
import { APPLICATION_ID, isApplicationId } from './relay-kinds.ts';
import { oauthFaults } from './relay-oauth.ts';
import { fieldFault, type RelaySource, relayFault } from './relay-source.ts';
import { isProviderType, MAILGUN_ENDPOINTS, MOST_RECIPIENTS } from './relay-types.ts';

const SES_REGION = /^[a-z]{2}(-[a-z]+){1,3}-\d{1,2}$/;
const FILE_ONLY = 'in the configuration file only';

/** See the top of this file. */
export function clashFaults(source: RelaySource, values: RelayValues): Fault[] {
  const { name, type } = values;
  const faults: Fault[] = [];
  if (name === INBOX) faults.push(fieldFault(source, 'name', name, 'is built in and cannot be declared'));
  faults.push(...foreignFaults(source, values));
  for (const required of REQUIRED_FIELDS[type])
    if (values[required] === null && !(required === 'secret' && source.secretElsewhere === true))
      faults.push(fieldFault(source, required, undefined, 'must be given'));
  if (values.allow_private !== null && source.origin === 'stored')
    faults.push(fieldFault(source, 'allow_private', values.allow_private, `can be set ${FILE_ONLY}`));
  return [
    ...faults,
    ...smtpFaults(source, values),
    ...oauthFaults(source, values),
    ...familyFaults(source, values),
    ...providerFaults(source, values),
    ...limitFaults(source, values),
  ];
}

/** Whether the relay may connect to addresses that are not of the Internet. */
export function mayBePrivate(source: RelaySource, { name, allow_private }: RelayValues): boolean {
  return allow_private ?? source.privateRelays?.includes(name) ?? false;
}

/** Fields that only other types of relay have. */
function foreignFaults(source: RelaySource, values: RelayValues): Fault[] {
  const { type } = values;
  return Object.entries(RELAY_FIELDS).flatMap(([name, field]: [string, RelayField<unknown>]) => {
    // Sound because the entries are the table's own.
    const key = name as RelayFieldName;
    if (field.types === null || field.types.includes(type)) return [];
    if (isDeepStrictEqual(values[key], field.fallback)) return [];
    return [fieldFault(source, key, values[key], foreignRule(key, type, field.types))];
  });
}

function foreignRule(name: RelayFieldName, type: string, types: readonly string[]): string {
  const whose = `type${types.length > 1 ? 's' : ''} ${types.join(', ')}`;
  const instead = name === 'password' && isProviderType(type) ? '; did you mean secret?' : '';
  const other = name === 'preset' && type === 'mx' ? '; did you mean presets?' : '';
  return `means nothing to type ${type}; it is for ${whose}${instead}${other}`;
}

function smtpFaults(source: RelaySource, { type, tls, username, password }: RelayValues): Fault[] {
  const faults: Fault[] = [];
  if (type === 'mx' && (tls === 'implicit' || tls === 'none'))
    faults.push(fieldFault(source, 'tls', tls, 'must be opportunistic or required with type mx'));
  if (username !== null && tls === 'none')
    faults.push(fieldFault(source, 'tls', 'none', 'must not be none with a username: no AUTH without TLS'));
  if (password !== null && username === null && type === 'smtp')
    faults.push(fieldFault(source, 'username', undefined, 'must be given with a password'));
  return faults;
}

/** An address to connect from that the family forbids would never be used. */
function familyFaults(source: RelaySource, { ip_family, source_ips }: RelayValues): Fault[] {
  return source_ips.flatMap((address, index) => {
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (ip_family === 'any' || ip_family === family) return [];
    const rule = `is never used with ip_family: ${ip_family}`;
    return [relayFault(source, `.source_ips[${index}]`, address, rule)];
  });
}

function providerFaults(source: RelaySource, values: RelayValues): Fault[] {
  const { type, region, client_id } = values;
  const faults: Fault[] = [];
  if (type === 'ses' && region !== null && !SES_REGION.test(region))
    faults.push(fieldFault(source, 'region', region, 'must be a region of AWS such as eu-west-1'));
  if (type === 'mailgun' && region !== null && !Object.hasOwn(MAILGUN_ENDPOINTS, region)) {
    const near = nearest(region, Object.keys(MAILGUN_ENDPOINTS));
    const hint = near === null ? '' : `; did you mean ${near}?`;
    faults.push(fieldFault(source, 'region', region, `must be us or eu with type mailgun${hint}`));
  }
  if (type === 'graph' && client_id !== null && !isApplicationId(client_id))
    faults.push(fieldFault(source, 'client_id', client_id, `must be ${APPLICATION_ID}`));
  const isPrivate = mayBePrivate(source, values);
  for (const name of ['url', 'endpoint', 'authority', 'token_url'] as const) {
    const url = values[name];
    if (url !== null && !isPrivate) faults.push(...publicFaults(source, name, url));
  }
  return faults;
}

/** What is wrong with a URL of a relay that may speak to the Internet alone. Names are looked up later, at each connection. */
function publicFaults(source: RelaySource, name: RelayFieldName, url: string): Fault[] {
  const { protocol, hostname } = new URL(url);
  const cure = `only with allow_private, ${FILE_ONLY}, or for a stored relay with delivery.private_relays, where the relay's name must stand`;
  if (protocol !== 'https:')
    return [fieldFault(source, name, url, `must begin with https://: plain HTTP ${cure}`)];
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  const isLiteral = literal.includes(':') || /^[\d.]+$/.test(literal);
  if (isLiteral && !isPublicAddress(literal))
    return [fieldFault(source, name, url, `is no address of the Internet: such ${cure}`)];
  return [];
}

function limitFaults(source: RelaySource, values: RelayValues): Fault[] {
  const { type, max_recipients, warmup_start, warmup_per_day } = values;
  const faults: Fault[] = [];
  if (max_recipients !== null && isProviderType(type) && max_recipients > MOST_RECIPIENTS[type]) {
    const rule = `must be at most ${MOST_RECIPIENTS[type]} with type ${type}, which takes no more at once`;
    faults.push(fieldFault(source, 'max_recipients', max_recipients, rule));
  }
  if (warmup_per_day !== null && warmup_start === null)
    faults.push(fieldFault(source, 'warmup_start', undefined, 'must be given with warmup_per_day'));
  return faults;
}

/** What the rule of a field says of a value, with the nearest one that is right where there is one. */
export function ruleFor(
  name: string,
  { kind }: RelayField<unknown>,
  value: unknown,
  known: readonly string[],
): string {
  const near = name === 'type' && typeof value === 'string' ? nearest(value, known) : null;
  return `must be ${kind.rule}${near === null ? '' : `; did you mean ${near}?`}`;
}
