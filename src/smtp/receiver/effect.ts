/** What a {@link Receiver} tells its owner to do, and what it asks. */
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

/** The envelope as it was taken: everything the owner has accepted, in order, repeats included. */
export interface TakenEnvelope {
  readonly reversePath: ReversePath;
  readonly forwardPaths: readonly ForwardPath[];
}

/**
 * Asks for `accept` or `refuse`. Until then nothing further is read.
 * - `mail`, `rcpt`: may this path come in? Refused with any 4xx or 5xx.
 * - `begin`: may content come in now? Comes before the 354, or before the first chunk is read; the owner may wait
 *   until there is memory. `declaredBytes` is what SIZE said.
 * - `message`: the content is complete; accept it (with the text of the 250), or refuse it. Accepting means that it
 *   is durable. What came as `content` since `begin` is the message: CRLF lines, ended by CRLF, not dot-stuffed,
 *   without NUL, bare CR and bare LF, whatever the peer sent and however it was cut.
 * - `auth`: are these good? Accept, or refuse (535, or 454 when it cannot be known now).
 * - `pause`: the peer errs a lot. Accept when it has waited long enough.
 */
export type Question =
  | { readonly kind: 'mail'; readonly path: ReversePath }
  | { readonly kind: 'rcpt'; readonly path: ForwardPath; readonly reversePath: ReversePath }
  | { readonly kind: 'begin'; readonly envelope: TakenEnvelope; readonly declaredBytes: number | null }
  | {
      readonly kind: 'message';
      readonly envelope: TakenEnvelope;
      readonly sizeBytes: number;
      /** Some line may begin with a dot; none does when false. */
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

/** Why a message was refused for what it is, or because the rest of it did not come. */
export type ContentReason = ContentFault | 'message_too_large' | 'time_out';

/**
 * What to do, in this order.
 * - `send`: write the text (ASCII).
 * - `content`: a piece of the message, a view of what came in; never empty.
 * - `discard`: the transaction ends without a message: forget its envelope and its content. Comes once for each
 *   accepted MAIL that gets to no `message`, as soon as this is known, save when the session closes.
 * - `denied`: the client was refused for want of TLS or of AUTH, which the owner may count.
 * - `refused`: a message was refused for that, or for its SIZE, without asking the owner.
 * - `start_tls`: drop what the socket has buffered, do the handshake, then call `secured`.
 * - `http`: HTTP was spoken before the greeting. Answer 404 as HTTP and close.
 * - `close`: end the connection when what was sent before is out. Always the last, like `http`.
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

/** How a session is to be held. Read at every use, so that limits may change while it goes on. */
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
  /** Take local parts that can only be written as quoted strings. */
  readonly quotedLocalParts: boolean;
  /** What is done with content that is not as it should be. */
  readonly content: ContentRules;
  /** Bytes of a message, without dot-stuffing; told as SIZE. */
  readonly maxMessageBytes: number;
  /** Accepted recipients of one message (452 beyond), told as RCPTMAX. At least 100 by RFC 5321 §4.5.3.1.8. */
  readonly maxRecipients: number;
  /** Accepted MAIL commands in one session (421 beyond), told as MAILMAX. */
  readonly maxTransactions: number;
  /**
   * Commands that lead to no message, since the last message that was accepted (421 beyond): EHLO, HELO, STARTTLS,
   * RSET, NOOP, VRFY, EXPN, HELP, BDAT without a byte, a refused MAIL, and everything else that is refused by a 4xx but
   * a message; RCPTs beyond `maxRecipients` only where they are very many.
   */
  readonly maxCommandsWithoutMail: number;
  /** After this many 5xx replies without a message accepted each further one is followed by a `pause`. */
  readonly softErrors: number;
  /** After this many the session ends with 421. */
  readonly hardErrors: number;
  /** Refused AUTHs after which the session ends with 421. */
  readonly maxAuthFailures: number;
  /** Bytes that may wait while a question is open. More than this ends the session. */
  readonly maxWaitingBytes: number;
}
