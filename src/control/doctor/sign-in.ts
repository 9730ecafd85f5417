import { ProviderFault } from '../../accounts/identity-provider.ts';
import { RETURN_PATH } from '../../accounts/provider-sign-in.ts';
import { serverName } from '../../config/names.ts';
import { OidcProvider } from '../../oidc/provider.ts';
import type { Finding } from '../../operations/system.ts';
import { oidcSettings } from '../in-force.ts';
import { fail, ok, skipped, warn } from './finding.ts';
import type { Check } from './premises.ts';

// A file of its own, as those of each subject are.

const NAME = 'identity provider';

/** Whether users can sign in with the identity provider: it answers, is the one that is meant, and lets somebody in. */
export const signInCheck: Check = async ({ loaded, clock }) => {
  const { config } = loaded;
  const settings = oidcSettings(config);
  if (settings === null) return [skipped(NAME, 'Nobody signs in with one: sign_in.oidc.issuer is not set.')];
  const findings: Finding[] = [];
  try {
    await new OidcProvider(settings, clock).look();
    const at = settings.publicUrl ?? `https://${serverName(config)}:${config.webui.port ?? 8420}`;
    const returns = new URL(RETURN_PATH, at).href;
    findings.push(ok(NAME, `${settings.issuer} answers. It must know that it may return to ${returns}.`));
  } catch (error) {
    const why = error instanceof ProviderFault ? error.message : String(error);
    findings.push(
      fail(
        NAME,
        `${settings.issuer} cannot be used: ${why}. Passwords work all the same.`,
        'correct sign_in.oidc.issuer or sign_in.oidc.ca_file; docs/sign-in.md has those of several providers',
      ),
    );
  }
  const { roles, defaultRole } = settings.rules;
  if (roles.length === 0 && defaultRole === null)
    findings.push(
      warn(
        `${NAME}: roles`,
        'No group has a role, and there is none for others: nobody may come in.',
        'sign_in: { oidc: { roles: [{ group: mail-admins, role: admin }] } }',
      ),
    );
  if (settings.allowHttp)
    findings.push(
      warn(
        `${NAME}: encryption`,
        'It may be asked over plain HTTP: whoever can change that on the way becomes administrator.',
        'remove sign_in.oidc.allow_http',
      ),
    );
  return findings;
};
