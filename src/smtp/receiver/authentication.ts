import { AuthExchange, type AuthStep } from './auth-exchange.ts';
import type { ReceiverOptions } from './effect.ts';
import type { Outbox } from './outbox.ts';
import {
  AUTH_FIRST,
  AUTHENTICATED,
  EHLO_FIRST,
  NEEDS_ARGUMENT,
  NEEDS_TLS,
  type SessionReply,
  sessionReply,
  TLS_AND_AUTH_FIRST,
  TLS_FIRST,
} from './session-reply.ts';

/** The state of the session when a client sends AUTH. */
export interface AuthMoment {
  readonly secure: boolean;
  /** After EHLO, not HELO. */
  readonly extended: boolean;
  readonly inTransaction: boolean;
}

const MECHANISM_UNKNOWN = sessionReply(504, '5.5.4', 'Mechanisms are PLAIN and LOGIN');
const ALREADY_AUTHENTICATED = sessionReply(503, '5.5.1', 'Already authenticated');
const IN_TRANSACTION = sessionReply(503, '5.5.1', 'AUTH must come before MAIL');
const TOO_MANY_FAILURES = sessionReply(
  421,
  '4.7.0',
  'Too many failed authentications; connect again with a valid API key as the password',
);

/** AUTH in one session (RFC 4954): when it is allowed, its exchange, and its result. */
export class Authentication {
  readonly #options: ReceiverOptions;
  readonly #outbox: Outbox;
  #exchange: AuthExchange | null = null;
  #isAuthenticated = false;
  #failures = 0;

  constructor(options: ReceiverOptions, outbox: Outbox) {
    this.#options = options;
    this.#outbox = outbox;
  }

  get isAuthenticated(): boolean {
    return this.#isAuthenticated;
  }

  /** The client's next line is a response, not a command. */
  get isExchanging(): boolean {
    return this.#exchange !== null;
  }

  /** Why mail must wait for AUTH; null if it need not. */
  missing(secure: boolean): SessionReply | null {
    const { auth, requireAuth } = this.#options;
    if (!requireAuth || this.#isAuthenticated) return null;
    return secure || auth === 'always' ? AUTH_FIRST : TLS_AND_AUTH_FIRST;
  }

  /** Takes AUTH. */
  begin(argument: string, moment: AuthMoment): SessionReply | null {
    const refusal = this.#refusal(moment);
    if (refusal !== null) return refusal;
    if (argument === '') return NEEDS_ARGUMENT;
    const begun = AuthExchange.begin(argument);
    if (begun === null) return MECHANISM_UNKNOWN;
    this.#exchange = begun.exchange;
    return this.#take(begun.step);
  }

  /** Takes a line of the exchange. */
  respond(line: string): SessionReply | null {
    return this.#exchange === null ? null : this.#take(this.#exchange.respond(line));
  }

  /** The exchange was cancelled. */
  abandon(): void {
    this.#exchange = null;
  }

  /** Any earlier authentication no longer counts. */
  reset(): void {
    this.#exchange = null;
    this.#isAuthenticated = false;
  }

  /** The credentials are valid. */
  accept(): void {
    this.#isAuthenticated = true;
    this.#outbox.say(AUTHENTICATED);
  }

  /** The credentials are not valid; with a 4xx, that cannot be known now. */
  refuse(reply: SessionReply): void {
    if (reply.code >= 500) this.#failures += 1;
    if (this.#failures < this.#options.maxAuthFailures) this.#outbox.refuse(reply);
    else this.#outbox.end('too_many_errors', TOO_MANY_FAILURES);
  }

  #refusal({ secure, extended, inTransaction }: AuthMoment): SessionReply | null {
    const { auth, requireTls } = this.#options;
    if (!extended) return EHLO_FIRST;
    if (this.#isAuthenticated) return ALREADY_AUTHENTICATED;
    if (inTransaction) return IN_TRANSACTION;
    if (requireTls && !secure) return TLS_FIRST;
    return auth === 'secure' && !secure ? NEEDS_TLS : null;
  }

  #take(step: AuthStep): SessionReply | null {
    if (step.kind === 'challenge') return this.#outbox.say(step.text);
    this.#exchange = null;
    if (step.kind === 'failed') return step.reply;
    return this.#outbox.ask({ kind: 'auth', credentials: step.credentials });
  }
}
