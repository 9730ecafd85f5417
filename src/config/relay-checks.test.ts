import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { formatFault } from './fault.ts';
import { packSecrets, secretFields, unpackSecrets } from './relay-secrets.ts';
import { readRelay } from './relays.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const ACCOUNT = JSON.stringify({
  type: 'service_account',
  project_id: 'mail',
  private_key_id: 'key-1',
  private_key: PEM,
  client_email: 'mailer@mail.iam.gserviceaccount.example',
  token_uri: 'https://evil.example/token',
});
const EDWARDS = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const FILES: Readonly<Record<string, string>> = { account: ACCOUNT, refresh: '1//refresh', secret: 's3cret' };

function read(raw: Record<string, unknown>, extra: object = {}) {
  const reading = readRelay({
    raw: { name: 'out', type: 'smtp', host: 'smtp.example.com', ...raw },
    key: 'relays[0]',
    source: 'file',
    origin: 'file',
    readSecret: (path) => FILES[path] ?? '',
    ...extra,
  });
  return reading.relay ?? reading.faults.map(formatFault);
}

const XOAUTH2 = { auth: 'xoauth2', username: 'sender@contoso.example' };
const MICROSOFT = {
  ...XOAUTH2,
  preset: 'microsoft',
  tenant: 'contoso.example',
  client_id: '11111111-2222-3333-4444-555555555555',
  secret: 's3cret',
};
const GOOGLE = {
  ...XOAUTH2,
  preset: 'google',
  client_id: '1-x.apps.googleusercontent.com',
  secret: 's3cret',
  refresh_token: '1//refresh',
};
const SERVICE = { ...XOAUTH2, preset: 'google', service_account: ACCOUNT };
const OWN = { ...XOAUTH2, token_url: 'https://id.example.com/token', client_id: 'me', secret: 's3cret' };

test.each<[object, object]>([
  [
    MICROSOFT,
    {
      preset: 'microsoft',
      tenant: 'contoso.example',
      allowPrivate: false,
      tokenUrl: 'https://login.microsoftonline.com/contoso.example/oauth2/v2.0/token',
      scope: 'https://outlook.office365.com/.default',
      grant: { kind: 'client_credentials', clientId: MICROSOFT.client_id, secret: 's3cret' },
    },
  ],
  [
    GOOGLE,
    {
      tokenUrl: 'https://oauth2.googleapis.com/token',
      scope: 'https://mail.google.com/',
      grant: {
        kind: 'refresh_token',
        clientId: GOOGLE.client_id,
        secret: 's3cret',
        refreshToken: '1//refresh',
      },
    },
  ],
  [
    SERVICE,
    {
      // Not what the file says: whoever has it changed could have signatures sent elsewhere.
      tokenUrl: 'https://oauth2.googleapis.com/token',
      grant: {
        kind: 'service_account',
        account: 'mailer@mail.iam.gserviceaccount.example',
        keyId: 'key-1',
        privateKey: PEM,
        subject: 'sender@contoso.example',
      },
    },
  ],
  [{ ...SERVICE, subject: 'other@contoso.example' }, { grant: { subject: 'other@contoso.example' } }],
  [
    { ...XOAUTH2, preset: 'google', service_account_file: 'account' },
    { grant: { kind: 'service_account', keyId: 'key-1' } },
  ],
  [
    {
      ...GOOGLE,
      secret: undefined,
      secret_file: 'secret',
      refresh_token: null,
      refresh_token_file: 'refresh',
    },
    { grant: { kind: 'refresh_token', refreshToken: '1//refresh' } },
  ],
  [OWN, { preset: null, tokenUrl: 'https://id.example.com/token', scope: null }],
  [
    { ...OWN, scope: 'a b' },
    { scope: 'a b', grant: { kind: 'client_credentials' } },
  ],
  [{ ...OWN, secret: null, refresh_token: 'r' }, { grant: { kind: 'refresh_token', secret: null } }],
  [
    { ...MICROSOFT, tenant: null, token_url: 'http://127.0.0.1:9/token', allow_private: true },
    { tokenUrl: 'http://127.0.0.1:9/token', allowPrivate: true, tenant: null },
  ],
])('%# is read with what is usual', (raw, oauth) => {
  expect(read({ ...raw })).toMatchObject({ smtp: { auth: 'xoauth2', password: null, oauth } });
});

test('plain and login are for a user name, and have no OAuth', () => {
  const relay = read({ auth: 'login', username: 'u', password: 'p' });
  expect(relay).toMatchObject({ smtp: { auth: 'login', username: 'u' } });
  expect(relay).not.toHaveProperty('smtp.oauth');
  expect(read({ username: 'u', password: 'p' })).not.toHaveProperty('smtp.auth');
});

const WITHOUT = 'has no meaning for type smtp without auth: xoauth2';

test.each<[object, string[]]>([
  [{ auth: 'xoauth' }, ['.auth = "xoauth": must be plain or login or xoauth2, or null']],
  [{ auth: 'login' }, ['.username: must be given with auth: login']],
  [{ ...MICROSOFT, username: null }, ['.username: must be given with auth: xoauth2']],
  [{ username: 'u', preset: 'google' }, [`.preset = "google": ${WITHOUT}`]],
  [{ username: 'u', secret: 's3cret' }, [`.secret: ${WITHOUT}; did you mean password?`]],
  [{ allow_private: true }, [`.allow_private = true: ${WITHOUT}`]],
  [
    { ...MICROSOFT, password: 'hidden' },
    ['.password: has no meaning with auth: xoauth2, which sends a token'],
  ],
  [{ ...MICROSOFT, tls: 'none' }, ['.tls = "none": must not be none with a username: no AUTH without TLS']],
  [{ ...MICROSOFT, tenant: null }, ['.tenant: must be given with preset: microsoft']],
  [{ ...MICROSOFT, secret: null }, ['.secret: must be given with preset: microsoft and client_id']],
  [{ ...MICROSOFT, client_id: null }, ['.client_id: must be given with auth: xoauth2']],
  [
    { ...MICROSOFT, client_id: 'me' },
    [
      '.client_id = "me": must be an id of the form 00000000-0000-0000-0000-000000000000 with preset: microsoft',
    ],
  ],
  [
    { ...MICROSOFT, refresh_token: 'hidden' },
    ['.refresh_token: has no meaning with preset: microsoft, which uses tenant, client_id and secret'],
  ],
  [
    { ...MICROSOFT, token_url: 'https://login.example/token' },
    ['.tenant = "contoso.example": is also given by token_url; keep only one of them'],
  ],
  [{ ...GOOGLE, tenant: 'a.example' }, ['.tenant = "a.example": has no meaning without preset: microsoft']],
  [{ ...GOOGLE, refresh_token: null }, ['.refresh_token: must be given with preset: google and client_id']],
  [{ ...GOOGLE, secret: null }, ['.secret: must be given with preset: google and client_id']],
  [
    { ...GOOGLE, subject: 'a@b.example' },
    ['.subject = "a@b.example": is the user for whom a service account signs; client_id has none'],
  ],
  [{ ...SERVICE, secret: 'hidden' }, ['.secret: has no meaning with service_account, which contains it']],
  [
    { ...SERVICE, service_account: '{"type":"authorized_user","client_secret":"hidden"}' },
    [
      '.service_account: must be the JSON of a key of a service account, with type, client_email and an RSA private_key, or null',
    ],
  ],
  [
    { ...SERVICE, service_account: ACCOUNT.replace(JSON.stringify(PEM), JSON.stringify(EDWARDS)) },
    [
      '.service_account: must be the JSON of a key of a service account, with type, client_email and an RSA private_key, or null',
    ],
  ],
  [
    { ...XOAUTH2, preset: 'google' },
    ['.client_id: must be given with auth: xoauth2, or instead service_account_file'],
  ],
  [
    { ...OWN, token_url: null },
    ['.token_url: must be given with auth: xoauth2, or instead preset: microsoft or preset: google'],
  ],
  [
    { ...OWN, token_url: 'http://id.example.com/token' },
    [expect.stringContaining('must begin with https://')],
  ],
  [{ ...OWN, token_url: 'https://10.0.0.1/token' }, [expect.stringContaining('is not a public address')]],
  [
    { type: 'mx', host: null, preset: 'google' },
    ['.preset = "google": has no meaning for type mx; it is for type smtp; did you mean presets?'],
  ],
])('%# is refused, in words', (raw, rules) => {
  const faults = read({ ...raw });
  expect(faults).toEqual(rules.map((rule) => (typeof rule === 'string' ? `relays[0]${rule} (file)` : rule)));
  expect(JSON.stringify(faults)).not.toMatch(/hidden|s3cret|PRIVATE/);
});

test('a definition whose secrets are elsewhere is right without them', () => {
  for (const { secret: _, ...rest } of [MICROSOFT, OWN])
    expect(read(rest, { secretElsewhere: true })).toHaveProperty('smtp.oauth');
  const { secret: _, refresh_token: __, ...google } = GOOGLE;
  expect(read(google, { secretElsewhere: true })).toHaveProperty('smtp.oauth.grant.kind', 'refresh_token');
  const { service_account: ___, ...service } = SERVICE;
  expect(read(service, { secretElsewhere: true })).toHaveProperty('smtp.oauth.grant.kind', 'service_account');
});

test('several secrets are sealed as one text, and one is that text itself, as ever', () => {
  const smtp = { type: 'smtp' };
  expect(packSecrets(smtp, { password: 'p' })).toBe('p');
  expect(packSecrets(smtp, 'p')).toBe('p');
  expect(secretFields(smtp, unpackSecrets(smtp, '{"secret":"x"}'))).toEqual({ password: '{"secret":"x"}' });
  const oauth = { type: 'smtp', auth: 'xoauth2' };
  const both = { secret: 's', refresh_token: 'r' };
  expect(secretFields(oauth, unpackSecrets(oauth, packSecrets(oauth, both)))).toEqual(both);
  expect(secretFields(oauth, unpackSecrets(oauth, packSecrets(oauth, '{"secret":"x"}')))).toEqual({
    secret: '{"secret":"x"}',
  });
  expect([packSecrets(oauth, null), packSecrets(oauth, {}), unpackSecrets(oauth, null)]).toEqual([
    null,
    null,
    null,
  ]);
});

test.each(['re_key', '{"', '{"a":1}', '{"secret":"x"}'])(
  'the secret of a provider is read back: %s',
  (secret) => {
    const resend = { type: 'resend' };
    expect(secretFields(resend, unpackSecrets(resend, packSecrets(resend, secret)))).toEqual({ secret });
  },
);
