import { readFile } from 'node:fs/promises';
import type { Configuration, IDToken } from 'openid-client';
import {
  type BegunSignIn,
  type IdentityProvider,
  type Proven,
  ProviderFault,
  type ProviderFaultKind,
} from '../accounts/identity-provider.ts';
import { type AdmissionRules, type Claims, suffices } from '../domain/identity.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { readError } from '../lib/error.ts';
import { NoAnswer, providerFetch } from './fetch.ts';

/**
 * A provider that speaks OpenID Connect: authorization code flow with PKCE (S256), by `openid-client`, which checks
 * state, nonce, issuer (RFC 9207 too), audience, times and signature. What it leaves open is decided here.
 */

/** `sign_in.oidc`, as this needs it. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly name: string;
  readonly publicUrl: string | null;
  readonly scopes: readonly string[];
  readonly rules: AdmissionRules;
  readonly sessionMs: number;
  /** A PEM file of the authorities to trust; null: those that Node.js trusts. */
  readonly caFile: string | null;
  readonly allowHttp: boolean;
}

const SECOND = 1000;
/** What a provider says of itself is asked anew after this long; its keys, by the library, after five minutes. */
const KNOWN_MS = 60 * 60 * SECOND;
/** A provider that failed is left alone for so long: many may press the button. */
const REST_MS = 3 * SECOND;
/** For one request of ours. */
const TIMEOUT_SECONDS = 15;
/** An answer is used at once. */
const MAX_AGE_MS = 5 * 60 * SECOND;
/** Clocks differ. */
const TOLERANCE_MS = 60 * SECOND;
/** OpenID Connect Core §2. */
const MAX_SUBJECT = 255;
const MAX_TEXT = 300;

interface Known {
  readonly config: Configuration;
  /** Monotonic ms. */
  readonly since: number;
}

/** Talks to a provider. */
export class OidcProvider implements IdentityProvider {
  readonly #settings: OidcSettings;
  readonly #clock: Clock;
  #known: Known | null = null;
  #asking: Promise<Known> | null = null;
  #failed: { readonly fault: unknown; readonly at: number } | null = null;

  constructor(settings: OidcSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  get issuer(): string {
    return this.#settings.issuer;
  }

  get name(): string {
    return this.#settings.name;
  }

  get publicUrl(): string | null {
    return this.#settings.publicUrl;
  }

  get rules(): AdmissionRules {
    return this.#settings.rules;
  }

  get sessionMs(): number {
    return this.#settings.sessionMs;
  }

  /** See {@link IdentityProvider.urlFor}. */
  async urlFor({ redirectUri, state, nonce, verifier }: BegunSignIn): Promise<string> {
    return await this.#orFault('away', async () => {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await library();
      const url = buildAuthorizationUrl(await this.#configuration(), {
        redirect_uri: redirectUri,
        scope: this.#settings.scopes.join(' '),
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      });
      return url.href;
    });
  }

  /** See {@link IdentityProvider.prove}. */
  async prove(begun: BegunSignIn, search: string): Promise<Proven> {
    const config = await this.#orFault('away', () => this.#configuration());
    return await this.#orFault('refused', async () => {
      const { authorizationCodeGrant } = await library();
      const url = new URL(begun.redirectUri);
      url.search = search;
      const tokens = await authorizationCodeGrant(config, url, {
        expectedState: begun.state,
        expectedNonce: begun.nonce,
        pkceCodeVerifier: begun.verifier,
        idTokenExpected: true,
      });
      const claims = this.#checked(tokens.claims());
      const all = await this.#withUserInfo(claims, config, tokens.access_token);
      return { account: { issuer: claims.iss, subject: claims.sub }, claims: all };
    });
  }

  /** See {@link IdentityProvider.signOutUrl}. */
  async signOutUrl(): Promise<string | null> {
    try {
      const config = await this.#configuration();
      if (config.serverMetadata().end_session_endpoint === undefined) return null;
      const { buildEndSessionUrl } = await library();
      return buildEndSessionUrl(config).href;
    } catch {
      // The session here has ended all the same.
      return null;
    }
  }

  /** Asks the provider what it says of itself. Rejects with `ProviderFault`. */
  async look(): Promise<void> {
    await this.#orFault('away', () => this.#configuration());
  }

  /** What a library cannot know: that nobody else's audience counts, and how old an answer may be by our clock. */
  #checked(claims: IDToken | undefined): IDToken {
    if (claims === undefined) throw refused('no_id_token', 'there is no ID token in the answer');
    const { clientId } = this.#settings;
    const audiences = Array.isArray(claims.aud) ? claims.aud : [claims.aud];
    if (audiences.some((audience) => audience !== clientId))
      throw refused('other_audience', 'the ID token is meant for others, too');
    if (claims.azp !== undefined && claims.azp !== clientId)
      throw refused('other_party', 'the ID token was issued to somebody else');
    const age = this.#clock.wall() - claims.iat * SECOND;
    if (age > MAX_AGE_MS || age < -TOLERANCE_MS)
      throw refused('not_fresh', `the ID token is ${Math.round(age / SECOND)} seconds old`);
    if (claims.sub === '' || claims.sub.length > MAX_SUBJECT)
      throw refused('bad_subject', 'the subject is empty or too long');
    return claims;
  }

  /** The claims, with those of the user info where they are not enough. */
  async #withUserInfo(claims: IDToken, config: Configuration, accessToken: string): Promise<Claims> {
    const { userinfo_endpoint: endpoint } = config.serverMetadata();
    if (suffices(claims, this.rules) || endpoint === undefined) return claims;
    const { fetchUserInfo } = await library();
    return { ...(await fetchUserInfo(config, accessToken, claims.sub)), ...claims };
  }

  /** What the provider says of itself, from a while ago at most. One request at a time asks for it. */
  async #configuration(): Promise<Configuration> {
    const now = this.#clock.mono();
    if (this.#known !== null && now - this.#known.since < KNOWN_MS) return this.#known.config;
    if (this.#failed !== null && now - this.#failed.at < REST_MS) throw this.#failed.fault;
    this.#asking ??= this.#discover().then(
      (known) => {
        this.#known = known;
        return known;
      },
      (fault: unknown) => {
        this.#failed = { fault, at: this.#clock.mono() };
        throw fault;
      },
    );
    try {
      return (await this.#asking).config;
    } finally {
      this.#asking = null;
    }
  }

  async #discover(): Promise<Known> {
    const { issuer, clientId, clientSecret, caFile, allowHttp } = this.#settings;
    const lib = await library();
    const since = this.#clock.mono();
    const secrets = clientSecret === null ? [] : [clientSecret];
    const ca = caFile === null ? null : await authorities(caFile);
    const fetch = providerFetch({ clock: this.#clock, ca, allowHttp, secrets });
    // The library asks the machine for the time; ours may be that of the database.
    const skew = Math.round((this.#clock.wall() - systemClock.wall()) / SECOND);
    const found = await lib.discovery(new URL(issuer), clientId, undefined, lib.None(), {
      [lib.customFetch]: fetch,
      timeout: TIMEOUT_SECONDS,
      execute: allowHttp ? [lib.allowInsecureRequests] : [],
    });
    const metadata = found.serverMetadata();
    if (metadata.issuer !== issuer)
      throw new ProviderFault('away', 'other_issuer', `it calls itself ${metadata.issuer}, not ${issuer}`);
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const secretGoes = methods.includes('client_secret_post') ? lib.ClientSecretPost : lib.ClientSecretBasic;
    const config = new lib.Configuration(
      metadata,
      clientId,
      { [lib.clockSkew]: skew },
      clientSecret === null ? lib.None() : secretGoes(clientSecret),
    );
    config[lib.customFetch] = fetch;
    config.timeout = TIMEOUT_SECONDS;
    // TLS vouches for the token endpoint; the signature is checked all the same.
    lib.enableNonRepudiationChecks(config);
    if (allowHttp) lib.allowInsecureRequests(config);
    return { config, since };
  }

  /** The work's result, or a fault; `kind`: what it is unless something else is known. */
  async #orFault<T>(kind: ProviderFaultKind, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const fault = await asFault(error, kind, this.#settings.clientSecret);
      // Its keys, or endpoints, may be others by now.
      if (fault.code === 'OAUTH_KEY_SELECTION_FAILED') this.#known = null;
      throw fault;
    }
  }
}

/** Loaded on first use: most installations go without. */
function library() {
  return import('openid-client');
}

async function authorities(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ProviderFault('away', 'ca_unreadable', `${path} cannot be read: ${readError(error)}`);
  }
}

function refused(code: string, message: string): ProviderFault {
  return new ProviderFault('refused', code, message);
}

/** These say nothing about a sign-in: the provider, or what stands in its way, is at fault. */
const AWAY: ReadonlySet<string> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
  'OAUTH_MISSING_SERVER_METADATA',
  'OAUTH_INVALID_SERVER_METADATA',
  'OAUTH_WWW_AUTHENTICATE_CHALLENGE',
]);
/** Of RFC 6749 §5.2 and §4.1.2.1: these are about us or about the provider, not about somebody who signs in. */
const OURS: ReadonlySet<string> = new Set([
  'invalid_client',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
  'invalid_scope',
  'invalid_request',
  'server_error',
  'temporarily_unavailable',
]);

async function asFault(
  error: unknown,
  otherwise: ProviderFaultKind,
  secret: string | null,
): Promise<ProviderFault> {
  if (error instanceof ProviderFault) return error;
  const { AuthorizationResponseError, ResponseBodyError } = await library();
  const make = (kind: ProviderFaultKind, code: string, text: string) =>
    new ProviderFault(kind, code, plain(text, secret), { cause: error });
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    const code = /^[a-z_]{1,40}$/.test(error.error) ? error.error : 'other_error';
    const away = OURS.has(code) || (error instanceof ResponseBodyError && error.status >= 500);
    const kind = away ? 'away' : error instanceof ResponseBodyError ? 'refused' : 'denied';
    const description = error.error_description ?? '';
    return make(kind, code, description === '' ? code : `${code}: ${description}`);
  }
  const causes = causesOf(error);
  const unanswered = causes.find((cause) => cause instanceof NoAnswer);
  if (unanswered !== undefined) return make('away', unanswered.code, unanswered.message);
  const code = causes.find(hasCode)?.code ?? 'bad_answer';
  return make(AWAY.has(code) ? 'away' : otherwise, code, causes.at(-1)?.message ?? String(error));
}

/** An error, what caused it, and so on. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let at = error; at instanceof Error && causes.length < 10; at = at.cause) causes.push(at);
  return causes;
}

function hasCode(error: Error): error is Error & { readonly code: string } {
  return 'code' in error && typeof error.code === 'string';
}

/** One line, which may be a stranger's, without the secret. */
function plain(text: string, secret: string | null): string {
  const hidden = secret === null ? text : text.replaceAll(secret, '…');
  return hidden.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, MAX_TEXT);
}
