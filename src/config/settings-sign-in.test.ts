import { expect, test } from 'vitest';
import { formatFault } from './fault.ts';
import { resolve } from './resolve.ts';

function resolved(yaml: string, environment: Record<string, string> = {}) {
  return resolve({
    environment,
    file: { path: '/etc/waybill.yaml', text: `sign_in: { oidc: { ${yaml} } }` },
    stored: { settings: new Map(), relays: [] },
    readSecret: (path) => `text of ${path}`,
  });
}

const ENOUGH = 'issuer: "https://sso.example.com/realms/main", client_id: waybill';

test('issuer and client id suffice; the rest has the usual values', () => {
  const { config, faults } = resolved(ENOUGH);
  expect(faults).toEqual([]);
  expect(config.signIn.oidc).toEqual({
    issuer: 'https://sso.example.com/realms/main',
    clientId: 'waybill',
    clientSecret: null,
    name: 'single sign-on',
    publicUrl: null,
    scopes: ['openid', 'profile', 'email'],
    groupsClaim: ['groups'],
    roles: [],
    defaultRole: null,
    emailDomains: [],
    sessionHours: 12,
    caFile: null,
    allowHttp: false,
  });
});

test('groups, a nested claim, and a secret from a file are read', () => {
  const { config, faults } = resolved(
    `${ENOUGH}, client_secret_file: /run/secrets/oidc, groups_claim: [realm_access, roles], roles: [{ group: a, role: admin }, { group: /b, role: viewer }]`,
    { WAYBILL_SIGN_IN__OIDC__DEFAULT_ROLE: 'viewer' },
  );
  expect(faults).toEqual([]);
  expect(config.signIn.oidc).toMatchObject({
    clientSecret: 'text of /run/secrets/oidc',
    groupsClaim: ['realm_access', 'roles'],
    roles: [
      { group: 'a', role: 'admin' },
      { group: '/b', role: 'viewer' },
    ],
    defaultRole: 'viewer',
  });
});

test.each([
  [
    'issuer: "https://sso.example.com"',
    'sign_in.oidc.client_id = null: must be set with sign_in.oidc.issuer',
  ],
  [
    'issuer: "http://sso.example.com", client_id: a',
    'sign_in.oidc.issuer = "http://sso.example.com": must begin with https://',
  ],
  ['issuer: "https://sso.example.com?a=b", client_id: a', 'must be the issuer of an OpenID Connect provider'],
  ['issuer: "https://ann:pw@sso.example.com", client_id: a', 'must be the issuer'],
  [`${ENOUGH}, scopes: [profile]`, 'sign_in.oidc.scopes = ["profile"]: must have openid among them'],
  [`${ENOUGH}, scopes: ["openid profile"]`, 'sign_in.oidc.scopes[0] = "openid profile": must be a scope'],
  [`${ENOUGH}, roles: [{ group: a, role: root }]`, 'sign_in.oidc.roles[0].role = "root": must be viewer or'],
  [`${ENOUGH}, roles: [{ role: admin }]`, 'sign_in.oidc.roles[0].group: must be given'],
  [
    `${ENOUGH}, roles: [{ group: a, role: admin }, { group: a, role: viewer }]`,
    'sign_in.oidc.roles[1].group = "a": is the group of sign_in.oidc.roles[0] too',
  ],
  [`${ENOUGH}, groups_claim: []`, 'sign_in.oidc.groups_claim = []: must be a list'],
  [`${ENOUGH}, public_url: "https://mail.example.com/x"`, 'must be a URL such as https://mail.example.com'],
  [`${ENOUGH}, client_secret: "a\\nb"`, 'sign_in.oidc.client_secret: must be 1 to 2000 characters'],
])('%s is refused', (yaml, fault) => {
  expect(resolved(yaml).faults.map(formatFault).join('\n')).toContain(fault);
});

test('plain HTTP can be allowed, for a trial', () => {
  const { faults } = resolved('issuer: "http://localhost:9000", client_id: a, allow_http: true');
  expect(faults).toEqual([]);
});

test('who may change settings at run time does not choose the provider', () => {
  const { config, faults } = resolve({
    environment: {},
    file: null,
    stored: { settings: new Map([['sign_in.oidc.issuer', '"https://evil.example"']]), relays: [] },
    readSecret: () => '',
  });
  expect(config.signIn.oidc.issuer).toBeNull();
  expect(faults.map(formatFault).join()).toContain('can only be set in the configuration file');
});
