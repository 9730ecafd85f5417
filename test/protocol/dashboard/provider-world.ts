/** A dashboard whose users may sign in with an identity provider that does as a test says. */
import { onTestFinished } from 'vitest';
import type { AdmissionRules } from '../../../src/domain/identity.ts';
import { OidcProvider, type OidcSettings } from '../../../src/oidc/provider.ts';
import { CLIENT, type Lies, startHostileProvider } from '../../peers/hostile-provider.ts';
import { type Browser, MINUTE, startAccess } from './access-world.ts';

/** Who may come in, and as what. */
export const RULES: AdmissionRules = {
  groupsClaim: ['groups'],
  roles: [
    { group: 'admins', role: 'admin' },
    { group: 'helpdesk', role: 'operator' },
  ],
  defaultRole: null,
  emailDomains: [],
};

/** Starts one, beside a local administrator, for the test that calls it. */
export async function startWithProvider(settings: Partial<OidcSettings> = {}) {
  const access = await startAccess();
  await access.addUser('root');
  const provider = await startHostileProvider(() => access.clock.wall());
  onTestFinished(provider.stop);
  const configure = (changes: Partial<OidcSettings> = {}) => {
    const given: OidcSettings = {
      issuer: provider.issuer,
      clientId: CLIENT.id,
      clientSecret: CLIENT.secret,
      name: 'Example SSO',
      publicUrl: null,
      scopes: ['openid', 'profile'],
      rules: RULES,
      sessionMs: 12 * 60 * MINUTE,
      caFile: provider.caFile,
      allowHttp: false,
      ...settings,
      ...changes,
    };
    access.state.provider = new OidcProvider(given, access.clock);
  };
  configure();
  const begin = async (one: Browser, returnTo = '/') =>
    (await one.call('provider_begin', { returnTo })).body.url;
  const finish = (one: Browser, query: URLSearchParams) => one.call('provider', { search: `?${query}` });
  const signIn = async (one: Browser, lies: Lies = {}) => {
    provider.lie(lies);
    return await finish(one, provider.authorize(await begin(one)));
  };
  const lastFailure = () => access.logged.findLast(({ event }) => event.startsWith('sign_in.provider_'));
  return { ...access, provider, configure, begin, finish, signIn, lastFailure };
}
