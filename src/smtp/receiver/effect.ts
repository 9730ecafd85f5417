/** What a {@link Receiver} tells its owner to do, and the questions it asks. */
import type { Mailbox } from '../../domain/mailbox.ts';
import type { Credentials } from './auth-exchange.ts';
import type { ContentFault, ContentRules } from './content-scanner.ts';
import type { MailParameters, RcptParameters } from './parameters.ts';
import type { SessionReply } from './session-reply.ts';

/** A reverse-path with its parameters (RFC 5321 §4.1.1.2). */
export interface ReversePath extends MailParameters {
  /** Null for `<>`. */
  readonly mailbox: Mailbox | null;
}

/** A forward-path with its parameters (RFC 5321 §4.1.1.3). */
export interface ForwardPath extends RcptParameters {
  /** Null for `<postmaster>` without a domain. */
  readonly mailbox: Mailbox | null;
}

/** The accepted envelope: every path that the owner has accepted, in order, repeats included. */
export interface TakenEnvelope {
  readonly reversePath: ReversePath;
  readonly forwardPaths: readonly ForwardPath[];
}

/**
 * Asks for `accept` or `refuse`. Until then nothing further is read.
 * - `mail`, `rcpt`: is this path acceptable? Refuse with any 4xx or 5xx.
 * - `begin`: may content come now? Asked before the 354, or before the first chunk is read; the owner may wait for
 * memory. `declaredBytes` is the value of SIZE.
 * - `message`: the content is complete; accept it (with the text of the 250), or refuse it. Accepting means that it is
 * durable. The `content` since `begin` is the message: CRLF lines, ended by CRLF, not dot-stuffed, without NUL, bare CR
 * and bare LF, whatever the peer sent and however it was cut.
 * - `auth`: are these valid? Accept, or refuse (535, or 454 when that cannot be known now).
 * - `pause`: the peer makes many errors. Accept when it has waited long enough.
 */
export type Question =
  | { readonly kind: 'mail'; readonly path: ReversePath }
  | { readonly kind: 'rcpt'; readonly path: ForwardPath; readonly reversePath: ReversePath }
  | { readonly kind: 'begin'; readonly envelope: TakenEnvelope; readonly declaredBytes: number | null }
  | {
      readonly kind: 'message';
      readonly envelope: TakenEnvelope;
      readonly sizeBytes: number;
      /** Whether some line may begin with a dot. */
      readonly dotStuffing: boolean;
    }
  | { readonly kind: 'auth'; readonly credentials: Credentials }
  | { readonly kind: 'pause'; readonly errors: number };

/** Why a session ended. */
export type CloseReason =
  | 'quit'
  | 'early_talk'
  | 'http_after_greeting'
  | 'malformed_end'
  | 'unreadable_chunk'
  | 'too_many_errors'
  | 'too_many_commands'
  | 'too_many_transactions'
  | 'too_much_input'
  | 'time_out'
  | 'shutdown'
  | 'refused';

/** Why a message was refused for its content, or because its rest did not arrive. */
export type ContentReason = ContentFault | 'message_too_large' | 'time_out';

/**
 * What to do, in this order.
 * - `send`: write the text (ASCII).
 * - `content`: a piece of the message, a view of the input; never empty.
 * - `discard`: the transaction ends without a message: drop its envelope and its content. Comes once for each accepted
 * MAIL that leads to no `message`, as soon as that is known, except when the session closes.
 * - `denied`: the client was refused for lack of TLS or AUTH, which the owner may count.
 * - `refused`: a message was refused for that reason, or for its SIZE, without asking the owner.
 * - `start_tls`: drop what the socket has buffered, do the handshake, then call `secured`.
 * - `http`: the peer sent HTTP before the greeting. Answer 404 as HTTP and close.
 * - `close`: end the connection after everything sent before has left. Always the last, like `http`.
 */
export type Effect =
  | Question
  | { readonly kind: 'send'; readonly text: string }
  | { readonly kind: 'content'; readonly bytes: Buffer }
  | { readonly kind: 'discard' }
  | { readonly kind: 'denied'; readonly reason: 'tls_required' | 'auth_required' }
  | { readonly kind: 'refused'; readonly reason: ContentReason; readonly reply: SessionReply }
  | { readonly kind: 'start_tls' }
  | { readonly kind: 'http'; readonly isHead: boolean }
  | { readonly kind: 'close'; readonly reason: CloseReason };

/** Options of a session. Read at every use, so that limits may change meanwhile. */
export interface ReceiverOptions {
  /** In the greeting and in the reply to EHLO. */
  readonly hostname: string;
  /** Offer STARTTLS while the connection is not secure. */
  readonly startTls: boolean;
  /** Refuse mail and AUTH with 530 while the connection is not secure. */
  readonly requireTls: boolean;
  /** `secure`: offered over TLS only, and 538 before. */
  readonly auth: 'secure' | 'always';
  /** MAIL gets 530 until AUTH has succeeded. */
  readonly requireAuth: boolean;
  /** Accept local parts that can only be written as quoted strings. */
  readonly quotedLocalParts: boolean;
  /** What to do with faulty content. */
  readonly content: ContentRules;
  /** Bytes of a message, without dot-stuffing; announced as SIZE. */
  readonly maxMessageBytes: number;
  /** Accepted recipients of one message (452 beyond), announced as RCPTMAX. At least 100 by RFC 5321 §4.5.3.1.8. */
  readonly maxRecipients: number;
  /** Accepted MAIL commands in one session (421 beyond), announced as MAILMAX. */
  readonly maxTransactions: number;
  /**
   * Commands without a message since the last accepted one (421 beyond): EHLO, HELO, STARTTLS, RSET, NOOP, VRFY, EXPN,
   * HELP, BDAT without a byte, a refused MAIL, and everything else refused by a 4xx except a message; RCPTs beyond
   * `maxRecipients` count only when they are very many.
   */
  readonly maxCommandsWithoutMail: number;
  /** 5xx replies without an accepted message; each further one is followed by a `pause`. */
  readonly softErrors: number;
  /** 5xx replies after which the session ends with 421. */
  readonly hardErrors: number;
  /** Refused AUTHs after which the session ends with 421. */
  readonly maxAuthFailures: number;
  /** Bytes that may wait while a question is open. More end the session. */
  readonly maxWaitingBytes: number;
}
