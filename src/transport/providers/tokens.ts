/** The access token of one relay (OAuth 2.0, RFC 6749): requested once for all attempts, and renewed in time. */
import { localReply, type Reply } from '../../domain/outcome.ts';
import type { OAuthSettings } from '../../domain/relay.ts';
import type { Clock } from '../../lib/clock.ts';
import { decodeJson, textOf } from '../../lib/decode.ts';
import { Flights } from '../../lib/stop.ts';
import type { TokenDesk, TokenResult } from '../transport.ts';
import { type Call, callsOver } from './calls.ts';
import { Connections } from './connections.ts';
import { type Resolve, systemResolve } from './dial.ts';
import { tokenSource } from './grants.ts';
import { formsOf, MAX_TEXT, plainText, restOf, targetOf } from './judge.ts';
import { PROVIDER_TIMEOUTS, type ProviderTimeouts } from './limits.ts';
import type { HttpAnswer, ProviderRequest, TokenSource } from './provider.ts';
import { ProviderTrace } from './trace.ts';
import { ABORTED } from './trouble.ts';

/** A token is renewed this long before it ends, or after nine tenths of a short life. */
const RENEW_BEFORE_MS = 5 * 60_000;
const MAX_LIFE_MS = 24 * 3_600_000;
/** A token that could not be renewed in time is used to its end, and its renewal retried after this long. */
const RENEW_AGAIN_MS = 30_000;
/** Characters of an error's code, and of its description. */
const MAX_ERROR = 100;
const MAX_DESCRIPTION = 4000;
/** Shorter than for messages: a late answer leaves no doubt, because a token can simply be requested again. */
const TOKEN_TIMEOUTS: ProviderTimeouts = {
  ...PROVIDER_TIMEOUTS,
  connect: 15_000,
  tls: 15_000,
  answer: 30_000,
};

interface TokenParts {
  readonly source: TokenSource;
  readonly call: Call;
  readonly clock: Clock;
}

/** The access token of one relay, shared by all its attempts. */
export class Tokens implements Omit<TokenDesk, 'close'> {
  readonly #parts: TokenParts;
  readonly #flights = new Flights<TokenResult>();
  /** `until`: when to request another; `end`: how long it can be used at most. Monotonic ms. */
  #current: {
    readonly token: string;
    readonly until: number;
    readonly end: number;
    readonly isRotated: boolean;
  } | null = null;

  constructor(parts: TokenParts) {
    this.#parts = parts;
  }

  /** See {@link TokenDesk.get}. */
  async get(signal: AbortSignal, tell: (text: string) => void = () => {}): Promise<TokenResult> {
    const { clock, source } = this.#parts;
    const current = this.#current;
    if (current !== null && clock.mono() < current.until) return { ok: true, token: current.token };
    const { host } = new URL(source.url);
    tell(`asks ${host} for an access token`);
    const asked = await this.#flights.join('', signal, (end) => this.#ask(end));
    const result = asked ?? { ok: false, reply: ABORTED, restMs: null };
    if (result.ok) tell(`${host} issued one that is valid for ${this.#life()}`);
    if (result.ok && this.#current?.isRotated)
      tell('it came with another refresh token, which is used until this server stops; it is not stored');
    return result;
  }

  /** See {@link TokenDesk.drop}. */
  drop(token: string): void {
    if (this.#current?.token === token) this.#current = null;
  }

  /** The remaining life of the current token, in words. */
  #life(): string {
    const seconds = Math.round(Math.max(0, (this.#current?.end ?? 0) - this.#parts.clock.mono()) / 1000);
    return seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
  }

  /** A new token; if there is none, the current one while it is valid. */
  async #ask(signal: AbortSignal): Promise<TokenResult> {
    const { clock } = this.#parts;
    const result = await this.#request(signal);
    const current = this.#current;
    const now = clock.mono();
    if (result.ok || current === null || now >= current.end) return result;
    this.#current = { ...current, until: Math.min(current.end, now + RENEW_AGAIN_MS) };
    return { ok: true, token: current.token };
  }

  async #request(signal: AbortSignal): Promise<TokenResult> {
    const { source, call, clock } = this.#parts;
    const trace = new ProviderTrace(new URL(source.url).hostname, clock);
    const request = source.ask(clock.wall());
    const exchanged = await call(request, trace, signal);
    if (exchanged.kind === 'none') {
      const { reply } = exchanged.trouble;
      const text = `No access token: ${reply.text}`.slice(0, MAX_TEXT);
      return { ok: false, reply: reply === ABORTED ? reply : { ...reply, text }, restMs: null };
    }
    const { answer } = exchanged;
    const got = answer.status === 200 ? source.read(answer) : null;
    if (got === null) {
      const restMs = restOf(answer.headers['retry-after'], clock.wall());
      return { ok: false, reply: refusal(answer, request, source), restMs };
    }
    const life = Math.min(got.forMs, MAX_LIFE_MS);
    const now = clock.mono();
    const until = now + life - Math.min(RENEW_BEFORE_MS, life / 10);
    this.#current = { token: got.token, until, end: now + life, isRotated: got.isRotated };
    return { ok: true, token: got.token };
  }
}

/** What a smarthost's access tokens are obtained with. */
export interface SmarthostTokenParts {
  readonly clock: Clock;
  readonly timeouts?: Partial<ProviderTimeouts>;
  /** Overrides the system's resolver. */
  readonly resolve?: Resolve;
}

/** The tokens of a smarthost, requested with the same guards as a provider's answers, over a separate connection. */
export function smarthostTokens(
  { tokenUrl: url, scope, allowPrivate, grant }: OAuthSettings,
  { clock, timeouts: some, resolve = systemResolve }: SmarthostTokenParts,
): TokenDesk {
  const timeouts = { ...TOKEN_TIMEOUTS, ...some };
  const connections = new Connections(1, { allowPrivate, resolve, clock, timeouts });
  const source = tokenSource(grant, { url, setting: 'token_url', scope });
  const call = callsOver({ connections, secret: () => source.secrets });
  const tokens = new Tokens({ source, call, clock });
  return {
    get: (signal, tell) => tokens.get(signal, tell),
    drop: (token) => tokens.drop(token),
    close: () => connections.close(),
  };
}

/** Whether a failure with this status may pass within moments, rather than being a refusal. */
function isPassing(status: number): boolean {
  return status === 200 || status === 408 || status === 429 || status >= 500;
}

function refusal(answer: HttpAnswer, request: ProviderRequest, source: TokenSource): Reply {
  const { status, body } = answer;
  const secrets = formsOf([...source.secrets, ...assertionsIn(request)], request.headers);
  const json = decodeJson(body);
  const error = status === 200 ? null : textOf(json, 'error', MAX_ERROR);
  const description = error === null ? '' : (textOf(json, 'error_description', MAX_DESCRIPTION) ?? '');
  const said = plainText(`No access token: ${wordsOf(answer, error, description, source, secrets)}`, secrets);
  const cure = error === null ? null : tokenCure(error, description);
  const tail = cure === null ? '' : `. What to do: ${cure}`;
  const text = `${said.slice(0, MAX_TEXT - tail.length).replace(/[. ]+$/, '')}${tail}`;
  const cause = isPassing(status) ? 'token_unavailable' : 'token_refused';
  return { ...localReply(cause, '4.7.8', text), code: status };
}

/** The error by RFC 6749 §5.2; without such JSON, only the status is known. */
function wordsOf(
  answer: HttpAnswer,
  error: string | null,
  description: string,
  { setting }: TokenSource,
  secrets: readonly string[],
): string {
  const { status } = answer;
  if (status === 200) return 'an answer without a token of type Bearer';
  // Microsoft's trace ids would crowd out what matters.
  if (error !== null) return [error, description.replace(/\s*Trace ID:.*/s, '')].filter(Boolean).join(': ');
  const redirected = status > 299 && status < 400 ? `, which is not followed: correct ${setting}` : '';
  return `status ${status}${targetOf(answer, secrets)}${redirected}`;
}

/** Even an assertion signed for this request alone could still obtain a token. */
function assertionsIn({ body }: ProviderRequest): readonly string[] {
  const assertion = new URLSearchParams(Buffer.concat(body).toString()).get('assertion');
  return assertion === null ? [] : [assertion];
}

// Why a token endpoint gives no token, and what to do about it: codes of Microsoft Entra, errors of Google.

interface TokenCause {
  /** Microsoft's `AADSTS…`; otherwise the `error` of RFC 6749 §5.2. */
  readonly code: string;
  /** Matches the description, where one error has several causes. */
  readonly said?: RegExp;
  /** What an operator should do. */
  readonly cure: string;
}

/**
 * The first match counts. Microsoft's are from its list of error codes
 * (learn.microsoft.com/entra/identity-platform/reference-error-codes) and its answers, Google's from
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
    cure: 'the grant was revoked, for example by a password change: sign in again, and give the relay the new refresh token',
  },
  {
    code: 'AADSTS500011',
    cure: 'the tenant does not know the resource in scope: correct scope (https://outlook.office365.com/.default), and make sure that the tenant has Exchange Online',
  },
  {
    code: 'AADSTS65001',
    cure: 'nobody has consented: grant admin consent to SMTP.SendAsApp (Entra, App registrations, API permissions)',
  },
  {
    code: 'AADSTS70011',
    cure: 'scope is wrong: leave it out, or give https://outlook.office365.com/.default',
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
    cure: 'the refresh token is no longer valid (revoked, a changed password, six months unused, or seven days for an application in testing): consent again, and give the relay the new one',
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
    cure: 'the refresh token, or the service account’s signed request, was refused: give the relay a new one',
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
  {
    code: 'org_internal',
    cure: 'the client is for one organization only: use an account of that organization',
  },
  {
    code: 'admin_policy_enforced',
    cure: 'an administrator of the domain blocks the client from this scope: mark it as trusted (Google Admin, Security, API controls)',
  },
  { code: 'invalid_scope', cure: 'scope is wrong: leave it out, or correct it' },
  {
    code: 'access_denied',
    cure: 'access was refused: look at the consent, and at the policies of the provider’s console',
  },
];

/** The advice on an error of a token endpoint; null if its own words are the best there are. */
export function tokenCure(error: string, description: string): string | null {
  const [aadsts] = /AADSTS\d+/.exec(description) ?? [];
  const of = (code: string | undefined) =>
    TOKEN_CAUSES.find((cause) => cause.code === code && (cause.said?.test(description) ?? true));
  return (of(aadsts) ?? (aadsts === undefined ? of(error) : undefined))?.cure ?? null;
}
