/**
 * What Microsoft and Google document of signing in to SMTP with access tokens, as they write it. Read on 2026-11-25 in
 * the stored copies of these pages:
 *
 * - EXCHANGE: https://learn.microsoft.com/exchange/client-developer/legacy-protocols/how-to-authenticate-an-imap-pop-smtp-application-by-using-oauth
 *   (github.com/MicrosoftDocs/office-developer-exchange-docs, commit 04958c08)
 * - ENTRA: https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow, and of errors
 *   https://learn.microsoft.com/entra/identity-platform/reference-error-codes (github.com/MicrosoftDocs/entra-docs, commits 03033ebd and 04f65548)
 * - BASIC: https://techcommunity.microsoft.com/t5/exchange-team-blog/exchange-online-to-retire-basic-auth-for-client-submission-smtp/ba-p/4114750
 * - GMAIL: https://developers.google.com/workspace/gmail/imap/xoauth2-protocol
 * - GOOGLE: https://developers.google.com/identity/protocols/oauth2/service-account (as of 2026-03-23)
 *
 * How Google answers a refresh token that has ended is on none of these pages: it is what its clients report.
 */

/** EXCHANGE, “SASL XOAUTH2”: a user, a token, and what is sent of them. */
export const EXCHANGE_USER = {
  user: 'test@contoso.onmicrosoft.com',
  token: 'EwBAAl3BAAUFFpUAo7J3Ve0bjLBWZWCclRC3EoAA',
  response:
    'dXNlcj10ZXN0QGNvbnRvc28ub25taWNyb3NvZnQuY29tAWF1dGg9QmVhcmVyIEV3QkFBbDNCQUFVRkZwVUFvN0ozVmUwYmpMQldaV0NjbFJDM0VvQUEBAQ==',
} as const;
/** EXCHANGE, “SMTP Protocol Exchange”: good, and not. */
export const EXCHANGE_TAKEN = '235 2.7.0 Authentication successful';
export const EXCHANGE_REFUSED =
  '535 5.7.3 Authentication unsuccessful [SN2PR00CA0018.namprd00.prod.outlook.com]';
/** BASIC: what passwords are answered with. */
export const BASIC_REFUSED = '550 5.7.30 Basic authentication is not supported for Client Submission.';

/** What passwords are answered with where it is off already, as clients report it (github.com/nodemailer/nodemailer, issue 1714). */
export const BASIC_DISABLED =
  '535 5.7.139 Authentication unsuccessful, basic authentication is disabled. [PN0PR01CA0024.INDPRD01.PROD.OUTLOOK.COM]';

/** GMAIL, “SMTP protocol exchange”: the 334 that tells why, decoded, and what follows the empty line. */
export const GMAIL_CHALLENGE = '{"status":"401","schemes":"bearer mac","scope":"https://mail.google.com/"}\n';
export const GMAIL_CHALLENGE_SENT =
  'eyJzdGF0dXMiOiI0MDEiLCJzY2hlbWVzIjoiYmVhcmVyIG1hYyIsInNjb3BlIjoiaHR0cHM6Ly9tYWlsLmdvb2dsZS5jb20vIn0K';
export const GMAIL_REFUSED =
  '535-5.7.1 Username and Password not accepted. Learn more at\r\n535 5.7.1 https://support.google.com/mail/?p=BadCredentials hx9sm5317360pbc.68';

/** RFC 7628 §4.3: what the error of an exchange says. */
export const RFC7628_CHALLENGE =
  '{"status":"invalid_token","scope":"example_scope","openid-configuration":"https://example.com/.well-known/openid-configuration"}';

/** ENTRA, “Get a token”: a good answer, but for the token. */
export function entraToken(token: string, seconds = 3599): Record<string, unknown> {
  return { token_type: 'Bearer', expires_in: seconds, access_token: token };
}

/** ENTRA, “Error response example”, with another code and text. */
export function entraError(code: number, error: string, text: string): Record<string, unknown> {
  const ids =
    'Trace ID: 0000aaaa-11bb-cccc-dd33-eeeeee333333\r\nCorrelation ID: aaaa0000-bb11-2222-33cc-444444dddddd';
  return {
    error,
    error_description: `AADSTS${code}: ${text}\r\n${ids}\r\nTimestamp: 2016-01-09 02:02:12Z`,
    error_codes: [code],
    timestamp: '2016-01-09 02:02:12Z',
    trace_id: '0000aaaa-11bb-cccc-dd33-eeeeee333333',
    correlation_id: 'aaaa0000-bb11-2222-33cc-444444dddddd',
    error_uri: `https://login.microsoftonline.com/error?code=${code}`,
  };
}

/** GOOGLE, the answer to a service account, but for the token; that to a refresh token looks the same. */
export function googleToken(token: string, seconds = 3600): Record<string, unknown> {
  return {
    access_token: token,
    scope: 'https://mail.google.com/',
    token_type: 'Bearer',
    expires_in: seconds,
  };
}

/** GOOGLE, “JWT error codes”, and what a refresh token that has ended is answered with. */
export const GOOGLE_ERRORS = {
  delegation: {
    error: 'unauthorized_client',
    error_description:
      'Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of the scopes requested.',
  },
  signature: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' },
  clock: {
    error: 'invalid_grant',
    error_description:
      "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your 'iat' and 'exp' values and use a clock with skew to account for clock differences between systems.",
  },
  subject: { error: 'invalid_grant', error_description: 'Invalid email or User ID' },
  revoked: { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' },
} as const;
