/** Why a token endpoint gives no token, and what to do about it. Codes of Microsoft Entra, and errors of Google. */

/** A known cause. */
export interface TokenCause {
  /** Of Microsoft `AADSTS…`; else the `error` of RFC 6749 §5.2. */
  readonly code: string;
  /** What its description says, where one error has several causes. */
  readonly said?: RegExp;
  /** What to do, for an operator. */
  readonly cure: string;
}

/**
 * The first that matches is told. Microsoft's are of its list of error codes
 * (learn.microsoft.com/entra/identity-platform/reference-error-codes) and its answers, Google's those of
 * developers.google.com/identity/protocols/oauth2/service-account; both read on 2026-11-25.
 */
export const TOKEN_CAUSES: readonly TokenCause[] = [
  {
    code: 'AADSTS7000215',
    cure: 'the client secret is wrong: give the secret’s value, not its id (Entra, App registrations, Certificates & secrets)',
  },
  {
    code: 'AADSTS7000222',
    cure: 'the client secret has expired: make a new one (Entra, App registrations, Certificates & secrets) and give the relay its value',
  },
  {
    code: 'AADSTS7000218',
    cure: 'the request had no client secret: give the relay its secret',
  },
  {
    code: 'AADSTS7000112',
    cure: 'the application is disabled: enable it (Entra, Enterprise applications, Properties)',
  },
  {
    code: 'AADSTS7000229',
    cure: 'the application has no service principal in this tenant: have an administrator of the tenant consent to it',
  },
  {
    code: 'AADSTS700016',
    cure: 'the tenant does not know the application: correct client_id or tenant, or have an administrator of the tenant consent to it',
  },
  {
    code: 'AADSTS700082',
    cure: 'the refresh token was not used for too long: sign in again, and give the relay the new one',
  },
  {
    code: 'AADSTS70008',
    cure: 'the refresh token has expired, or was not used for too long: sign in again, and give the relay the new one',
  },
  {
    code: 'AADSTS900023',
    cure: 'tenant is neither an id nor a domain of a tenant: correct it',
  },
  { code: 'AADSTS90002', cure: 'there is no such tenant: correct tenant' },
  {
    code: 'AADSTS50034',
    cure: 'the tenant has no such user: correct the user name or tenant',
  },
  {
    code: 'AADSTS50057',
    cure: 'the account is disabled: have an administrator of the tenant enable it',
  },
  {
    code: 'AADSTS50173',
    cure: 'the grant was revoked, as after a change of password: sign in again, and give the relay the new refresh token',
  },
  {
    code: 'AADSTS500011',
    cure: 'the tenant does not know what scope names: correct scope (https://outlook.office365.com/.default), and see that the tenant has Exchange Online',
  },
  {
    code: 'AADSTS65001',
    cure: 'nobody has consented: grant admin consent to SMTP.SendAsApp (Entra, App registrations, API permissions)',
  },
  {
    code: 'AADSTS70011',
    cure: 'scope is not right: leave it out, or give https://outlook.office365.com/.default',
  },
  {
    code: 'AADSTS1002012',
    cure: 'scope must end in /.default: leave it out, or give https://outlook.office365.com/.default',
  },
  {
    code: 'AADSTS53003',
    cure: 'a policy of Conditional Access blocks it: have an administrator of the tenant except the application, or this machine’s address',
  },
  {
    code: 'invalid_grant',
    said: /expired or revoked/i,
    cure: 'the refresh token has ended (revoked, a changed password, six months unused, or seven days for an application in testing): consent again, and give the relay the new one',
  },
  {
    code: 'invalid_grant',
    said: /short-lived|iat|exp\b/i,
    cure: 'the clock of this machine is wrong, as Google sees it: correct it',
  },
  {
    code: 'invalid_grant',
    said: /signature|verifier|account not found/i,
    cure: 'Google does not know the key of the service account: make a new one, and give the relay its file',
  },
  {
    code: 'invalid_grant',
    said: /email|user id/i,
    cure: 'the domain has no such user: correct subject, or the user name',
  },
  {
    code: 'invalid_grant',
    cure: 'the refresh token, or what the service account signed, is not taken: give the relay a new one',
  },
  {
    code: 'unauthorized_client',
    cure: 'the client may not have this scope: with a service account, allow its numeric client id the scope https://mail.google.com/ (Google Admin, Security, API controls, Domain-wide delegation; it may take a day)',
  },
  {
    code: 'invalid_client',
    cure: 'client_id or secret is wrong, or the client was deleted: compare both with those of the provider’s console',
  },
  {
    code: 'deleted_client',
    cure: 'the client was deleted: make a new one, and give the relay its id and secret',
  },
  { code: 'disabled_client', cure: 'the client is disabled: enable it in the provider’s console' },
  { code: 'org_internal', cure: 'the client is for one organization only: use an account of that' },
  {
    code: 'admin_policy_enforced',
    cure: 'an administrator of the domain keeps the client from this scope: have it trusted (Google Admin, Security, API controls)',
  },
  { code: 'invalid_scope', cure: 'scope is not right: leave it out, or correct it' },
  {
    code: 'access_denied',
    cure: 'access was refused: look at the consent, and at the policies of the provider’s console',
  },
];

/** What to do about an error of a token endpoint; null where nothing better is known than its own words. */
export function tokenCure(error: string, description: string): string | null {
  const [aadsts] = /AADSTS\d+/.exec(description) ?? [];
  const of = (code: string | undefined) =>
    TOKEN_CAUSES.find((cause) => cause.code === code && (cause.said?.test(description) ?? true));
  return (of(aadsts) ?? (aadsts === undefined ? of(error) : undefined))?.cure ?? null;
}
