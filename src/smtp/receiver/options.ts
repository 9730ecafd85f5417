import type { ContentRules } from './content-scanner.ts';

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
