/**
 * The client's side of a session up to the first MAIL, as a state machine: greeting, EHLO (or HELO), STARTTLS
 * and EHLO again (RFC 3207 §4.2), AUTH (RFC 4954). Told replies, it says what to do next.
 */
import type { TlsMode } from '../domain/relay.ts';
import { type Capabilities, NO_CAPABILITIES, parseCapabilities } from './capabilities.ts';
import { authCommand, helloCommand, responseLine, STARTTLS } from './command.ts';
import type { SmtpReply } from './reply.ts';

/** What is to be reached. */
export interface OpeningPlan {
  /** What we call ourselves in EHLO. */
  readonly hostname: string;
  readonly tls: TlsMode;
  /** With these, only an authenticated session counts as open. */
  readonly credentials: Credentials | null;
}

/** Name and password for AUTH. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
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
    };

/** Opens one session. Begins by waiting for the greeting. */
export class Opening {
  readonly #plan: OpeningPlan;
  readonly #ehlo: string;
  #awaiting: OpeningVerb = 'greeting';
  #secured: boolean;
  #capabilities: Capabilities = NO_CAPABILITIES;
  /** What is still to be answered to 334, in order. */
  #responses: string[] = [];

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
    const { credentials } = this.#plan;
    if (!credentials) return { kind: 'ready', capabilities: this.#capabilities };
    if (!this.#secured)
      return failed('auth_failed', 'cannot be given the password: the connection is not encrypted', null);
    const { username, password } = credentials;
    if (this.#capabilities.authMechanisms.has('PLAIN'))
      return this.#send('auth', authCommand('PLAIN', base64(`\0${username}\0${password}`)));
    if (!this.#capabilities.authMechanisms.has('LOGIN'))
      return failed('auth_failed', 'offers neither AUTH PLAIN nor AUTH LOGIN', null);
    this.#responses = [base64(username), base64(password)];
    return this.#send('auth', authCommand('LOGIN'));
  }

  #onAuth(reply: SmtpReply): OpeningAction {
    if (reply.code < 300) return { kind: 'ready', capabilities: this.#capabilities };
    const response = reply.code === 334 ? this.#responses.shift() : undefined;
    if (response !== undefined) return this.#send('auth', responseLine(response));
    return failed('auth_failed', 'refused the user name or password', reply);
  }

  #send(awaiting: OpeningVerb, line: string): OpeningAction {
    this.#awaiting = awaiting;
    return { kind: 'send', line };
  }
}

function failed(cause: OpeningFailure, text: string, reply: SmtpReply | null): OpeningAction {
  return { kind: 'failed', cause, text, reply };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
