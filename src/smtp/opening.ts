/**
 * The client's side of a session up to the first MAIL, as a state machine: greeting, EHLO (or HELO), STARTTLS and EHLO
 * again (RFC 3207 §4.2), AUTH (RFC 4954). Given replies, it returns the next step.
 */
import type { TlsMode } from '../domain/relay.ts';
import { type AuthPeer, type AuthPlan, authCure, type Credentials, challengeOf, planAuth } from './auth.ts';
import { authCommand, helloCommand, responseLine, STARTTLS } from './command.ts';
import type { SmtpReply } from './reply.ts';
import { type Capabilities, NO_CAPABILITIES, parseCapabilities } from './reply.ts';

/** The goal of an opening. */
export interface OpeningPlan {
  /** Our EHLO name. */
  readonly hostname: string;
  readonly tls: TlsMode;
  /** If given, only an authenticated session counts as open. */
  readonly credentials: Credentials | null;
  /** The server. */
  readonly peer: AuthPeer;
}

/** What a reply answers. */
export type OpeningVerb = 'greeting' | 'ehlo' | 'helo' | 'starttls' | 'auth';

/** Why a session could not be opened. */
export type OpeningFailure = 'greeting_refused' | 'ehlo_refused' | 'tls_failed' | 'auth_failed';

/** What to do next. */
export type OpeningAction =
  | { readonly kind: 'send'; readonly line: string }
  /** Drop bytes already read, do the TLS handshake, then call `secured`. */
  | { readonly kind: 'start_tls' }
  | { readonly kind: 'ready'; readonly capabilities: Capabilities }
  | {
      readonly kind: 'failed';
      readonly cause: OpeningFailure;
      /** For an operator. */
      readonly text: string;
      /** The peer's reply; null if no reply was at fault. */
      readonly reply: SmtpReply | null;
      /** Advice; null if none is known. */
      readonly cure: string | null;
    };

/** Opens one session. Starts by waiting for the greeting. */
export class Opening {
  readonly #plan: OpeningPlan;
  readonly #ehlo: string;
  #awaiting: OpeningVerb = 'greeting';
  #secured: boolean;
  #capabilities: Capabilities = NO_CAPABILITIES;
  #auth: AuthPlan | null = null;
  /** Remaining responses to 334, in order. */
  #responses: readonly string[] = [];
  /** The peer has explained why it refuses the token; the refusal is certain, whatever follows. */
  #challenge: string | null = null;

  /** Throws RangeError for an invalid host name. */
  constructor(plan: OpeningPlan) {
    this.#plan = plan;
    this.#ehlo = helloCommand('EHLO', plan.hostname);
    this.#secured = plan.tls === 'implicit';
  }

  /** What the next reply will answer. */
  get awaiting(): OpeningVerb {
    return this.#awaiting;
  }

  /** Takes the reply that was awaited. */
  receive(reply: SmtpReply): OpeningAction {
    const good = reply.code < 300;
    switch (this.#awaiting) {
      case 'greeting':
        return good ? this.#hello() : failed('greeting_refused', 'refused the connection', reply);
      case 'ehlo':
        return this.#onEhlo(reply);
      case 'helo':
        return good ? this.#greeted(NO_CAPABILITIES) : failed('ehlo_refused', 'refused HELO', reply);
      case 'starttls':
        return this.#onStartTls(reply);
      case 'auth':
        return this.#onAuth(reply);
    }
  }

  /** The TLS handshake is done. Everything before it is forgotten. */
  secured(): OpeningAction {
    this.#secured = true;
    return this.#hello();
  }

  #hello(): OpeningAction {
    return this.#send('ehlo', this.#ehlo);
  }

  #onEhlo(reply: SmtpReply): OpeningAction {
    if (reply.code < 300) return this.#greeted(parseCapabilities(reply));
    // A 4xx means that the server cannot serve now; a 5xx may come from one that only knows HELO (RFC 5321 §3.2).
    if (reply.code < 500) return failed('ehlo_refused', 'refused EHLO', reply);
    return this.#send('helo', helloCommand('HELO', this.#plan.hostname));
  }

  #greeted(capabilities: Capabilities): OpeningAction {
    this.#capabilities = capabilities;
    const { tls } = this.#plan;
    if (this.#secured || tls === 'none') return this.#authenticate();
    if (capabilities.startTls) return this.#send('starttls', STARTTLS);
    return tls === 'opportunistic'
      ? this.#authenticate()
      : failed('tls_failed', 'does not offer STARTTLS', null);
  }

  #onStartTls(reply: SmtpReply): OpeningAction {
    if (reply.code < 300) return { kind: 'start_tls' };
    if (this.#plan.tls === 'opportunistic' && reply.code !== 421) return this.#authenticate();
    return failed('tls_failed', 'refused STARTTLS', reply);
  }

  #authenticate(): OpeningAction {
    const { credentials, peer } = this.#plan;
    if (!credentials) return { kind: 'ready', capabilities: this.#capabilities };
    const what = secretOf(credentials);
    if (!this.#secured)
      return failed('auth_failed', `cannot be given the ${what}: the connection is not encrypted`, null);
    const plan = planAuth(credentials, this.#capabilities.authMechanisms, peer);
    if (plan.mechanism === null) return failed('auth_failed', plan.text, null);
    this.#auth = plan;
    this.#responses = plan.responses;
    return this.#send('auth', authCommand(plan.mechanism, plan.initial));
  }

  #onAuth(reply: SmtpReply): OpeningAction {
    const { credentials } = this.#plan;
    const isRefused = this.#challenge !== null;
    if (reply.code < 300 && !isRefused) return { kind: 'ready', capabilities: this.#capabilities };
    if (reply.code === 334 && !isRefused) {
      const answer = this.#answerTo(reply);
      if (answer !== null) return this.#send('auth', responseLine(answer));
    }
    const said = this.#challenge ? ` (${this.#challenge})` : '';
    const cure = credentials && authCure(reply, credentials);
    const what = credentials?.auth === 'xoauth2' ? 'token' : 'user name or password';
    return failed('auth_failed', `refused the ${what}${said}`, reply, cure);
  }

  /** The response to a 334; null when none is left. */
  #answerTo(reply: SmtpReply): string | null {
    const acknowledgement = this.#auth?.acknowledgement ?? null;
    // With a token, only a 334 without text asks for a response.
    if (acknowledgement === null || reply.text === '') {
      const [response, ...rest] = this.#responses;
      this.#responses = rest;
      if (response !== undefined) return response;
    }
    this.#challenge = challengeOf(reply) ?? '';
    return acknowledgement;
  }

  #send(awaiting: OpeningVerb, line: string): OpeningAction {
    this.#awaiting = awaiting;
    return { kind: 'send', line };
  }
}

function secretOf({ auth }: Credentials): string {
  return auth === 'xoauth2' ? 'token' : 'password';
}

function failed(
  cause: OpeningFailure,
  text: string,
  reply: SmtpReply | null,
  cure: string | null = null,
): OpeningAction {
  return { kind: 'failed', cause, text, reply, cure };
}
