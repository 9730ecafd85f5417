import { isIPv4, isIPv6 } from 'node:net';
import type { NamedSource } from '../domain/key.ts';
import { INBOX, type Relay } from '../domain/relay.ts';
import { overlap } from '../lib/network.ts';
import { type Fault, showValue, unknownRule } from './fault.ts';
import { heloFault } from './names.ts';
import type { Config, SettingKey } from './schema.ts';
import type { Effective } from './sources.ts';

/** A body and the message made from it are both in memory during a request. */
const COPIES_IN_FLIGHT = 2;

/** Contradictions between settings that are each valid; `faultyRelays`: names of relays with faulty definitions. */
export function checkTogether(
  config: Config,
  effective: readonly Effective[],
  faultyRelays: readonly string[] = [],
): Fault[] {
  const { api, delivery, limits, listener, health, tls } = config;
  const faults: Fault[] = [];
  const refuse = (key: SettingKey, rule: string) => {
    const found = effective.find((setting) => setting.key === key);
    faults.push({ key, value: showValue(found?.value), rule, source: found?.source ?? 'default' });
  };
  if (delivery.retryFirstSeconds > delivery.retryMaxSeconds)
    refuse('delivery.retry_first_seconds', 'must not be over delivery.retry_max_seconds');
  if (limits.maxBytesInFlight < COPIES_IN_FLIGHT * api.maxMessageBytes)
    refuse('limits.max_bytes_in_flight', `must be at least ${COPIES_IN_FLIGHT} times api.max_message_bytes`);
  if (limits.maxQueuedBytes !== null && limits.maxQueuedBytes < api.maxMessageBytes)
    refuse('limits.max_queued_bytes', 'must be at least api.max_message_bytes');
  if (health.diskCriticalBytes > health.diskLowBytes)
    refuse('health.disk_critical_bytes', 'must not be over health.disk_low_bytes');
  if ((tls.certFile === null) !== (tls.keyFile === null))
    refuse(
      tls.certFile === null ? 'tls.cert_file' : 'tls.key_file',
      'tls.cert_file and tls.key_file must be set together',
    );
  if (tls.acme.domains.length > 0 && !tls.acme.agreeTerms)
    refuse('tls.acme.domains', 'needs tls.acme.agree_terms: true, once you have read the authority’s terms');
  if ((tls.acme.eabKeyId === null) !== (tls.acme.eabHmac === null))
    refuse(
      tls.acme.eabKeyId === null ? 'tls.acme.eab_hmac' : 'tls.acme.eab_key_id',
      'tls.acme.eab_key_id and tls.acme.eab_hmac must be set together',
    );
  if (listener.hardErrors < listener.softErrors)
    refuse('listener.hard_errors', 'must not be under listener.soft_errors');
  if (listener.busyTimeoutSeconds > listener.commandTimeoutSeconds)
    refuse('listener.busy_timeout_seconds', 'must not be over listener.command_timeout_seconds');
  if (listener.busyTimeoutSeconds > listener.dataTimeoutSeconds)
    refuse('listener.busy_timeout_seconds', 'must not be over listener.data_timeout_seconds');
  for (const { key, rule } of portFlaws(config)) refuse(key, rule);
  return [
    ...faults,
    ...checkSources(config, effective),
    ...checkWebhooks(config, effective),
    ...checkSignIn(config, effective),
    ...checkRelays(config, effective, faultyRelays),
  ];
}

/** Each row of `listener.sources` needs a unique name, and an allowed range that no earlier row covers. */
function checkSources({ listener }: Config, effective: readonly Effective[]): Fault[] {
  const key: SettingKey = 'listener.sources';
  const source = effective.find((setting) => setting.key === key)?.source ?? 'default';
  const outside = ({ name, cidr }: NamedSource, index: number): Fault => {
    const rule = `is outside listener.allowed_cidrs, so row ${name} has no effect; add its range there`;
    return { key: `${key}[${index}].cidr`, value: showValue(cidr), rule, source };
  };
  return listener.sources.flatMap((row, index, rows) => {
    const before = rows.slice(0, index);
    const clash = (field: 'name' | 'cidr', rule: (place: string) => string): Fault[] => {
      const first = before.findIndex((other) => other[field] === row[field]);
      if (first < 0) return [];
      const place = `${key}[${index}].${field}`;
      return [{ key: place, value: showValue(row[field]), rule: rule(`${key}[${first}]`), source }];
    };
    return [
      ...clash('name', (first) => `is the name of ${first} too`),
      ...clash('cidr', (first) => `never counts, because ${first} has it first`),
      ...(listener.allowedCidrs.some((range) => overlap(range, row.cidr)) ? [] : [outside(row, index)]),
    ];
  });
}

/** Endpoints of webhooks that have the name of an earlier one, and with it its id. */
function checkWebhooks({ webhooks }: Config, effective: readonly Effective[]): Fault[] {
  const key: SettingKey = 'webhooks.endpoints';
  const source = effective.find((setting) => setting.key === key)?.source ?? 'default';
  return webhooks.endpoints.flatMap(({ name }, index, rows) => {
    const first = rows.findIndex((other) => other.name === name);
    if (first === index) return [];
    const rule = `is the name of ${key}[${first}] too`;
    return [{ key: `${key}[${index}].name`, value: showValue(name), rule, source }];
  });
}

/** What a provider to sign in with needs; a group that two rows name has one role. */
function checkSignIn({ signIn: { oidc } }: Config, effective: readonly Effective[]): Fault[] {
  if (oidc.issuer === null) return [];
  const faults: Fault[] = [];
  const refuse = (key: SettingKey, rule: string, place = '', value: unknown = undefined) => {
    const found = effective.find((setting) => setting.key === key);
    const shown = place === '' ? found?.value : value;
    const source = found?.source ?? 'default';
    faults.push({ key: `${key}${place}`, value: showValue(shown), rule, source });
  };
  if (oidc.clientId === null) refuse('sign_in.oidc.client_id', 'must be set with sign_in.oidc.issuer');
  if (oidc.issuer.startsWith('http:') && !oidc.allowHttp)
    refuse('sign_in.oidc.issuer', 'must begin with https://; for a trial, set sign_in.oidc.allow_http');
  if (!oidc.scopes.includes('openid')) refuse('sign_in.oidc.scopes', 'must have openid among them');
  for (const [index, { group }] of oidc.roles.entries()) {
    const first = oidc.roles.findIndex((row) => row.group === group);
    if (first < index)
      refuse(
        'sign_in.oidc.roles',
        `is the group of sign_in.oidc.roles[${first}] too`,
        `[${index}].group`,
        group,
      );
  }
  return faults;
}

/** Where relays are declared, in the words of faults. */
const PLACES = { builtin: 'built in', file: 'file', stored: 'stored relay' } as const satisfies Record<
  Relay['origin'],
  string
>;

function checkRelays(
  config: Config,
  effective: readonly Effective[],
  faultyRelays: readonly string[],
): Fault[] {
  const key: SettingKey = 'delivery.default_relay';
  const names = config.relays.map((relay) => relay.name);
  const faults = names
    .filter((name, index) => names.indexOf(name) < index)
    .map((name): Fault => {
      const places = config.relays.filter((relay) => relay.name === name).map(({ origin }) => PLACES[origin]);
      const source = [...new Set(places)].join(', ');
      return { key: `relays.${name}`, value: null, rule: 'is declared twice', source };
    });
  faults.push(...config.relays.flatMap((relay) => heloFault(relay, config, effective) ?? []));
  const chosen = effective.find((setting) => setting.key === key);
  const source = chosen?.source ?? 'default';
  // The relay's own faults were reported already.
  if (faultyRelays.includes(config.delivery.defaultRelay)) return faults;
  if (!names.includes(config.delivery.defaultRelay)) {
    const rule = unknownRule('relay', config.delivery.defaultRelay, names);
    faults.push({ key, value: showValue(config.delivery.defaultRelay), rule, source });
  } else if (chosen?.origin === 'default' && names.length > 1) {
    const others = names.filter((name) => name !== INBOX).join(', ');
    const rule = `must be set, because a relay exists besides ${INBOX}: ${others}`;
    faults.push({ key, value: null, rule, source });
  }
  return [...faults, ...reportRelayFaults(config, names, effective)];
}

function reportRelayFaults(
  { delivery: { reportRelay } }: Config,
  names: readonly string[],
  effective: readonly Effective[],
): Fault[] {
  const key: SettingKey = 'delivery.report_relay';
  if (reportRelay === null || names.includes(reportRelay)) return [];
  const source = effective.find((setting) => setting.key === key)?.source ?? 'default';
  return [{ key, value: showValue(reportRelay), rule: unknownRule('relay', reportRelay, names), source }];
}

/** A listener's ports, and their addresses. */
interface Claim {
  readonly key: SettingKey;
  readonly ports: readonly (number | null)[];
  readonly bind: readonly string[];
}

/** A setting that claims a port already claimed, and the rule it breaks. */
interface PortFlaw {
  readonly key: SettingKey;
  readonly rule: string;
}

/** Every port claimed twice. 0 is a new port each time, and on disjoint addresses a port may be used twice. */
function portFlaws({ api, webui, listener }: Config): PortFlaw[] {
  const { ports, implicitTlsPorts, bind } = listener;
  const claims: readonly Claim[] = [
    { key: 'api.port', ports: [api.port], bind: api.bind },
    { key: 'api.tls_port', ports: api.tlsEnabled ? [api.tlsPort] : [], bind: api.bind },
    { key: 'webui.port', ports: [webui.port], bind: webui.bind },
    { key: 'listener.ports', ports, bind },
    { key: 'listener.implicit_tls_ports', ports: implicitTlsPorts, bind },
  ];
  return claims.flatMap((claim, index) => [
    ...repeated(claim.ports).map((port) => ({ key: claim.key, rule: `must not have ${port} twice` })),
    ...claims.slice(0, index).flatMap((earlier) => clashes(claim, earlier)),
  ]);
}

/** The ports of `claim` already assigned to another listener. */
function clashes(claim: Claim, earlier: Claim): PortFlaw[] {
  const { key } = claim;
  const shared = [...new Set(claim.ports)].filter((port) => port && earlier.ports.includes(port));
  if (!claim.bind.some((host) => earlier.bind.some((other) => meet(host, claim, other, earlier)))) return [];
  const verb = isList(key) ? 'have' : 'be';
  const which = `which is ${isList(earlier.key) ? 'one of ' : ''}${earlier.key}`;
  return shared.map((port) => ({ key, rule: `must not ${verb} ${port}, ${which}` }));
}

function isList(key: SettingKey): boolean {
  return key.endsWith('ports');
}

/** Whether the same port cannot be bound on two addresses, each from a list. */
function meet(a: string, ofA: Claim, b: string, ofB: Claim): boolean {
  return a === b || covers(a, ofA, b) || covers(b, ofB, a);
}

/** Whether `host` means every address, including `other`. `::` includes IPv4, unless its list has some (`bindAll`). */
function covers(host: string, { bind }: Claim, other: string): boolean {
  if (host === '0.0.0.0') return isIPv4(other);
  return host === '::' && (isIPv6(other) || !bind.some((address) => isIPv4(address)));
}

/** The ports listed more than once. */
function repeated(ports: readonly (number | null)[]): readonly (number | null)[] {
  return [...new Set(ports.filter((port, index) => port && ports.indexOf(port) < index))];
}
