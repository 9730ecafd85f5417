/** The access token of one relay (OAuth 2.0, RFC 6749 §4.4): asked for once for all who need it, and again in time. */
import { localReply, type Reply } from '../../domain/outcome.ts';
import type { Clock } from '../../lib/clock.ts';
import { Flights } from '../../lib/flights.ts';
import type { Call } from './calls.ts';
import { restOf } from './judge.ts';
import type { HttpAnswer, TokenSource } from './provider.ts';
import { targetOf } from './told.ts';
import { ProviderTrace } from './trace.ts';
import { ABORTED } from './trouble.ts';
import { formsOf, plainText } from './words.ts';

/** A token is renewed so long before it ends, or after nine tenths of its life where that is short. */
const RENEW_BEFORE_MS = 5 * 60_000;
const MAX_LIFE_MS = 24 * 3_600_000;

/** A token, or why there is none. */
export type TokenResult =
  | { readonly ok: true; readonly token: string }
  | {
      readonly ok: false;
      readonly reply: Reply;
      /** How long the token endpoint asks to be left alone, in ms; null: it does not. */
      readonly restMs: number | null;
    };

/** What a relay's tokens are got with. */
export interface TokenParts {
  readonly source: TokenSource;
  readonly call: Call;
  readonly clock: Clock;
  /** The client's secret, which no text may show. */
  readonly secret: string;
}

/** See the file's comment. */
export class Tokens {
  readonly #parts: TokenParts;
  readonly #flights = new Flights<TokenResult>();
  #current: { readonly token: string; readonly until: number } | null = null;

  constructor(parts: TokenParts) {
    this.#parts = parts;
  }

  /** The token that is good now. */
  async get(signal: AbortSignal): Promise<TokenResult> {
    const current = this.#current;
    if (current !== null && this.#parts.clock.mono() < current.until)
      return { ok: true, token: current.token };
    const result = await this.#flights.join('', signal, (end) => this.#ask(end));
    return result ?? { ok: false, reply: ABORTED, restMs: null };
  }

  /** It was refused: the next who needs one asks anew. */
  drop(token: string): void {
    if (this.#current?.token === token) this.#current = null;
  }

  async #ask(signal: AbortSignal): Promise<TokenResult> {
    const { source, call, clock } = this.#parts;
    const host = new URL(source.request.url).hostname;
    const exchanged = await call(source.request, new ProviderTrace(host, clock), signal);
    if (exchanged.kind === 'none') return { ok: false, reply: exchanged.trouble.reply, restMs: null };
    const { answer } = exchanged;
    const got = answer.status === 200 ? source.read(answer) : null;
    if (got === null) {
      const restMs = restOf(answer.headers['retry-after'], clock.wall());
      return { ok: false, reply: this.#refusal(answer), restMs };
    }
    const life = Math.min(got.forMs, MAX_LIFE_MS);
    const until = clock.mono() + life - Math.min(RENEW_BEFORE_MS, life / 10);
    this.#current = { token: got.token, until };
    return { ok: true, token: got.token };
  }

  #refusal(answer: HttpAnswer): Reply {
    const { source, secret } = this.#parts;
    const secrets = formsOf(secret, source.request.headers);
    const said = answer.status === 200 ? 'an answer without a token' : describe(answer, secrets);
    const text = plainText(`No access token: ${said}`, secrets);
    return { ...localReply('token_refused', '4.7.8', text), code: answer.status };
  }
}

const REDIRECTED = ', which is not followed: correct authority';

/** The error as RFC 6749 §5.2 has it. */
function describe(answer: HttpAnswer, secrets: readonly string[]): string {
  const { status, body } = answer;
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null && 'error' in value && typeof value.error === 'string') {
      const detail = 'error_description' in value ? `: ${String(value.error_description)}` : '';
      return `${value.error}${detail}`;
    }
  } catch {
    // What is no JSON says no more than its status.
  }
  const target = targetOf(answer, secrets);
  return `status ${status}${target}${status > 299 && status < 400 ? REDIRECTED : ''}`;
}
