/** Contradictions between fields of a relay that are each valid. */
import { isIPv6 } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { INBOX, microsoftTokenUrl, type OAuthGrant, type OAuthSettings } from '../domain/relay.ts';
import { isPublicAddress } from '../lib/network.ts';
import { type Fault, nearest, showValue } from './fault.ts';
import {
  isFor,
  RELAY_FIELDS,
  type RelayFieldName,
  type RelayRow,
  type RelayValues,
  relayField,
} from './relay-fields.ts';
import { APPLICATION_ID, isApplicationId, serviceAccountIn } from './relay-kinds.ts';
import {
  GOOGLE_TOKEN_URL,
  isProviderType,
  MICROSOFT_AUTHORITY,
  MOST_RECIPIENTS,
  PRESET_SCOPES,
} from './relay-types.ts';

const FILE_ONLY = 'in the configuration file only';

/** The faults between fields of a relay that are each valid. */
export function clashFaults(source: RelaySource, values: RelayValues): Fault[] {
  const { name, type } = values;
  const faults: Fault[] = [];
  if (name === INBOX) faults.push(fieldFault(source, 'name', name, 'is built in and cannot be declared'));
  faults.push(...foreignFaults(source, values));
  for (const { name: required, requiredFor, secret } of RELAY_FIELDS)
    if (requiredFor?.includes(type) && values[required] === null && !(secret && source.secretElsewhere))
      faults.push(fieldFault(source, required, undefined, 'must be given'));
  for (const { name: key, fileOnly } of RELAY_FIELDS)
    if (fileOnly && values[key] !== null && source.origin === 'stored')
      faults.push(fieldFault(source, key, values[key], `can be set ${FILE_ONLY}`));
  return [
    ...faults,
    ...narrowFaults(source, values),
    ...smtpFaults(source, values),
    ...oauthFaults(source, values),
    ...familyFaults(source, values),
    ...urlFaults(source, values),
    ...limitFaults(source, values),
  ];
}

/** Whether the relay may connect to addresses outside the Internet. */
export function mayBePrivate(source: RelaySource, { name, allow_private }: RelayValues): boolean {
  return allow_private ?? source.privateRelays?.includes(name) ?? false;
}

/** Faults of fields that only other types of relay have. */
function foreignFaults(source: RelaySource, values: RelayValues): Fault[] {
  const { type } = values;
  return RELAY_FIELDS.flatMap((row) => {
    const { name, types = [], fallback } = row;
    if (isFor(row, type) || isDeepStrictEqual(values[name], fallback)) return [];
    return [fieldFault(source, name, values[name], foreignRule(name, type, types))];
  });
}

/** Faults of values that only other types of relay accept. */
function narrowFaults(source: RelaySource, values: RelayValues): Fault[] {
  const { type } = values;
  return RELAY_FIELDS.flatMap(({ name, byType }) => {
    const kind = byType?.[type]?.kind;
    const value = values[name];
    if (kind === undefined || value === null || kind.read(value) !== undefined) return [];
    const { choices } = kind.form;
    const near = nearest(String(value), choices);
    const rule = `must be ${kind.rule}${choices.length > 0 ? ` with type ${type}` : ''}`;
    return [fieldFault(source, name, value, near === null ? rule : `${rule}; did you mean ${near}?`)];
  });
}

function foreignRule(name: RelayFieldName, type: string, types: readonly string[]): string {
  if (name === 'return_path')
    return `has no meaning for type ${type}: its API sets the return path, and the provider tells of bounces itself`;
  const whose = `type${types.length > 1 ? 's' : ''} ${types.join(', ')}`;
  const instead = name === 'password' && isProviderType(type) ? '; did you mean secret?' : '';
  const other = name === 'preset' && type === 'mx' ? '; did you mean presets?' : '';
  return `has no meaning for type ${type}; it is for ${whose}${instead}${other}`;
}

function smtpFaults(source: RelaySource, { type, tls, username, password }: RelayValues): Fault[] {
  const faults: Fault[] = [];
  if (username !== null && tls === 'none')
    faults.push(fieldFault(source, 'tls', 'none', 'must not be none with a username: no AUTH without TLS'));
  if (password !== null && username === null && type === 'smtp')
    faults.push(fieldFault(source, 'username', undefined, 'must be given with a password'));
  return faults;
}

/** A source address outside the allowed family would never be used. */
function familyFaults(source: RelaySource, { ip_family, source_ips }: RelayValues): Fault[] {
  return source_ips.flatMap((address, index) => {
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (ip_family === 'any' || ip_family === family) return [];
    const rule = `is never used with ip_family: ${ip_family}`;
    return [relayFault(source, `.source_ips[${index}]`, address, rule)];
  });
}

function urlFaults(source: RelaySource, values: RelayValues): Fault[] {
  if (mayBePrivate(source, values)) return [];
  return RELAY_FIELDS.flatMap(({ name, url }) => {
    const value = values[name];
    return url && typeof value === 'string' ? publicFaults(source, name, value) : [];
  });
}

/** The fault of a URL of a relay limited to the Internet. Names are checked later, at each connection. */
function publicFaults(source: RelaySource, name: RelayFieldName, url: string): Fault[] {
  const { protocol, hostname } = new URL(url);
  const cure = `only with allow_private, ${FILE_ONLY}, or for a stored relay with its name in delivery.private_relays`;
  if (protocol !== 'https:')
    return [fieldFault(source, name, url, `must begin with https://: plain HTTP ${cure}`)];
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  const isLiteral = literal.includes(':') || /^[\d.]+$/.test(literal);
  if (isLiteral && !isPublicAddress(literal))
    return [fieldFault(source, name, url, `is not a public address: such ${cure}`)];
  return [];
}

function limitFaults(source: RelaySource, values: RelayValues): Fault[] {
  const { type, max_recipients, warmup_start, warmup_per_day } = values;
  const faults: Fault[] = [];
  if (max_recipients !== null && isProviderType(type) && max_recipients > MOST_RECIPIENTS[type]) {
    const rule = `must be at most ${MOST_RECIPIENTS[type]} with type ${type}, which accepts no more at once`;
    faults.push(fieldFault(source, 'max_recipients', max_recipients, rule));
  }
  if (warmup_per_day !== null && warmup_start === null)
    faults.push(fieldFault(source, 'warmup_start', undefined, 'must be given with warmup_per_day'));
  return faults;
}

/** A field's rule for a value, with the nearest valid one if there is one. */
export function ruleFor({ name, kind }: RelayRow, value: unknown, known: readonly string[]): string {
  const near = name === 'type' && typeof value === 'string' ? nearest(value, known) : null;
  return `must be ${kind.rule}${near === null ? '' : `; did you mean ${near}?`}`;
}

// How a smarthost authenticates, by its definition: by password, or by access tokens (OAuth 2.0).

/** Fields that a service account's file replaces. */
const CLIENT_FIELDS = ['client_id', 'secret', 'refresh_token'] as const;

/** Faults of a smarthost's authentication, whose fields were checked. */
function oauthFaults(source: RelaySource, values: RelayValues): Fault[] {
  if (values.type !== 'smtp') return [];
  const { auth, username, password } = values;
  const refuse = (name: RelayFieldName, rule: string) =>
    fieldFault(source, name, values[name] ?? undefined, rule);
  if (auth !== null && username === null) return [refuse('username', `must be given with auth: ${auth}`)];
  if (auth !== 'xoauth2')
    return RELAY_FIELDS.filter(({ name, oauth }) => oauth && values[name] !== null).map(({ name }) => {
      const instead = name === 'secret' ? '; did you mean password?' : '';
      return refuse(name, `has no meaning for type smtp without auth: xoauth2${instead}`);
    });
  const faults: Fault[] = [];
  if (password !== null)
    faults.push(refuse('password', 'has no meaning with auth: xoauth2, which sends a token'));
  if (values.service_account !== null)
    for (const name of CLIENT_FIELDS)
      if (values[name] !== null)
        faults.push(refuse(name, 'has no meaning with service_account, which contains it'));
  if (values.subject !== null && values.client_id !== null)
    faults.push(refuse('subject', 'is the user for whom a service account signs; client_id has none'));
  return [...faults, ...missingFaults(source, values), ...presetFaults(source, values)];
}

/** Missing fields of a grant. A secret stored elsewhere may be any of them. */
function missingFaults(source: RelaySource, values: RelayValues): Fault[] {
  const { preset, service_account, client_id, secret, refresh_token, token_url } = values;
  const missing = (name: RelayFieldName, why: string) =>
    fieldFault(source, name, undefined, `must be given ${why}`);
  const faults: Fault[] = [];
  if (preset === null && token_url === null)
    faults.push(missing('token_url', 'with auth: xoauth2, or instead preset: microsoft or preset: google'));
  if (service_account !== null) return faults;
  const isElsewhere = source.secretElsewhere === true;
  if (client_id === null && (preset === 'microsoft' || !isElsewhere)) {
    const or = preset === 'microsoft' ? '' : ', or instead service_account_file';
    return [...faults, missing('client_id', `with auth: xoauth2${or}`)];
  }
  if (isElsewhere || client_id === null) return faults;
  if (preset === 'google' && refresh_token === null)
    faults.push(missing('refresh_token', 'with preset: google and client_id'));
  // A client without a secret has a refresh token; Google's have both.
  if (secret === null && (preset !== null || refresh_token === null))
    faults.push(
      missing('secret', `with ${preset === null ? 'auth: xoauth2' : `preset: ${preset}`} and client_id`),
    );
  return faults;
}

function presetFaults(source: RelaySource, values: RelayValues): Fault[] {
  const { preset, tenant, token_url, client_id } = values;
  const refuse = (name: RelayFieldName, rule: string) =>
    fieldFault(source, name, values[name] ?? undefined, rule);
  if (preset !== 'microsoft')
    return tenant === null ? [] : [refuse('tenant', 'has no meaning without preset: microsoft')];
  const faults = (['refresh_token', 'service_account', 'subject'] as const)
    .filter((name) => values[name] !== null)
    .map((name) =>
      refuse(name, 'has no meaning with preset: microsoft, which uses tenant, client_id and secret'),
    );
  if (tenant === null && token_url === null)
    faults.push(refuse('tenant', 'must be given with preset: microsoft'));
  if (tenant !== null && token_url !== null)
    faults.push(relayFault(source, '.tenant', tenant, 'is also given by token_url; keep only one of them'));
  if (client_id !== null && !isApplicationId(client_id))
    faults.push(refuse('client_id', `must be ${APPLICATION_ID} with preset: microsoft`));
  return faults;
}

/** The OAuth settings of a checked definition; null if it authenticates otherwise. */
export function oauthOf(values: RelayValues, allowPrivate: boolean): OAuthSettings | null {
  const { type, auth, preset, tenant, token_url, scope } = values;
  if (type !== 'smtp' || auth !== 'xoauth2') return null;
  const usual = tenant === null ? GOOGLE_TOKEN_URL : microsoftTokenUrl(MICROSOFT_AUTHORITY, tenant);
  return {
    preset,
    tenant,
    tokenUrl: token_url ?? usual,
    scope: scope ?? (preset === null ? null : PRESET_SCOPES[preset]),
    allowPrivate,
    grant: grantOf(values),
  };
}

/** Missing secrets are those that cannot be read: such a relay is kept, and rests. */
function grantOf(values: RelayValues): OAuthGrant {
  const { client_id, secret, refresh_token, service_account, subject, username, preset } = values;
  if (client_id === null || service_account !== null) {
    const key = serviceAccountIn(service_account ?? '');
    return {
      kind: 'service_account',
      account: key?.client_email ?? '',
      keyId: key?.private_key_id ?? null,
      privateKey: key?.private_key ?? '',
      subject: subject ?? username ?? '',
    };
  }
  if (refresh_token !== null || preset === 'google')
    return { kind: 'refresh_token', clientId: client_id, secret, refreshToken: refresh_token ?? '' };
  return { kind: 'client_credentials', clientId: client_id, secret: secret ?? '' };
}

/** A definition, its place, and how to read files it refers to. */
export interface RelaySource {
  readonly raw: unknown;
  /** Its place, such as `relays[0]`. */
  readonly key: string;
  readonly source: string;
  readonly origin: 'file' | 'stored';
  /** A secret file's text; throws with a message when it cannot be read. */
  readonly readSecret: (path: string) => string;
  /** Names of relays that may connect to private addresses although their definition cannot allow it; absent: none. */
  readonly privateRelays?: readonly string[];
  /**
   * It has a secret elsewhere, so the field may be missing: the present key does not open it, or it is yet to be given.
   */
  readonly secretElsewhere?: boolean;
}

/** A fault at a place in the definition. `value` is the value there; undefined if it must not be shown. */
export function relayFault(source: RelaySource, suffix: string, value: unknown, rule: string): Fault {
  const shown = value === undefined ? null : showValue(value);
  return { key: source.key + suffix, value: shown, rule, source: source.source };
}

/** A fault of a field; its value is shown unless it is a secret, or may contain one. */
export function fieldFault(source: RelaySource, name: RelayFieldName, value: unknown, rule: string): Fault {
  return relayFault(source, `.${name}`, isShown(name, value) ? value : undefined, rule);
}

/** Text with a user name or a query may be a URL with a secret. */
function isShown(name: RelayFieldName, value: unknown): boolean {
  const { secret, url } = relayField(name);
  if (secret) return false;
  return !url || (typeof value === 'string' && !/[@?#]/.test(value));
}
