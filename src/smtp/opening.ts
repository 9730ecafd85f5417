/**
 * The client's side of a session up to the first MAIL, as a state machine: greeting, EHLO (or HELO), STARTTLS
 * and EHLO again (RFC 3207 §4.2), AUTH (RFC 4954). Told replies, it says what to do next.
 */
import type { TlsMode } from '../domain/relay.ts';
import { type AuthPeer, type AuthPlan, authCure, type Credentials, challengeOf, planAuth } from './auth.ts';
import { authCommand, helloCommand, responseLine, STARTTLS } from './command.ts';
import type { SmtpReply } from './reply.ts';
import { type Capabilities, NO_CAPABILITIES, parseCapabilities } from './reply.ts';

/** What is to be reached. */
export interface OpeningPlan {
  /** What we call ourselves in EHLO. */
  readonly hostname: string;
  readonly tls: TlsMode;
  /** With these, only an authenticated session counts as open. */
  readonly credentials: Credentials | null;
  /** The server. */
  readonly peer: AuthPeer;
}

/** What a reply is awaited to. */
export type OpeningVerb = 'greeting' | 'ehlo' | 'helo' | 'starttls' | 'auth';

/** Why a session could not be opened. */
export type OpeningFailure = 'greeting_refused' | 'ehlo_refused' | 'tls_failed' | 'auth_failed';

/** What to do next. */
export type OpeningAction =
  | { readonly kind: 'send'; readonly line: string }
  /** Drop what was read ahead, do the TLS handshake, then call `secured`. */
  | { readonly kind: 'start_tls' }
  | { readonly kind: 'ready'; readonly capabilities: Capabilities }
  | {
      readonly kind: 'failed';
      readonly cause: OpeningFailure;
      /** For an operator. */
      readonly text: string;
      /** What the peer said; null when it said nothing wrong. */
      readonly reply: SmtpReply | null;
      /** What to do about it; null where nothing is known. */
      readonly cure: string | null;
    };

/** Opens one session. Begins by waiting for the greeting. */
export class Opening {
  readonly #plan: OpeningPlan;
  readonly #ehlo: string;
  #awaiting: OpeningVerb = 'greeting';
  #secured: boolean;
  #capabilities: Capabilities = NO_CAPABILITIES;
  #auth: AuthPlan | null = null;
  /** What is still to be answered to 334, in order. */
  #responses: readonly string[] = [];
  /** The peer has told why it does not take the token; that much is certain, whatever it says now. */
  #challenge: string | null = null;

  /** Throws RangeError for a host name that cannot be written. */
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

  /** The TLS handshake is done. All that was said before it is forgotten. */
  secured(): OpeningAction {
    this.#secured = true;
    return this.#hello();
  }

  #hello(): OpeningAction {
    return this.#send('ehlo', this.#ehlo);
  }

  #onEhlo(reply: SmtpReply): OpeningAction {
    if (reply.code < 300) return this.#greeted(parseCapabilities(reply));
    // 4xx is a server that cannot serve now; 5xx may be one that only knows HELO (RFC 5321 §3.2).
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

  /** What to answer to a 334; null when there is nothing left to say. */
  #answerTo(reply: SmtpReply): string | null {
    const acknowledgement = this.#auth?.acknowledgement ?? null;
    // To a token, only a 334 without any text asks for something.
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
