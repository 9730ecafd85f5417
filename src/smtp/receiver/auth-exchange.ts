/** AUTH PLAIN and AUTH LOGIN from the server's side (RFC 4954, RFC 4616). */
import { isUtf8 } from 'node:buffer';
import { decodeBase64 } from '../../lib/decode.ts';
import { type SessionReply, sessionReply } from './session-reply.ts';

/** A client's credentials. Never to be logged. */
export interface Credentials {
  readonly mechanism: 'PLAIN' | 'LOGIN';
  /** The identity to act as; '' for the user itself. */
  readonly authorizationId: string;
  readonly username: string;
  readonly password: string;
}

/** What follows a line of the exchange: a challenge, or its end. */
export type AuthStep =
  | { readonly kind: 'challenge'; readonly text: string }
  | { readonly kind: 'credentials'; readonly credentials: Credentials }
  | { readonly kind: 'failed'; readonly reply: SessionReply };

const USERNAME = challenge('VXNlcm5hbWU6');
const PASSWORD = challenge('UGFzc3dvcmQ6');
const EMPTY = challenge('');
const NUL = '\0';
/** The notation of an empty initial response (RFC 4954 §4). */
const EMPTY_RESPONSE = '=';
const CANCEL = '*';

/** The supported mechanisms, as in EHLO. */
export const MECHANISMS = 'PLAIN LOGIN';

/** One exchange. Begin it once, then pass it lines until a step is not a challenge. */
export class AuthExchange {
  readonly #mechanism: 'PLAIN' | 'LOGIN';
  #username: string | null = null;

  private constructor(mechanism: 'PLAIN' | 'LOGIN') {
    this.#mechanism = mechanism;
  }

  /** Begins with the argument of AUTH. Null when the mechanism is not supported. */
  static begin(argument: string): { readonly exchange: AuthExchange; readonly step: AuthStep } | null {
    const [name = '', initial, ...more] = argument.split(' ');
    const mechanism = name.toUpperCase();
    if (mechanism !== 'PLAIN' && mechanism !== 'LOGIN') return null;
    const exchange = new AuthExchange(mechanism);
    if (more.length > 0) return { exchange, step: malformed('AUTH takes a mechanism and one response') };
    if (initial !== undefined)
      return { exchange, step: exchange.#respond(initial === EMPTY_RESPONSE ? '' : initial) };
    return { exchange, step: mechanism === 'PLAIN' ? EMPTY : USERNAME };
  }

  /** Takes a line from the client. */
  respond(line: string): AuthStep {
    if (line === CANCEL)
      return { kind: 'failed', reply: sessionReply(501, '5.7.0', 'Authentication cancelled') };
    return this.#respond(line);
  }

  #respond(base64: string): AuthStep {
    const bytes = decodeBase64(base64);
    if (bytes === null || !isUtf8(bytes)) return malformed('The response must be base64 of UTF-8');
    const text = bytes.toString('utf8');
    return this.#mechanism === 'PLAIN' ? plain(text) : this.#login(text);
  }

  #login(text: string): AuthStep {
    if (text.includes(NUL)) return malformed('The response has a NUL');
    if (this.#username === null) {
      this.#username = text;
      return PASSWORD;
    }
    return proven({ mechanism: 'LOGIN', authorizationId: '', username: this.#username, password: text });
  }
}

function plain(text: string): AuthStep {
  const [authorizationId = '', username, password, ...more] = text.split(NUL);
  if (username === undefined || password === undefined || more.length > 0)
    return malformed('The response of PLAIN is authorization id, NUL, user name, NUL, password');
  return proven({ mechanism: 'PLAIN', authorizationId, username, password });
}

function proven(credentials: Credentials): AuthStep {
  return { kind: 'credentials', credentials };
}

function malformed(text: string): AuthStep {
  return { kind: 'failed', reply: sessionReply(501, '5.5.2', text) };
}

function challenge(base64: string): AuthStep {
  return { kind: 'challenge', text: `334 ${base64}\r\n` };
}
