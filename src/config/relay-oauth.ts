/** How a smarthost signs in, as its definition says it: by password, or by access tokens (OAuth 2.0). */
import { microsoftTokenUrl, type OAuthGrant, type OAuthSettings } from '../domain/relay.ts';
import type { Fault } from './fault.ts';
import type { RelayFieldName, RelayValues } from './relay-fields.ts';
import { APPLICATION_ID, isApplicationId, serviceAccountIn } from './relay-kinds.ts';
import { fieldFault, type RelaySource, relayFault } from './relay-source.ts';
import { GOOGLE_TOKEN_URL, MICROSOFT_AUTHORITY, PRESET_SCOPES } from './relay-types.ts';

/** Fields that mean something with `auth: xoauth2` alone. */
const OAUTH_FIELDS = [
  ...(['preset', 'tenant', 'client_id', 'secret', 'refresh_token', 'service_account'] as const),
  ...(['subject', 'scope', 'token_url', 'allow_private'] as const),
] satisfies readonly RelayFieldName[];
/** What a service account's file has instead. */
const CLIENT_FIELDS = ['client_id', 'secret', 'refresh_token'] as const;

/** What is wrong with how a smarthost of checked fields signs in. */
export function oauthFaults(source: RelaySource, values: RelayValues): Fault[] {
  if (values.type !== 'smtp') return [];
  const { auth, username, password } = values;
  const refuse = (name: RelayFieldName, rule: string) =>
    fieldFault(source, name, values[name] ?? undefined, rule);
  if (auth !== null && username === null) return [refuse('username', `must be given with auth: ${auth}`)];
  if (auth !== 'xoauth2')
    return OAUTH_FIELDS.filter((name) => values[name] !== null).map((name) => {
      const instead = name === 'secret' ? '; did you mean password?' : '';
      return refuse(name, `means nothing to type smtp without auth: xoauth2${instead}`);
    });
  const faults: Fault[] = [];
  if (password !== null)
    faults.push(refuse('password', 'means nothing with auth: xoauth2, which sends a token'));
  if (values.service_account !== null)
    for (const name of CLIENT_FIELDS)
      if (values[name] !== null)
        faults.push(refuse(name, 'means nothing with service_account, which has all of it'));
  if (values.subject !== null && values.client_id !== null)
    faults.push(
      refuse('subject', 'is the user for whom a service account signs; with client_id there is none'),
    );
  return [...faults, ...missingFaults(source, values), ...presetFaults(source, values)];
}

/** What must be there for a grant. A secret that is elsewhere may be any of them. */
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
    return tenant === null ? [] : [refuse('tenant', 'means nothing without preset: microsoft')];
  const faults = (['refresh_token', 'service_account', 'subject'] as const)
    .filter((name) => values[name] !== null)
    .map((name) =>
      refuse(name, 'means nothing with preset: microsoft, which takes tenant, client_id and secret'),
    );
  if (tenant === null && token_url === null)
    faults.push(refuse('tenant', 'must be given with preset: microsoft'));
  if (tenant !== null && token_url !== null)
    faults.push(relayFault(source, '.tenant', tenant, 'is told by token_url too; keep one of them'));
  if (client_id !== null && !isApplicationId(client_id))
    faults.push(refuse('client_id', `must be ${APPLICATION_ID} with preset: microsoft`));
  return faults;
}

/** How the tokens of a checked definition are got; null where it signs in otherwise. */
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

/** Secrets that are missing cannot be read: such a relay is kept, and rests. */
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
