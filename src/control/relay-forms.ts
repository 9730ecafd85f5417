import type { FormKind, Kind } from '../config/kinds.ts';
import {
  RELAY_FIELDS,
  REQUIRED_FIELDS,
  type RelayField,
  type RelayFieldName,
  SECRET_FIELDS,
} from '../config/relay-fields.ts';
import {
  type DeclaredType,
  isProviderType,
  MAILGUN_ENDPOINTS,
  RELAY_TYPES,
  USUAL_CONCURRENCY,
} from '../config/relay-types.ts';
import type { RelayForm, RelayFormField } from '../operations/relays.ts';
import { RELAY_HELP } from './relay-help.ts';

/** The forms of all types of relay, from the one table of fields. */
export function relayForms(): RelayForm[] {
  return RELAY_TYPES.map((type) => ({
    type,
    ...RELAY_HELP[type],
    fields: FIELD_NAMES.filter((name) => isShown(name, type)).map((name) => fieldOf(name, type)),
  }));
}

const FIELD_NAMES = Object.keys(RELAY_FIELDS).filter((name): name is RelayFieldName => name in RELAY_FIELDS);

/** The type is chosen before the form is shown; private addresses are a matter of the file. */
const NOT_IN_FORMS: readonly RelayFieldName[] = ['type', 'allow_private'];

function isShown(name: RelayFieldName, type: DeclaredType): boolean {
  const { types }: RelayField<unknown> = RELAY_FIELDS[name];
  return !NOT_IN_FORMS.includes(name) && (types === null || types.includes(type));
}

function fieldOf(name: RelayFieldName, type: DeclaredType): RelayFormField {
  const { kind, fallback, meaning }: RelayField<unknown> = RELAY_FIELDS[name];
  const form = formOf(name, kind, type);
  return {
    name,
    label: LABELS[name],
    kind: SECRET_FIELDS.some((secret) => secret === name) ? 'secret' : form.kind,
    choices: form.choices,
    required: name === 'name' || REQUIRED_FIELDS[type].includes(name),
    // What is required is marked as such beside the field.
    meaning: meaning.replace(/ Required\.$/, ''),
    defaultValue: name === 'max_concurrency' ? USUAL_CONCURRENCY[type] : (fallback ?? null),
    group: groupOf(name, type),
  };
}

/** Where a type knows fewer values than the table has. */
function formOf(name: RelayFieldName, { form }: Kind<unknown>, type: DeclaredType): FormKind {
  if (name === 'region' && type === 'mailgun')
    return { ...form, kind: 'choice', choices: Object.keys(MAILGUN_ENDPOINTS) };
  if (name === 'tls' && type === 'mx') return { ...form, choices: ['opportunistic', 'required'] };
  return form;
}

const OAUTH: readonly RelayFieldName[] = [
  ...(['auth', 'preset', 'tenant', 'client_id', 'secret', 'refresh_token', 'service_account'] as const),
  ...(['subject', 'scope', 'token_url'] as const),
];

const CONNECTION: readonly RelayFieldName[] = [
  ...(['tls', 'verify', 'authority', 'endpoint', 'helo', 'source_ips', 'ip_family'] as const),
  ...(['presets', 'max_per_domain'] as const),
];

function groupOf(name: RelayFieldName, type: DeclaredType): RelayFormField['group'] {
  if (name.startsWith('warmup_')) return 'warmup';
  if (name === 'quota_reserve_percent') return 'limits';
  // How a smarthost is spoken to is a part of what it is.
  if (type === 'smtp' && name === 'tls') return 'main';
  if (type === 'smtp' && OAUTH.includes(name)) return 'oauth';
  if (CONNECTION.includes(name) || (name === 'port' && type === 'mx')) return 'connection';
  if (name.startsWith('max_')) return 'limits';
  return isProviderType(type) || name !== 'verify' ? 'main' : 'connection';
}

const LABELS: Readonly<Record<RelayFieldName, string>> = {
  name: 'Name',
  type: 'Type',
  host: 'Host',
  port: 'Port',
  tls: 'TLS',
  verify: 'Check the certificate',
  username: 'User name',
  password: 'Password',
  auth: 'AUTH',
  preset: 'Provider',
  region: 'Region',
  access_key_id: 'Access key id',
  configuration_set: 'Configuration set',
  domain: 'Sending domain',
  message_stream: 'Message stream',
  tenant: 'Tenant',
  client_id: 'Client id',
  refresh_token: 'Refresh token',
  service_account: 'Service account (JSON)',
  subject: 'User it stands for',
  scope: 'Scope',
  token_url: 'Token URL',
  mailbox: 'Mailbox',
  authority: 'Authority',
  url: 'URL',
  endpoint: 'Endpoint',
  secret: 'Secret',
  helo: 'HELO name',
  source_ips: 'Source addresses',
  ip_family: 'IP version',
  allow_private: 'Private addresses',
  max_per_domain: 'Attempts per domain',
  presets: 'Known paces',
  max_concurrency: 'Concurrency',
  max_rate_per_second: 'Attempts per second',
  max_message_bytes: 'Message size (bytes)',
  max_recipients: 'Recipients per transaction',
  max_per_day: 'Recipients per day',
  quota_reserve_percent: 'Kept for high priority (%)',
  warmup_start: 'Warm-up begins',
  warmup_per_day: 'Recipients on each day',
};
